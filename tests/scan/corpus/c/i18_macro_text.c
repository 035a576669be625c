#define HELP "system(1) starts it, popen(x) reads it"
#define WARN(x) fputs("never call system(x) here", x)
#define FILE_SYSTEM(x) file_system(x)
int file_system(int x)
{
	return FILE_SYSTEM(x);
}

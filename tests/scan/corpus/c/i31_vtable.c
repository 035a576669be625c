struct stream { int (*open)(const char *); int (*connect)(int); int (*exec)(void); };
static int own_open(const char *p) { return p[0]; }
static int own_connect(int x) { return x; }
static int own_exec(void) { return 0; }
static const struct stream s = { .open = own_open, .connect = own_connect, .exec = own_exec };
int main(void)
{
	return s.open("a") + s.connect(1) + s.exec();
}

/* system("ls") is what this does not call; nor popen(), execve() or dlopen(). */
int main(void)
{
	return 0; // fork() bombs are not our thing
}

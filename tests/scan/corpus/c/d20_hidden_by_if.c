#if 0
int system(const char *line)
{
	return line[0];
}
#endif
int main(void)
{
	return system("id"); // FIND: c.process
}

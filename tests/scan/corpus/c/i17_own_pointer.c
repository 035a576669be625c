static char *system(char *name)
{
	return name + 1;
}
char *second(char *name)
{
	return system(name);
}

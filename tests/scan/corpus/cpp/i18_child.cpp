struct child { explicit child(const char *name); };
int grow()
{
	child one("ann");
	return sizeof(one);
}

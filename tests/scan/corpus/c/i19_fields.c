struct shell { int (*popen)(int); int fork; };
#define FORKS(s) ((s)->fork + 1)
int count(struct shell *s)
{
	return s->popen(FORKS(s));
}

#include <cstring>
void name(char *to, const char *from)
{
	std::strcpy(to, from); // FIND: c.pointer
	strcat(to, ".txt"); // FIND: c.pointer
}

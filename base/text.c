#include "base/text.h"

#include <string.h>

static const char gap[] = "...";
enum { GAP = sizeof(gap) - 1 };

/* Whether the byte goes on with a character that began before. */
static int goes_on(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

void text_fit(char *to, size_t size, const char *text)
{
	const size_t len = strlen(text);
	if (len < size) {
		memcpy(to, text, len + 1);
		return;
	}
	size_t head = (size - 1 - GAP) / 2;
	const char *tail = text + len - (size - 1 - GAP - head);
	for (int i = 0; i < 3 && head > 0 && goes_on(text[head]); i++)
		head--;
	for (int i = 0; i < 3 && goes_on(*tail); i++)
		tail++;
	memcpy(to, text, head);
	memcpy(to + head, gap, GAP);
	memcpy(to + head + GAP, tail, (size_t)(text + len - tail) + 1);
}

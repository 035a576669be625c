#include "pipeline/scan/kind.h"

#include "pipeline/scan/reader.h"
#include "pipeline/scan/recipe.h"

#include <string.h>
#include <strings.h>

static bool begins(const char *head, size_t len, const char *magic, size_t size)
{
	return len >= size && memcmp(head, magic, size) == 0;
}
#define BEGINS(magic) begins(head, len, magic, sizeof(magic) - 1)

static bool is_archive(const char *head, size_t len)
{
	static const char tar[] = "ustar";
	return BEGINS("PK\003\004") || BEGINS("PK\005\006") || BEGINS("\037\213") || BEGINS("BZh") ||
	       BEGINS("\3757zXZ\0") || BEGINS("\050\265\057\375") || BEGINS("7z\274\257\047\034") ||
	       BEGINS("!<arch>\n") || (len >= 262 && memcmp(head + 257, tar, 5) == 0);
}

/* "MZ", and where it says that the header is there is "PE", as far as that can be seen. */
static bool is_windows(const char *head, size_t len)
{
	uint32_t at;
	if (len < 64 || !BEGINS("MZ"))
		return false;
	memcpy(&at, head + 60, sizeof(at));
	return at > len - 4 ? at < (1 << 20) : memcmp(head + at, "PE\0\0", 4) == 0;
}

static bool is_foreign(const char *head, size_t len)
{
	return is_windows(head, len) || BEGINS("\xfe\xed\xfa\xce") || BEGINS("\xfe\xed\xfa\xcf") ||
	       BEGINS("\xce\xfa\xed\xfe") || BEGINS("\xcf\xfa\xed\xfe") || BEGINS("\0asm") ||
	       BEGINS("dex\n");
}

static bool named(const char *name, const char *extension)
{
	const char *dot = strrchr(name, '.');
	return dot && strcasecmp(dot + 1, extension) == 0;
}

static bool is_text(const char *head, size_t len)
{
	size_t odd = 0;
	for (size_t i = 0; i < len; i++) {
		const unsigned char c = (unsigned char)head[i];
		if (c == 0)
			return false;
		odd += c < 0x20 && !strchr("\t\n\r\f\033", c);
	}
	return odd <= len / 50;
}

struct kind kind_of(const char *name, const char *head, size_t len)
{
	if (BEGINS("\177ELF"))
		return (struct kind){KIND_ELF, LANGUAGE_NONE, ARCHIVE_BYTES_MAX};
	if (named(name, "pyc") || named(name, "pyo") || named(name, "class") ||
	    BEGINS("\xca\xfe\xba\xbe"))
		return (struct kind){KIND_BYTECODE, LANGUAGE_NONE, ARCHIVE_BYTES_MAX};
	if (is_foreign(head, len))
		return (struct kind){KIND_BINARY, LANGUAGE_NONE, ARCHIVE_BYTES_MAX};
	if (named(name, "ipynb"))
		return (struct kind){KIND_NOTEBOOK, LANGUAGE_NONE, 4 * (size_t)SOURCE_BYTES_MAX};
	/* A name of source code wins over what the bytes look like: who runs it goes by the name. */
	const bool recipe = recipe_of(name) != RECIPE_NONE && !is_archive(head, len);
	const enum language l = language_of(name, head, recipe ? 0 : len);
	if (l != LANGUAGE_NONE)
		return (struct kind){KIND_SOURCE, l, SOURCE_BYTES_MAX};
	if (recipe)
		return (struct kind){KIND_RECIPE, LANGUAGE_NONE, SOURCE_BYTES_MAX};
	if (is_archive(head, len))
		return (struct kind){KIND_ARCHIVE, LANGUAGE_NONE, ARCHIVE_BYTES_MAX};
	if (is_text(head, len) || hooks_named(name))
		return (struct kind){KIND_TEXT, LANGUAGE_NONE, TEXT_BYTES_MAX};
	return (struct kind){KIND_OTHER, LANGUAGE_NONE, 0};
}

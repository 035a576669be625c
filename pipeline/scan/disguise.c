/* Source that is one thing to who looks at it, and to the parser here, and another to what compiles or
 * runs it: by its encoding, by where a line ends, by the order or the form of characters. What is
 * hidden like that was not looked at, so that finding it is not less than a file that cannot be read. */
#include "pipeline/scan/reader.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

struct text {
	const char *at, *end;
};

/* ---- encodings ---- */

/* Encodings in which each byte below 128 is what it is in ASCII, so that no code can be hidden. */
static bool is_plain_encoding(const char *name, size_t len)
{
	static const char *const whole[] = {"utf-8",   "utf8",	 "ascii",  "us-ascii",
					    "latin-1", "latin1", "euc-jp", "euc-kr"};
	static const char *const prefixes[] = {"utf-8-", "iso-8859-",	"iso8859-",
					       "cp125",	 "windows-125", "koi8-"};
	char plain[32] = "";
	if (len >= sizeof(plain))
		return false;
	for (size_t i = 0; i < len; i++)
		plain[i] = name[i] == '_' ? '-' : (char)tolower((unsigned char)name[i]);
	for (size_t i = 0; i < sizeof(whole) / sizeof(*whole); i++)
		if (strcmp(plain, whole[i]) == 0)
			return true;
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
		if (strncmp(plain, prefixes[i], strlen(prefixes[i])) == 0)
			return true;
	return false;
}

static bool in_name(char c)
{
	return isalnum((unsigned char)c) || c == '-' || c == '_' || c == '.';
}

/* PEP 263: a comment in one of the first two lines, "coding:" or "coding=", and a name. */
static bool other_encoding(struct text t, struct place *at)
{
	const char *line = t.at;
	for (int i = 0; i < 2 && line < t.end; i++) {
		const char *stop = line;
		while (stop < t.end && *stop != '\n' && *stop != '\r')
			stop++;
		const char *comment = memchr(line, '#', (size_t)(stop - line));
		for (const char *c = comment; c && stop - c > 7; c++) {
			if (memcmp(c, "coding", 6) != 0 || (c[6] != ':' && c[6] != '='))
				continue;
			const char *name = c + 7;
			while (name < stop && (*name == ' ' || *name == '\t'))
				name++;
			const char *end = name;
			while (end < stop && in_name(*end))
				end++;
			*at = (struct place){(size_t)(name - t.at), (size_t)(end - t.at)};
			return end > name && !is_plain_encoding(name, (size_t)(end - name));
		}
		line = stop + (stop + 1 < t.end && stop[0] == '\r' && stop[1] == '\n' ? 2 : 1);
	}
	return false;
}

/* ---- ends of lines ---- */

/* Bytes of an end of a line here that is none to the grammar; 0: there is none. */
static size_t odd_end(enum language l, const char *c, const char *end)
{
	if (*c == '\r')
		return c + 1 < end && c[1] != '\n' && c[1] != '\r';
	if (l != LANGUAGE_CSHARP)
		return 0;
	if (end - c > 2 && (memcmp(c, "\xe2\x80\xa8", 3) == 0 || memcmp(c, "\xe2\x80\xa9", 3) == 0))
		return 3;
	return end - c > 1 && memcmp(c, "\xc2\x85", 2) == 0 ? 2 : 0;
}

/* A comment that is over before its line is: what follows is code. */
static bool short_comment(enum language l, struct text t, struct place *at)
{
	const char *mark = l == LANGUAGE_PYTHON ? "#" : "//";
	const char *line = t.at;
	if (l == LANGUAGE_C || l == LANGUAGE_CPP || l == LANGUAGE_SHELL)
		return false;
	for (const char *c = t.at; c < t.end; c++) {
		const size_t len = odd_end(l, c, t.end);
		if (len > 0 && memmem(line, (size_t)(c - line), mark, strlen(mark))) {
			const char *rest = c + len;
			while (rest < t.end && (*rest == ' ' || *rest == '\t' || *rest == '\r'))
				rest++;
			*at = (struct place){(size_t)(rest - t.at), (size_t)(rest - t.at) + 1};
			if (rest < t.end && *rest != '\n' && strncmp(rest, mark, strlen(mark)) != 0)
				return true;
		}
		if (*c == '\n' || len > 0)
			line = c + 1;
	}
	return false;
}

/* ---- characters ---- */

/* Those that change the order in which others are shown (U+202A to U+202E, U+2066 to U+2069). */
static bool reordered(struct text t, struct place *at)
{
	const char *c = t.at;
	while ((c = memmem(c, (size_t)(t.end - c), "\xe2", 1)) && t.end - c > 2) {
		const unsigned char second = (unsigned char)c[1], third = (unsigned char)c[2];
		*at = (struct place){(size_t)(c - t.at), (size_t)(c - t.at) + 3};
		if ((second == 0x80 && third >= 0xaa && third <= 0xae) ||
		    (second == 0x81 && third >= 0xa6 && third <= 0xa9))
			return true;
		c++;
	}
	return false;
}

static const char *type_around(const TSTreeCursor *c)
{
	TSTreeCursor up = ts_tree_cursor_copy(c);
	ts_tree_cursor_goto_parent(&up);
	const char *type = ts_node_type(ts_tree_cursor_current_node(&up));
	ts_tree_cursor_delete(&up);
	return type;
}

/* The type of the innermost node that has that byte. Bytes are asked for in ascending order, so
 * that however many there are, the tree is walked once. */
static const char *type_at(TSTreeCursor *c, size_t at)
{
	for (;;) {
		const TSNode node = ts_tree_cursor_current_node(c);
		if (ts_node_start_byte(node) > at)
			return type_around(c);
		if (ts_node_end_byte(node) > at) {
			if (!ts_tree_cursor_goto_first_child(c))
				return ts_node_type(node);
			continue;
		}
		if (ts_tree_cursor_goto_next_sibling(c))
			continue;
		const bool whole = !ts_tree_cursor_goto_parent(c);
		const TSNode around = ts_tree_cursor_current_node(c);
		if (whole || ts_node_end_byte(around) > at)
			return ts_node_type(around);
	}
}

static bool is_name(TSTreeCursor *tree, size_t at)
{
	const char *type = type_at(tree, at);
	return strstr(type, "identifier") || strcmp(type, "ERROR") == 0;
}

/* The character at c, and its length; 0: it is ASCII, or none. */
static uint32_t character(const char *c, const char *end, size_t *len)
{
	const unsigned char first = (unsigned char)*c;
	*len = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
	if (*len == 1 || (size_t)(end - c) < *len)
		return 0;
	uint32_t value = first & (0xffU >> (*len + 1));
	for (size_t i = 1; i < *len; i++)
		value = value << 6 | ((unsigned char)c[i] & 0x3f);
	return value;
}

/* Letters and digits that Python takes for those of ASCII, or for several of them (NFKC). */
static bool is_other_form(uint32_t c)
{
	static const uint32_t ranges[][2] = {
		{0xaa, 0xaa},	    {0xba, 0xba},     {0x132, 0x133},	{0x149, 0x149},
		{0x17f, 0x17f},	    {0x1c7, 0x1cc},   {0x1f1, 0x1f3},	{0x2b0, 0x2b8},
		{0x2e0, 0x2e4},	    {0x1d2c, 0x1d6a}, {0x2070, 0x209c}, {0x2100, 0x214f},
		{0x2160, 0x2188},   {0xfb00, 0xfb06}, {0xfe33, 0xfe4f}, {0xff10, 0xff5a},
		{0x1d400, 0x1d7ff},
	};
	for (size_t i = 0; i < sizeof(ranges) / sizeof(*ranges); i++)
		if (c >= ranges[i][0] && c <= ranges[i][1])
			return true;
	return false;
}

static bool other_form(struct text t, TSTreeCursor *tree, struct place *at)
{
	size_t len;
	for (const char *c = t.at; c < t.end; c += len) {
		const uint32_t value = character(c, t.end, &len);
		*at = (struct place){(size_t)(c - t.at), (size_t)(c - t.at) + len};
		if (value && is_other_form(value) && is_name(tree, at->from))
			return true;
	}
	return false;
}

/* What \uXXXX at c stands for, and where it ends; 0: it is no such thing. */
static uint32_t escaped(const char *c, const char *end, const char **stop)
{
	uint32_t value = 0;
	const char *digit = c + 1;
	while (digit < end && *digit == 'u')
		digit++;
	if (digit == c + 1 || end - digit < 4)
		return 0;
	for (int i = 0; i < 4; i++, digit++) {
		if (!isxdigit((unsigned char)*digit))
			return 0;
		value = value << 4 |
			(uint32_t)(isdigit((unsigned char)*digit) ? *digit - '0'
								  : (*digit | 32) - 'a' + 10);
	}
	*stop = digit;
	return value;
}

/* Java reads \uXXXX before anything else, comments too; others take it for a letter of a name. */
static bool escaped_code(enum language l, struct text t, TSTreeCursor *tree, struct place *at)
{
	const char *stop = NULL;
	for (const char *c = t.at; (c = memchr(c, '\\', (size_t)(t.end - c))); c++) {
		const uint32_t value = escaped(c, t.end, &stop);
		*at = (struct place){(size_t)(c - t.at), value ? (size_t)(stop - t.at) : 0};
		if (l == LANGUAGE_JAVA && value < 0x80 &&
		    (isalpha((int)value) || (value && strchr("\n\r*/;(){}=.", (int)value))))
			return true;
		if (l != LANGUAGE_JAVA && value && is_name(tree, at->from))
			return true;
		if (t.end - c < 2)
			break;
		if (c[1] == '\\')
			c++;
	}
	return false;
}

/* C takes the two lines for one, be it within a name. */
static bool broken_name(struct text t, TSTreeCursor *tree, struct place *at)
{
	for (const char *c = t.at; (c = memchr(c, '\n', (size_t)(t.end - c))); c++) {
		const size_t before = (size_t)(c - t.at);
		const size_t mark = before >= 1 && c[-1] == '\\'		    ? 1
				    : before >= 3 && memcmp(c - 3, "\?\?/", 3) == 0 ? 3
										    : 0;
		if (mark == 0 || before == mark || c + 1 >= t.end ||
		    !in_name(c[-1 - (ptrdiff_t)mark]) || !in_name(c[1]))
			continue;
		*at = (struct place){before - mark, before};
		const char *type = type_at(tree, at->from);
		if (!strstr(type, "string") && !strstr(type, "comment") &&
		    !strstr(type, "preproc") && !strstr(type, "escape"))
			return true;
	}
	return false;
}

/* A shell drops it, others stop at it or take it for a blank: what is around it is another word than it is here. */
static bool zero_byte(struct text t, struct place *at)
{
	const char *zero = memchr(t.at, '\0', (size_t)(t.end - t.at));
	if (zero)
		*at = (struct place){(size_t)(zero - t.at), (size_t)(zero - t.at) + 1};
	return zero != NULL;
}

/* ---- all of them ---- */

void disguise_read(struct reader *r, const struct unit *u, enum language l, TSNode root)
{
	const struct text t = {u->text, u->text + u->len};
	const bool c = l == LANGUAGE_C || l == LANGUAGE_CPP, python = l == LANGUAGE_PYTHON;
	struct place at;
	TSTreeCursor tree = ts_tree_cursor_new(root);
	if (python && other_encoding(t, &at))
		reader_tell(r, RULE_DISGUISED, u, at,
			    "an encoding in which code looks like something else");
	if (short_comment(l, t, &at))
		reader_tell(r, RULE_DISGUISED, u, at, "a comment ends before its line does");
	if (zero_byte(t, &at))
		reader_tell(r, RULE_DISGUISED, u, at, "a NUL, which who runs it drops or stops at");
	if (reordered(t, &at))
		reader_tell(r, RULE_DISGUISED, u, at, "characters that change the order of others");
	if (python && other_form(t, &tree, &at))
		reader_tell(r, RULE_DISGUISED, u, at, "a name in letters that stand for others");
	if (!python && !c && l != LANGUAGE_SHELL && escaped_code(l, t, &tree, &at))
		reader_tell(r, RULE_DISGUISED, u, at, "code that is written as escapes");
	if (c && broken_name(t, &tree, &at))
		reader_tell(r, RULE_DISGUISED, u, at, "a name in two lines");
	ts_tree_cursor_delete(&tree);
}

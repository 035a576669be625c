#include "pipeline/scan/literal.h"

#include <string.h>

enum { BLOB_MIN = 200 };

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static int hex(char c)
{
	if (is_digit(c))
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Behind the prefix (r, b, f, u, L, $, @) and the quotes, of which there may be three or more. */
static struct span strip(struct span t)
{
	size_t start = 0, quotes = 0;
	while (start < t.len && start < 4 &&
	       (is_letter(t.at[start]) || t.at[start] == '$' || t.at[start] == '@' ||
		t.at[start] == '8'))
		start++;
	if (start >= t.len || !strchr("\"'`<", t.at[start]))
		return t;
	const char quote = t.at[start], close = quote == '<' ? '>' : quote;
	while (start + quotes < t.len && t.at[start + quotes] == quote)
		quotes++;
	quotes = quotes >= 3 ? quotes : 1;
	t.at += start + quotes;
	t.len -= start + quotes;
	for (; quotes > 0 && t.len > 0 && t.at[t.len - 1] == close; quotes--)
		t.len--;
	return t;
}

size_t literal_escape(struct span t, size_t i, int *value)
{
	static const char kinds[] = "xuU";
	const char *kind = i + 1 < t.len ? strchr(kinds, t.at[i + 1]) : NULL;
	size_t len = 0;
	int number = 0;
	if (kind && *kind) {
		const size_t digits = *kind == 'x' ? 2 : *kind == 'u' ? 4 : 8;
		for (; len < digits && i + 2 + len < t.len && hex(t.at[i + 2 + len]) >= 0; len++)
			number = number < 256 ? number * 16 + hex(t.at[i + 2 + len]) : 256;
		len = len == digits ? len + 2 : 0;
	} else {
		for (; len < 3 && i + 1 + len < t.len && hex(t.at[i + 1 + len]) >= 0 &&
		       hex(t.at[i + 1 + len]) < 8;
		     len++)
			number = number * 8 + hex(t.at[i + 1 + len]);
		len = len > 0 ? len + 1 : 0;
	}
	*value = number;
	return number > 0 && number < 128 ? len : 0;
}

size_t literal_read(struct span text, char *to, size_t size)
{
	const struct span t = strip(text);
	size_t used = 0;
	for (size_t i = 0; i < t.len && used + 1 < size;) {
		int value;
		const size_t len = t.at[i] == '\\' ? literal_escape(t, i, &value) : 0;
		to[used++] = len > 0 ? (char)value : t.at[i];
		i += len > 0 ? len : 1;
	}
	to[used] = '\0';
	return used;
}

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* How far up a relative path leads at its worst. */
static bool leads_up(const char *path)
{
	int depth = 0;
	while (*path) {
		const size_t len = strcspn(path, "/\\");
		if (len == 2 && path[0] == '.' && path[1] == '.')
			depth--;
		else if (len > 0 && !(len == 1 && path[0] == '.'))
			depth++;
		if (depth < 0)
			return true;
		path += len + (path[len] != '\0');
	}
	return false;
}

bool literal_outside(const char *path)
{
	static const char *const harmless[] = {"/tmp/",	      "/scratch/",  "/var/tmp/",
					       "/dev/null",   "/dev/stdin", "/dev/stdout",
					       "/dev/stderr", "/dev/tty",   "/dev/urandom",
					       "/dev/random", "/dev/zero",  "/dev/fd/"};
	if (begins(path, "//") || begins(path, "/*"))
		return false;
	if (path[0] == '/') {
		if (path[1] == '\0' || path[1] == ' ')
			return false;
		for (size_t i = 0; i < sizeof(harmless) / sizeof(*harmless); i++)
			if (begins(path, harmless[i]))
				return leads_up(path + strlen(harmless[i]));
		return strcmp(path, "/tmp") != 0 && strcmp(path, "/scratch") != 0;
	}
	if (path[0] == '~' && (path[1] == '/' || path[1] == '\0'))
		return true;
	if (is_letter(path[0]) && path[1] == ':' && (path[2] == '\\' || path[2] == '/'))
		return true;
	return leads_up(path) && strchr(path, '/');
}

static size_t host_length(struct span t)
{
	size_t len = 0;
	while (len < t.len && (is_letter(t.at[len]) || is_digit(t.at[len]) || t.at[len] == '.' ||
			       t.at[len] == '-' || t.at[len] == '_'))
		len++;
	return len;
}

static bool take_host(struct span t, char *to, size_t size)
{
	if (t.len > 2 && t.at[0] == '[') {
		const char *close = memchr(t.at, ']', t.len);
		t = (struct span){t.at + 1, close ? (size_t)(close - t.at) - 1 : 0};
		if (t.len == 0 || t.len >= size)
			return false;
		memcpy(to, t.at, t.len);
		to[t.len] = '\0';
		return true;
	}
	size_t len = host_length(t);
	while (len > 0 && strchr(".-", t.at[len - 1]))
		len--;
	if (len == 0 || len >= size || t.at[0] == '.' || t.at[0] == '-')
		return false;
	memcpy(to, t.at, len);
	to[len] = '\0';
	return true;
}

/* "example.org", "127.0.0.1": a dot in the middle and no other byte than a host has. */
static bool whole_host(struct span t, char *to, size_t size)
{
	const struct span s = strip(t);
	const char *dot = memchr(s.at, '.', s.len);
	if (!dot || dot == s.at || host_length(s) != s.len || memchr(s.at, '_', s.len) ||
	    s.at[s.len - 1] == '.')
		return false;
	return take_host(s, to, size);
}

bool literal_host(struct span text, bool whole, char *to, size_t size)
{
	struct span t = text;
	while (t.len > 3) {
		const char *mark = memmem(t.at, t.len, "://", 3);
		if (!mark)
			break;
		const char *from = mark + 3, *end = text.at + text.len;
		const bool named = mark > text.at && is_letter(mark[-1]);
		size_t len = 0;
		while (from + len < end && !strchr("/\"'` \t\n?#", from[len]))
			len++;
		/* "user:secret@host" */
		const char *at = memrchr(from, '@', len);
		const char *host = at ? at + 1 : from;
		if (named && take_host((struct span){host, len - (size_t)(host - from)}, to, size))
			return true;
		t = (struct span){from, (size_t)(end - from)};
	}
	return whole && whole_host(text, to, size);
}

bool literal_blob(struct span text)
{
	const struct span t = strip(text);
	size_t escapes = 0, digits = 0, upper = 0, lower = 0;
	if (t.len < BLOB_MIN)
		return false;
	for (size_t i = 0; i < t.len; i++) {
		const char c = t.at[i];
		if (!is_letter(c) && !is_digit(c) && !strchr("+/=_-\\\n", c))
			return false;
		/* Base64 of an image is no program. */
		escapes += c == '\\';
		digits += is_digit(c);
		upper += c >= 'A' && c <= 'Z';
		lower += c >= 'a' && c <= 'z';
	}
	if (escapes > t.len / 8)
		return true;
	if (digits + lower == t.len || digits + upper == t.len)
		return digits > t.len / 8;
	return digits > 0 && upper > t.len / 16 && lower > t.len / 16;
}

#include "pipeline/scan/spelled.h"

#include <ctype.h>
#include <string.h>

bool spelled_put(struct spelled *s, const char *text, size_t len)
{
	if (len >= s->size - s->used)
		return false;
	memcpy(s->to + s->used, text, len);
	s->used += len;
	s->to[s->used] = '\0';
	return true;
}

/* "\\u0065" and "\\u{65}" in a name are letters (ECMAScript, C#, Java). 0: it is none, of ASCII. */
static size_t escaped_letter(struct span t, char *to)
{
	unsigned number = 0, len = 2;
	const bool braces = t.len > 3 && t.at[2] == '{';
	if (t.len < 4 || t.at[0] != '\\' || t.at[1] != 'u')
		return 0;
	for (len += braces; len < t.len && len < 10 && isxdigit((unsigned char)t.at[len]); len++) {
		const char c = t.at[len];
		if (!braces && len == 6)
			break;
		number = number * 16 +
			 (unsigned)(isdigit((unsigned char)c) ? c - '0' : (c | 0x20) - 'a' + 10);
	}
	*to = (char)number;
	return isalnum((int)number & 0xff) && number < 128 ? len + braces : 0;
}

/* Letters that Python takes for those of ASCII (NFKC): fullwidth ones, and mathematical ones, which
 * are thirteen alphabets of 52. */
static size_t folded_letter(struct span t, char *to)
{
	const unsigned char *c = (const unsigned char *)t.at;
	if (t.len >= 3 && c[0] == 0xef && (c[1] == 0xbc || c[1] == 0xbd)) {
		const unsigned number = (c[1] & 0x3fU) << 6 | (c[2] & 0x3fU);
		*to = (char)(number - 0xf01 + 0x21);
		return number >= 0xf01 && number <= 0xf5e && isalnum(*to) ? 3 : 0;
	}
	if (t.len >= 4 && c[0] == 0xf0 && c[1] == 0x9d && c[2] >= 0x90) {
		const unsigned number = ((c[2] & 0x3fU) << 6 | (c[3] & 0x3fU)) - 0x400;
		const unsigned letter = number % 52;
		*to = (char)(letter < 26 ? 'A' + letter : 'a' + letter - 26);
		return number < 13 * 52 ? 4 : 0;
	}
	return 0;
}

bool spelled_put_name(struct spelled *s, struct span t)
{
	static const char top[] = "global::";
	bool ok = true;
	if (t.len > sizeof(top) && memcmp(t.at, top, sizeof(top) - 1) == 0)
		t = (struct span){t.at + sizeof(top) - 1, t.len - (sizeof(top) - 1)};
	for (size_t step = 1; t.len > 0 && ok; t = (struct span){t.at + step, t.len - step}) {
		char letter;
		size_t other = escaped_letter(t, &letter);
		other = other ? other : folded_letter(t, &letter);
		const bool two = t.len > 1 &&
				 (memcmp(t.at, "::", 2) == 0 || memcmp(t.at, "->", 2) == 0);
		step = other ? other : 1 + (size_t)two;
		if (other)
			ok = spelled_put(s, &letter, 1);
		else if (two)
			ok = s->used == 0 || spelled_put(s, ".", 1);
		else if (!strchr(" \t\r\n\\", *t.at) || !*t.at)
			ok = spelled_put(s, t.at, 1);
	}
	return ok;
}

/* The text of $'x' at t.at[i], with its escapes read; where it ends. */
static size_t put_escaped(struct spelled *s, struct span t, size_t i, bool *ok)
{
	for (i += 2; i < t.len && t.at[i] != '\'' && *ok;) {
		int value = 0;
		const size_t len = t.at[i] == '\\' ? literal_escape(t, i, &value) : 0;
		const char letter = (char)value;
		if (len > 0 || t.at[i] != '\\')
			*ok = spelled_put(s, len > 0 ? &letter : t.at + i, 1);
		i += len > 0 ? len : 1;
	}
	return i;
}

/* $"x" is quoted too. */
bool spelled_put_word(struct spelled *s, struct span t)
{
	bool ok = true, twice = false;
	for (size_t i = 0; i < t.len && ok; i++) {
		const char next = i + 1 < t.len ? t.at[i + 1] : '\0';
		twice ^= t.at[i] == '"';
		if (t.at[i] == '$' && next == '\'' && !twice)
			i = put_escaped(s, t, i, &ok);
		else if (!(t.at[i] == '$' && next == '"' && !twice) &&
			 (!strchr("\"'\\{}", t.at[i]) || !t.at[i]))
			ok = spelled_put(s, t.at + i, 1);
	}
	return ok;
}

void spelled_straighten(char *name)
{
	static const char *const longer[] = {".__dict__", ".__call__"};
	for (size_t i = 0; i < sizeof(longer) / sizeof(*longer); i++) {
		const size_t len = strlen(longer[i]);
		for (char *at = name; (at = strstr(at, longer[i]));)
			if (at[len] == '.' || at[len] == '\0')
				memmove(at, at + len, strlen(at + len) + 1);
			else
				at += len;
	}
}

bool spelled_match(const char *pattern, const char *name)
{
	const char *star = NULL, *again = NULL;
	while (*name) {
		if (*pattern == '*') {
			star = pattern++;
			again = name;
		} else if (*pattern == *name) {
			pattern++;
			name++;
		} else if (star && *again != '(') {
			pattern = star + 1;
			name = ++again;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return *pattern == '\0';
}

#include "spec/name.h"

#include <string.h>

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_hex(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'f');
}

static bool is_letter(char c)
{
	return c >= 'a' && c <= 'z';
}

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

static enum name_fault character_fault(char c)
{
	if ((unsigned char)c <= ' ' || c == 0x7f)
		return NAME_CONTROL;
	if ((unsigned char)c >= 0x80)
		return NAME_NOT_ASCII;
	return is_letter(c) || is_digit(c) || c == '-' || c == '.' ? NAME_GOOD : NAME_CHARACTER;
}

static enum name_fault label_fault(const char *label, size_t len)
{
	if (len == 0)
		return NAME_LABEL_EMPTY;
	if (len > NAME_LABEL_BYTES_MAX)
		return NAME_LABEL_LONG;
	return label[0] == '-' || label[len - 1] == '-' ? NAME_HYPHEN : NAME_GOOD;
}

/* What inet_aton(3) and URL parsers take for a number: digits, or 0x with hexadecimal ones. No
 * top-level domain is one (RFC 3696 2), so that a name that ends in one is an address or a trap. */
static bool is_number(const char *label)
{
	bool hex = label[0] == '0' && label[1] == 'x';
	for (label += hex ? 2 : 0; *label; label++) {
		if (!(hex ? is_hex(*label) : is_digit(*label)))
			return false;
	}
	return true;
}

/* Four decimal numbers up to 255 without leading zeros. */
static bool is_plain_ipv4(const char *text)
{
	unsigned int parts = 0;
	for (;;) {
		unsigned int value = 0;
		size_t digits = 0;
		for (; digits < 4 && is_digit(text[digits]); digits++)
			value = value * 10 + (unsigned int)(text[digits] - '0');
		if (digits == 0 || value > 255 || (digits > 1 && text[0] == '0'))
			return false;
		parts++;
		text += digits;
		if (*text != '.')
			return *text == '\0' && parts == 4;
		text++;
	}
}

static enum name_fault number_fault(const char *name)
{
	const char *dot = strrchr(name, '.');
	if (!is_number(dot ? dot + 1 : name))
		return NAME_GOOD;
	return is_plain_ipv4(name) ? NAME_ADDRESS : NAME_DISGUISED;
}

/* Characters go before lengths: what is no text at all is not "too long". */
enum name_fault name_read(struct name *n, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		enum name_fault f = character_fault(lower(text[i]));
		if (f)
			return f;
	}
	if (len > 0 && text[len - 1] == '.')
		len--;
	if (len == 0)
		return NAME_EMPTY;
	if (len > NAME_BYTES_MAX)
		return NAME_TOO_LONG;
	struct name read = {.len = (unsigned char)len};
	size_t label = 0;
	for (size_t i = 0; i <= len; i++) {
		if (i < len && text[i] != '.') {
			read.text[i] = lower(text[i]);
			continue;
		}
		enum name_fault f = label_fault(text + label, i - label);
		if (f)
			return f;
		read.text[i] = i < len ? '.' : '\0';
		label = i + 1;
	}
	enum name_fault f = number_fault(read.text);
	if (!f)
		*n = read;
	return f;
}

static const char *const texts[NAME_FAULT_COUNT] = {
	[NAME_GOOD] = "nothing is wrong with it",
	[NAME_EMPTY] = "the name is empty",
	[NAME_TOO_LONG] = "the name is longer than 253 bytes",
	[NAME_LABEL_EMPTY] = "a label of the name is empty",
	[NAME_LABEL_LONG] = "a label of the name is longer than 63 bytes",
	[NAME_CONTROL] = "a space or control character is in the name",
	[NAME_NOT_ASCII] = "the name is not ASCII; write its form with xn--",
	[NAME_CHARACTER] = "a host name has letters, digits, hyphens and dots only",
	[NAME_HYPHEN] = "a label of the name begins or ends with a hyphen",
	[NAME_ADDRESS] = "an address is no name",
	[NAME_DISGUISED] = "the name ends in a number, as an address in disguise does",
};

const char *name_fault_text(enum name_fault f)
{
	return (unsigned int)f < NAME_FAULT_COUNT ? texts[f] : "the name is unknown";
}

bool name_equal(const struct name *a, const struct name *b)
{
	return a->len == b->len && memcmp(a->text, b->text, a->len) == 0;
}

/* Bytes of unknown origin in JSON: text where they are text, else base64 with a tag. */
#include "spec/parse.h"
#include "spec/value.h"

#include <stdlib.h>
#include <string.h>

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* RFC 4648 with padding; malloc'ed, NULL when memory is out. */
static char *base64_encode(const unsigned char *in, size_t len)
{
	char *out = malloc((len + 2) / 3 * 4 + 1);
	if (!out)
		return NULL;
	char *to = out;
	for (size_t i = 0; i < len; i += 3) {
		size_t left = len - i;
		unsigned int v = (unsigned int)in[i] << 16;
		v |= left > 1 ? (unsigned int)in[i + 1] << 8 : 0;
		v |= left > 2 ? in[i + 2] : 0;
		*to++ = digits[v >> 18];
		*to++ = digits[v >> 12 & 63];
		*to++ = '=';
		*to++ = '=';
		if (left > 1)
			to[-2] = digits[v >> 6 & 63];
		if (left > 2)
			to[-1] = digits[v & 63];
	}
	*to = '\0';
	return out;
}

/* The value of a digit; -1: none. */
static int base64_digit(char c)
{
	const char *at = c ? strchr(digits, c) : NULL;
	return at ? (int)(at - digits) : -1;
}

/* Strict: whole groups, padding at the end only, no bits left over. NULL if it is not that. */
static char *base64_decode(struct arena *a, const char *in, size_t len)
{
	if (len % 4)
		return NULL;
	char *out = arena_alloc(a, len / 4 * 3 + 1);
	char *to = out;
	for (size_t i = 0; i < len; i += 4) {
		size_t pad = 0;
		if (i + 4 == len)
			pad = (in[i + 3] == '=') + (size_t)(in[i + 3] == '=' && in[i + 2] == '=');
		unsigned int v = 0;
		for (size_t j = 0; j < 4; j++) {
			int d = j >= 4 - pad ? 0 : base64_digit(in[i + j]);
			if (d < 0)
				return NULL;
			v = v << 6 | (unsigned int)d;
		}
		if ((pad == 1 && v & 0xff) || (pad == 2 && v & 0xffff))
			return NULL;
		*to++ = (char)(v >> 16);
		if (pad < 2)
			*to++ = (char)(v >> 8 & 0xff);
		if (pad < 1)
			*to++ = (char)(v & 0xff);
	}
	return memchr(out, '\0', (size_t)(to - out)) ? NULL : out;
}

json_t *json_bytes(const char *text)
{
	json_t *string = json_string(text); /* NULL: not UTF-8 */
	if (string)
		return string;
	char *data = base64_encode((const unsigned char *)text, strlen(text));
	if (!data)
		return NULL;
	json_t *tagged = json_pack("{s:s, s:s}", "encoding", "base64", "data", data);
	free(data);
	return tagged;
}

int json_bytes_read(const json_t *value, struct arena *a, const char **text, struct err *e)
{
	if (json_is_string(value)) {
		/* jansson refused \u0000 when it read the document */
		*text = arena_strndup(a, json_string_value(value), json_string_length(value));
		return 0;
	}
	const char *encoding = json_string_value(json_object_get(value, "encoding"));
	const json_t *data = json_object_get(value, "data");
	if (!encoding || strcmp(encoding, "base64") != 0 || !json_is_string(data) ||
	    json_object_size(value) != 2)
		return err_usage(e, "a string belongs here (or {\"encoding\": \"base64\", \"data\": ...})");
	const char *decoded =
		base64_decode(a, json_string_value(data), json_string_length(data));
	if (!decoded)
		return err_usage(e, "the data are not base64, or hold a NUL");
	*text = decoded;
	return 0;
}

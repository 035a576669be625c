#include "network/egress/retry.h"

#include <string.h>

/* RFC 8446 4, 4.1.3, 5.1, 6. */
enum {
	RECORD_HEADER_BYTES = 5,
	RECORD_CIPHER_SPEC = 20,
	RECORD_ALERT = 21,
	RECORD_HANDSHAKE = 22,
	RECORD_DATA = 23,
	MESSAGE_SERVER_HELLO = 2,
	RANDOM_AT = 6, /* behind type, length and version */
	RANDOM_BYTES = 32,
	HELLO_BYTES = RANDOM_AT + RANDOM_BYTES,
};

/* RFC 8446 4.1.3: SHA-256 of "HelloRetryRequest", in the place of a random number. */
static const unsigned char retry_random[RANDOM_BYTES] = {0xcf, 0x21, 0xad, 0x74, 0xe5, 0x9a, 0x61,
							 0x11, 0xbe, 0x1d, 0x8c, 0x02, 0x1e, 0x65,
							 0xb8, 0x91, 0xc2, 0xa2, 0x11, 0x16, 0x7a,
							 0xbb, 0x8c, 0x5e, 0x07, 0x9e, 0x09, 0xe2,
							 0xc8, 0xa8, 0x33, 0x9c};

static size_t record_size(const unsigned char *record)
{
	return RECORD_HEADER_BYTES + (size_t)(record[3] << 8 | record[4]);
}

/* The first len bytes of a message that is there so far. */
static enum retry judge(const unsigned char *message, size_t len)
{
	if (len > 0 && message[0] != MESSAGE_SERVER_HELLO)
		return RETRY_NO;
	for (size_t i = RANDOM_AT; i < len; i++) {
		if (message[i] != retry_random[i - RANDOM_AT])
			return RETRY_NO;
	}
	return len == HELLO_BYTES ? RETRY_YES : RETRY_MORE;
}

enum retry retry_read(const unsigned char *bytes, size_t len)
{
	unsigned char message[HELLO_BYTES];
	size_t at = 0, there = 0;
	enum retry r = RETRY_MORE;
	if (len > RETRY_BYTES_MAX)
		len = RETRY_BYTES_MAX;
	while (r == RETRY_MORE && at < len) {
		const unsigned char type = bytes[at];
		if (type != RECORD_HANDSHAKE && type != RECORD_ALERT)
			return RETRY_NO;
		if (len - at < RECORD_HEADER_BYTES)
			break;
		const size_t end = at + record_size(bytes + at);
		for (at += RECORD_HEADER_BYTES; at < end && at < len && there < HELLO_BYTES; at++) {
			if (type == RECORD_HANDSHAKE)
				message[there++] = bytes[at];
		}
		r = judge(message, there);
		if (r == RETRY_MORE && at < end)
			break;
	}
	return r == RETRY_MORE && len == RETRY_BYTES_MAX ? RETRY_YES : r;
}

static bool is_passed_over(unsigned char type)
{
	return type == RECORD_CIPHER_SPEC || type == RECORD_ALERT || type == RECORD_DATA;
}

size_t retry_skip(const unsigned char *bytes, size_t len, bool *whole)
{
	size_t at = 0;
	*whole = true;
	while (at < len && is_passed_over(bytes[at])) {
		*whole = len - at >= RECORD_HEADER_BYTES && len - at >= record_size(bytes + at);
		if (!*whole)
			return len;
		at += record_size(bytes + at);
	}
	return at;
}

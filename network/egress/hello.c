#include "network/egress/hello.h"

#include <stdint.h>
#include <string.h>

/* RFC 8446 4, 4.1.2, 4.2, 5.1; RFC 6066 3. */
enum {
	RECORD_HEADER_BYTES = 5,
	RECORD_BYTES_MAX = 1 << 14,
	RECORD_HANDSHAKE = 22,
	MESSAGE_HEADER_BYTES = 4,
	MESSAGE_CLIENT_HELLO = 1,
	VERSION_MAJOR = 3,
	VERSION_TLS10 = 0x0301,
	RANDOM_BYTES = 32,
	SESSION_BYTES_MAX = 32,
	EXTENSION_SERVER_NAME = 0,
	NAME_TYPE_HOST = 0,
	EXTENSIONS_MAX = 128,
};

/* RFC 9849's, those of its drafts, and the encrypted SNI before it. */
static const uint16_t encrypted[] = {0xfe0d, 0xfe0c, 0xfe0b, 0xfe0a,
				     0xfe09, 0xfe08, 0xfd00, 0xffce};

/* ---- the bytes of the message, over the records that it lies in ---- */

struct cursor {
	const unsigned char *next;
	size_t in_record; /* bytes of the message up to the next header */
	size_t left;	  /* of the vector that is being read */
};

/* The records were counted, so that there is one behind if anything is left. */
static bool take8(struct cursor *c, unsigned int *value)
{
	if (c->left == 0)
		return false;
	if (c->in_record == 0) {
		c->in_record = (size_t)(c->next[3] << 8 | c->next[4]);
		c->next += RECORD_HEADER_BYTES;
	}
	*value = *c->next++;
	c->in_record--;
	c->left--;
	return true;
}

static bool take16(struct cursor *c, unsigned int *value)
{
	unsigned int high, low;
	if (!take8(c, &high) || !take8(c, &low))
		return false;
	*value = high << 8 | low;
	return true;
}

static bool skip(struct cursor *c, size_t len)
{
	unsigned int ignored;
	for (; len > 0; len--) {
		if (!take8(c, &ignored))
			return false;
	}
	return true;
}

/* A vector that is skipped, with its length in one byte or two. */
static bool skip_vector8(struct cursor *c, size_t least, size_t most)
{
	unsigned int len;
	return take8(c, &len) && len >= least && len <= most && skip(c, len);
}

static bool skip_vector16(struct cursor *c, size_t least)
{
	unsigned int len;
	return take16(c, &len) && len >= least && len % 2 == 0 && skip(c, len);
}

/* ---- extensions ---- */

struct found {
	uint16_t types[EXTENSIONS_MAX];
	size_t types_len;
	bool encrypted, named;
	size_t names;
	enum name_fault fault;
	struct name name;
};

static bool is_new(struct found *f, uint16_t type)
{
	for (size_t i = 0; i < f->types_len; i++) {
		if (f->types[i] == type)
			return false;
	}
	if (f->types_len == EXTENSIONS_MAX)
		return false;
	f->types[f->types_len++] = type;
	return true;
}

/* RFC 6066 forbids the dot at the end that name_read() drops: a server may not take it for the same. */
static enum name_fault read_host(struct found *f, const char *text, size_t len)
{
	if (len > 0 && text[len - 1] == '.')
		return NAME_LABEL_EMPTY;
	return name_read(&f->name, text, len);
}

static bool take_host(struct cursor *c, struct found *f, size_t len)
{
	char text[NAME_BYTES_MAX + 1];
	unsigned int byte = 0;
	size_t kept = len < sizeof(text) ? len : sizeof(text);
	for (size_t i = 0; i < kept; i++) {
		if (!take8(c, &byte))
			return false;
		text[i] = (char)byte;
	}
	f->fault = read_host(f, text, kept);
	return skip(c, len - kept);
}

static bool take_server_name(struct cursor *c, struct found *f)
{
	unsigned int list, type, len;
	if (!take16(c, &list) || list != c->left || list == 0)
		return false;
	while (c->left > 0) {
		if (!take8(c, &type) || type != NAME_TYPE_HOST || !take16(c, &len) || len == 0 ||
		    !take_host(c, f, len))
			return false;
		f->names++;
	}
	return true;
}

static bool take_extension(struct cursor *c, struct found *f)
{
	unsigned int type, len;
	if (!take16(c, &type) || !take16(c, &len) || len > c->left || !is_new(f, (uint16_t)type))
		return false;
	for (size_t i = 0; i < sizeof(encrypted) / sizeof(encrypted[0]); i++)
		f->encrypted |= type == encrypted[i];
	if (type != EXTENSION_SERVER_NAME)
		return skip(c, len);
	size_t behind = c->left - len;
	c->left = len;
	if (!take_server_name(c, f))
		return false;
	c->left = behind;
	return true;
}

/* What follows the version. Without extensions there is no name, which is no mistake in it. */
static bool take_hello(struct cursor *c, struct found *f)
{
	unsigned int len;
	if (!skip(c, RANDOM_BYTES) || !skip_vector8(c, 0, SESSION_BYTES_MAX) ||
	    !skip_vector16(c, 2) || !skip_vector8(c, 1, UINT8_MAX))
		return false;
	if (c->left == 0)
		return true;
	if (!take16(c, &len) || len != c->left)
		return false;
	while (c->left > 0) {
		if (!take_extension(c, f))
			return false;
	}
	return true;
}

static enum hello_reason judge(struct hello *h, const struct found *f)
{
	if (f->encrypted)
		return HELLO_ENCRYPTED;
	if (f->names != 1)
		return f->names == 0 ? HELLO_NO_NAME : HELLO_SEVERAL_NAMES;
	h->fault = f->fault;
	if (f->fault)
		return HELLO_BAD_NAME;
	h->has_name = true;
	h->name = f->name;
	return name_equal(&h->name, h->wanted) ? HELLO_FINE : HELLO_OTHER_NAME;
}

static enum hello_reason read_message(struct hello *h, const unsigned char *bytes, size_t size)
{
	struct cursor c = {bytes, 0, size};
	struct found f = {.names = 0};
	unsigned int version;
	if (!skip(&c, MESSAGE_HEADER_BYTES) || !take16(&c, &version))
		return HELLO_MALFORMED;
	if (version < VERSION_TLS10)
		return HELLO_OLD;
	return take_hello(&c, &f) ? judge(h, &f) : HELLO_MALFORMED;
}

/* ---- the records ---- */

static enum hello_verdict decide(struct hello *h, enum hello_reason reason)
{
	h->decided = true;
	h->reason = reason;
	return reason == HELLO_FINE ? HELLO_GOOD : HELLO_REFUSED;
}

/* Of the bytes of a record's type and version that are there. */
static enum hello_reason check_header(const struct hello *h, const unsigned char *at, size_t len)
{
	bool first = h->record == 0;
	if (first && len >= 3 && (at[0] & 0x80) && at[2] == MESSAGE_CLIENT_HELLO)
		return HELLO_SSL2;
	if (len >= 1 && at[0] != RECORD_HANDSHAKE && (!first || !(at[0] & 0x80) || len >= 3))
		return first ? HELLO_NOT_TLS : HELLO_MALFORMED;
	if (len >= 2 && at[0] == RECORD_HANDSHAKE && at[1] != VERSION_MAJOR)
		return first ? HELLO_NOT_TLS : HELLO_MALFORMED;
	return HELLO_FINE;
}

/* In the order in which the bytes come, so that pieces make no other reason. */
static enum hello_reason check_size(const struct hello *h, const unsigned char *at, size_t len)
{
	size_t size = (size_t)(at[3] << 8 | at[4]);
	if (size == 0 || size > RECORD_BYTES_MAX)
		return HELLO_MALFORMED;
	if (h->record + RECORD_HEADER_BYTES + size > HELLO_BYTES_MAX)
		return HELLO_TOO_LONG;
	if (h->record == 0 && len > RECORD_HEADER_BYTES &&
	    at[RECORD_HEADER_BYTES] != MESSAGE_CLIENT_HELLO)
		return HELLO_NOT_TLS;
	return HELLO_FINE;
}

/* The next record: 1 it is there and counted, 0 it is not there yet, -1 *reason. */
static int count_record(struct hello *h, const unsigned char *bytes, size_t len,
			enum hello_reason *reason)
{
	const unsigned char *at = bytes + h->record;
	size_t there = len - h->record;
	*reason = check_header(h, at, there);
	if (!*reason && h->record + RECORD_HEADER_BYTES >= HELLO_BYTES_MAX)
		*reason = HELLO_TOO_LONG;
	if (*reason || there < RECORD_HEADER_BYTES)
		return *reason ? -1 : 0;
	size_t size = (size_t)(at[3] << 8 | at[4]);
	*reason = check_size(h, at, there);
	if (*reason || there < RECORD_HEADER_BYTES + size)
		return *reason ? -1 : 0;
	h->record += RECORD_HEADER_BYTES + size;
	h->collected += size;
	return 1;
}

/* The size of the message with its header, once the header is there; 0: not yet. */
static size_t message_size(const struct hello *h, const unsigned char *bytes)
{
	struct cursor c = {bytes, 0, h->collected};
	unsigned int type, high, low;
	if (!take8(&c, &type) || !take8(&c, &high) || !take16(&c, &low))
		return 0;
	return MESSAGE_HEADER_BYTES + ((size_t)high << 16 | low);
}

void hello_init(struct hello *h, const struct name *wanted)
{
	*h = (struct hello){.wanted = wanted};
}

enum hello_verdict hello_read(struct hello *h, const unsigned char *bytes, size_t len)
{
	enum hello_reason reason = HELLO_FINE;
	if (h->decided)
		return h->reason == HELLO_FINE ? HELLO_GOOD : HELLO_REFUSED;
	for (;;) {
		int counted = count_record(h, bytes, len, &reason);
		if (counted <= 0)
			return counted < 0 ? decide(h, reason) : HELLO_MORE;
		size_t size = message_size(h, bytes);
		if (size > HELLO_BYTES_MAX)
			return decide(h, HELLO_TOO_LONG);
		/* A hello ends with its record (RFC 8446 5.1): what stands behind it there is
		 * another message, which nobody judged. */
		if (size > 0 && h->collected > size)
			return decide(h, HELLO_MALFORMED);
		if (size > 0 && h->collected == size)
			return decide(h, read_message(h, bytes, size));
	}
}

static const char *const texts[HELLO_REASON_COUNT] = {
	[HELLO_FINE] = "nothing is wrong with it",
	[HELLO_NOT_TLS] = "what was said first is no TLS",
	[HELLO_SSL2] = "what was said first is SSL 2.0",
	[HELLO_OLD] = "what was said first is SSL 3.0",
	[HELLO_TOO_LONG] = "the ClientHello is too long",
	[HELLO_MALFORMED] = "the ClientHello is malformed",
	[HELLO_NO_NAME] = "the ClientHello has no server name",
	[HELLO_SEVERAL_NAMES] = "the ClientHello has several server names",
	[HELLO_BAD_NAME] = "the server name is no host name",
	[HELLO_ENCRYPTED] = "an encrypted ClientHello (ECH) hides the server name",
	[HELLO_OTHER_NAME] = "the server name is another",
};

const char *hello_reason_text(enum hello_reason r)
{
	return (unsigned int)r < HELLO_REASON_COUNT ? texts[r] : "the ClientHello was not read";
}

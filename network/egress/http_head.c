#include "network/egress/http_head.h"

#include <string.h>

/* RFC 9110 8.6: eighteen digits are below 2^63. */
enum { LENGTH_DIGITS_MAX = 18, DEFAULT_PORT = 80, PORT_MAX = 65535 };

struct text {
	const unsigned char *at;
	size_t len;
};

static unsigned char lower(unsigned char c)
{
	return c >= 'A' && c <= 'Z' ? (unsigned char)(c | 0x20) : c;
}

static bool is_digit(unsigned char c)
{
	return c >= '0' && c <= '9';
}

bool http_is_token(unsigned char c)
{
	unsigned char l = lower(c);
	return (l >= 'a' && l <= 'z') || is_digit(c) || (c && strchr("!#$%&'*+-.^_`|~", c));
}

static bool is_token(struct text t)
{
	for (size_t i = 0; i < t.len; i++) {
		if (!http_is_token(t.at[i]))
			return false;
	}
	return t.len > 0;
}

static bool is_word(struct text t, const char *word)
{
	if (strlen(word) != t.len)
		return false;
	for (size_t i = 0; i < t.len; i++) {
		if (lower(t.at[i]) != (unsigned char)word[i])
			return false;
	}
	return true;
}

static bool is_space(unsigned char c)
{
	return c == ' ' || c == '\t';
}

static struct text trim(struct text t)
{
	for (; t.len > 0 && is_space(t.at[0]); t.at++)
		t.len--;
	while (t.len > 0 && is_space(t.at[t.len - 1]))
		t.len--;
	return t;
}

/* What stands before the first c, and *rest behind it. False: there is none. */
static bool split(struct text t, unsigned char c, struct text *before, struct text *rest)
{
	const unsigned char *found = t.len > 0 ? memchr(t.at, c, t.len) : NULL;
	if (!found)
		return false;
	*before = (struct text){t.at, (size_t)(found - t.at)};
	*rest = (struct text){found + 1, t.len - before->len - 1};
	return true;
}

/* ---- authorities ---- */

static bool read_port(struct text t, uint16_t *port)
{
	unsigned int value = 0;
	if (t.len == 0 || t.len > 5 || t.at[0] == '0')
		return false;
	for (size_t i = 0; i < t.len; i++) {
		if (!is_digit(t.at[i]))
			return false;
		value = value * 10 + (unsigned int)(t.at[i] - '0');
	}
	*port = (uint16_t)value;
	return value <= PORT_MAX;
}

/* NAME or NAME:PORT. Of user@ the at sign is no character of a name. */
static enum http_reason judge_authority(struct http_reader *r, struct text t)
{
	struct text host = t, port;
	uint16_t number = DEFAULT_PORT;
	bool with_port = split(t, ':', &host, &port);
	r->has_host = false;
	r->fault = name_read(&r->host, (const char *)host.at, host.len);
	if (r->fault)
		return HTTP_BAD_HOST;
	if (with_port && !read_port(port, &number))
		return HTTP_BAD_PORT;
	r->has_host = true;
	return number == r->port && name_equal(&r->host, r->wanted) ? HTTP_FINE : HTTP_OTHER_NAME;
}

/* ---- the request line ---- */

static enum http_reason judge_absolute(struct http_reader *r, struct text target)
{
	static const char scheme[] = "http://";
	size_t len = sizeof(scheme) - 1;
	if (target.len < len || !is_word((struct text){target.at, len}, scheme))
		return HTTP_TARGET;
	/* A query may follow at once (RFC 3986 3.2), but readers who look for a slash alone take
	 * what stands behind ?@ for the host. */
	struct text authority = {target.at + len, 0};
	while (len + authority.len < target.len && authority.at[authority.len] != '/')
		authority.len++;
	return judge_authority(r, authority);
}

static enum http_reason judge_target(struct http_reader *r, struct text method, struct text target)
{
	for (size_t i = 0; i < target.len; i++) {
		/* A fragment is never sent (RFC 9112 3.2); #@ hides who is meant. */
		if (target.at[i] <= ' ' || target.at[i] >= 0x7f || target.at[i] == '#')
			return HTTP_TARGET;
	}
	if (target.len > 0 && target.at[0] == '/')
		return HTTP_FINE;
	if (target.len == 1 && target.at[0] == '*')
		return is_word(method, "options") ? HTTP_FINE : HTTP_TARGET;
	return judge_absolute(r, target);
}

static enum http_reason judge_version(struct text version)
{
	static const char good[] = "HTTP/1.1";
	if (version.len == sizeof(good) - 1 && memcmp(version.at, good, version.len) == 0)
		return HTTP_FINE;
	return version.len >= 5 && memcmp(version.at, good, 5) == 0 ? HTTP_VERSION : HTTP_NOT_HTTP;
}

enum http_reason http_judge_line(struct http_reader *r, const unsigned char *line, size_t len)
{
	struct text method, target, version;
	r->has_host = false;
	if (!split((struct text){line, len}, ' ', &method, &version) || !is_token(method) ||
	    !split(version, ' ', &target, &version))
		return HTTP_NOT_HTTP;
	if (is_word(method, "pri"))
		return HTTP_PREFACE;
	enum http_reason reason = judge_version(version);
	if (reason)
		return reason;
	return is_word(method, "connect") ? HTTP_METHOD : judge_target(r, method, target);
}

/* ---- fields ---- */

enum field { FIELD_OTHER, FIELD_HOST, FIELD_LENGTH, FIELD_CODING, FIELD_UPGRADE, FIELD_CONNECTION };

static const struct {
	const char *name;
	enum field field;
} fields[] = {
	{"host", FIELD_HOST},
	{"content-length", FIELD_LENGTH},
	{"transfer-encoding", FIELD_CODING},
	{"upgrade", FIELD_UPGRADE},
	{"http2-settings", FIELD_UPGRADE},
	{"connection", FIELD_CONNECTION},
};

/* Gateways turn - and _ into the same (CGI, RFC 3875 4.1.18): a name that is one of ours only then
 * is HTTP_HIDDEN. */
static enum http_reason find_field(struct text name, enum field *field)
{
	*field = FIELD_OTHER;
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		const char *ours = fields[i].name;
		size_t at = 0;
		while (at < name.len && ours[at] &&
		       (lower(name.at[at]) == (unsigned char)ours[at] ||
			(name.at[at] == '_' && ours[at] == '-')))
			at++;
		if (at < name.len || ours[at])
			continue;
		*field = fields[i].field;
		return memchr(name.at, '_', name.len) ? HTTP_HIDDEN : HTTP_FINE;
	}
	return HTTP_FINE;
}

static enum http_reason judge_host(struct http_reader *r, struct http_head *h, struct text value)
{
	if (h->has_host)
		return HTTP_SEVERAL_HOSTS;
	h->has_host = true;
	return judge_authority(r, value);
}

static enum http_reason judge_length(struct http_head *h, struct text value)
{
	if (h->has_length || value.len == 0 || value.len > LENGTH_DIGITS_MAX)
		return HTTP_LENGTH;
	h->has_length = true;
	for (size_t i = 0; i < value.len; i++) {
		if (!is_digit(value.at[i]))
			return HTTP_LENGTH;
		h->length = h->length * 10 + (uint64_t)(value.at[i] - '0');
	}
	return h->chunked ? HTTP_BOTH : HTTP_FINE;
}

static enum http_reason judge_coding(struct http_head *h, struct text value)
{
	if (h->chunked || !is_word(value, "chunked"))
		return HTTP_CODING;
	h->chunked = true;
	return h->has_length ? HTTP_BOTH : HTTP_FINE;
}

/* What Connection names a proxy takes away before it passes the request on (RFC 9110 7.6.1). */
static enum http_reason judge_connection(struct text value)
{
	struct text option, rest = value;
	bool more = true;
	while (more) {
		struct text all = rest;
		enum field field;
		more = split(all, ',', &option, &rest);
		option = trim(more ? option : all);
		if (option.len == 0)
			continue;
		if (!is_token(option))
			return HTTP_FIELD;
		if (find_field(option, &field) || field == FIELD_HOST || field == FIELD_LENGTH ||
		    field == FIELD_CODING)
			return HTTP_HIDDEN;
		if (field == FIELD_UPGRADE)
			return HTTP_UPGRADE;
	}
	return HTTP_FINE;
}

static enum http_reason read_field(struct text line, enum field *field, struct text *value)
{
	struct text name;
	if (line.len > 0 && is_space(line.at[0]))
		return HTTP_FOLDED;
	if (!split(line, ':', &name, value) || !is_token(name))
		return HTTP_FIELD;
	*value = trim(*value);
	return find_field(name, field);
}

static enum http_reason judge_field(struct http_reader *r, struct http_head *h, struct text line)
{
	enum field field;
	struct text value;
	enum http_reason reason = read_field(line, &field, &value);
	if (reason)
		return reason;
	switch (field) {
	case FIELD_HOST:
		return judge_host(r, h, value);
	case FIELD_LENGTH:
		return judge_length(h, value);
	case FIELD_CODING:
		return judge_coding(h, value);
	case FIELD_UPGRADE:
		return HTTP_UPGRADE;
	case FIELD_CONNECTION:
		return judge_connection(value);
	default:
		return HTTP_FINE;
	}
}

enum http_reason http_judge_fields(struct http_reader *r, struct http_head *h,
				   const unsigned char *lines, size_t len)
{
	struct text line, rest = {lines, len};
	for (size_t count = 0; split(rest, '\n', &line, &rest); count++) {
		line.len--; /* the CR */
		enum http_reason reason = count < HTTP_FIELDS_MAX ? judge_field(r, h, line)
								  : HTTP_TOO_LONG;
		if (reason)
			return reason;
	}
	return h->has_host ? HTTP_FINE : HTTP_NO_HOST;
}

enum http_reason http_judge_trailer(const unsigned char *line, size_t len)
{
	enum field field;
	struct text value;
	enum http_reason reason = read_field((struct text){line, len}, &field, &value);
	return !reason && field != FIELD_OTHER ? HTTP_TRAILER : reason;
}

#include "rootfs/image/reference.h"

#include "rootfs/image/digest.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOWER  "abcdefghijklmnopqrstuvwxyz"
#define UPPER  "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS "0123456789"

enum { REPOSITORY_MAX = 255, TAG_MAX = 128, REGISTRY_MAX = 255, PORT_MAX = 65535 };

/* What a caller typed is shown again only where it is fit for a terminal. */
static const char *shown(const char *text)
{
	for (const char *c = text; *c; c++) {
		if (*c < 0x20 || *c >= 0x7f)
			return "the image's name";
	}
	return *text && strlen(text) <= 2 * REPOSITORY_MAX ? text : "the image's name";
}

/* ---- the host ---- */

static bool valid_port(const char *port)
{
	size_t len = strlen(port);
	return len > 0 && len <= 5 && strspn(port, DIGITS) == len && port[0] != '0' &&
	       strtol(port, NULL, 10) <= PORT_MAX;
}

/* Labels of letters, digits and inner hyphens, between dots. */
static bool valid_domain(const char *host, size_t len)
{
	char before = '.';
	for (size_t i = 0; i < len; i++) {
		char c = host[i], next = i + 1 < len ? host[i + 1] : '.';
		bool edge = before == '.' || next == '.';
		if (c == '.' ? before == '.' : !strchr(LOWER DIGITS "-", c) || (c == '-' && edge))
			return false;
		before = c;
	}
	return len > 0 && before != '.';
}

/* "[" address "]": curl judges the address; here it only may not hold anything else. */
static bool valid_ipv6(const char *host, size_t len)
{
	return len > 4 && host[0] == '[' && host[len - 1] == ']' &&
	       strspn(host + 1, DIGITS "abcdef:.") == len - 2;
}

static bool valid_registry(const char *registry)
{
	const char *close = strrchr(registry, ']');
	const char *port = strchr(close ? close : registry, ':');
	size_t len = port ? (size_t)(port - registry) : strlen(registry);
	return strlen(registry) <= REGISTRY_MAX && (!port || valid_port(port + 1)) &&
	       (registry[0] == '[' ? valid_ipv6(registry, len) : valid_domain(registry, len));
}

/* The length of the host in front, 0 if there is none. */
static size_t registry_length(const char *text)
{
	const char *slash = strchr(text, '/');
	size_t len = slash ? (size_t)(slash - text) : 0;
	bool host = len > 0 && (memchr(text, '.', len) || memchr(text, ':', len) ||
				(len == 9 && memcmp(text, "localhost", len) == 0));
	return host ? len : 0;
}

static char *lower_case(struct arena *a, const char *text, size_t len)
{
	char *copy = arena_strndup(a, text, len);
	for (char *c = copy; *c; c++) {
		if (*c >= 'A' && *c <= 'Z')
			*c += 'a' - 'A';
	}
	return copy;
}

/* ---- path and tag ---- */

/* The length of a separator within a part: one dot, one or two underscores, any hyphens. */
static size_t separator(const char *c)
{
	size_t hyphens = strspn(c, "-");
	if (*c == '.')
		return 1;
	if (*c == '_')
		return c[1] == '_' ? 2 : 1;
	return hyphens;
}

static bool valid_part(const char *part, size_t len)
{
	const char *end = part + len;
	while (part < end) {
		size_t word = strspn(part, LOWER DIGITS);
		if (word == 0)
			return false;
		part += word;
		if (part == end)
			return true;
		size_t gap = separator(part);
		if (gap == 0)
			return false;
		part += gap;
	}
	return false;
}

static bool valid_repository(const char *repository)
{
	size_t len = strlen(repository);
	if (len == 0 || len > REPOSITORY_MAX)
		return false;
	for (const char *part = repository;; part++) {
		const char *end = strchrnul(part, '/');
		if (!valid_part(part, (size_t)(end - part)))
			return false;
		if (!*end)
			return true;
		part = end;
	}
}

static bool valid_tag(const char *tag)
{
	size_t len = strlen(tag);
	return len > 0 && len <= TAG_MAX && tag[0] != '.' && tag[0] != '-' &&
	       strspn(tag, LOWER UPPER DIGITS "_.-") == len;
}

static int check_repository(const char *repository, const char *text, struct err *e)
{
	if (valid_repository(repository))
		return 0;
	if (strpbrk(repository, UPPER))
		return err_usage(e, "%s: an image's name is in lower case", shown(text));
	return err_usage(e, "%s: not an image's name ([HOST[:PORT]/]NAME[:TAG|@DIGEST])",
			 shown(text));
}

/* ---- the whole ---- */

/* Cuts "@DIGEST" and ":TAG" off; name is what is behind the host. */
static int parse_suffixes(struct reference *r, char *name, const char *text, struct err *e)
{
	char *at = strchr(name, '@');
	if (at) {
		struct digest d;
		*at = '\0';
		if (digest_parse(&d, at + 1, e) < 0)
			return err_wrap(e, "%s", shown(text));
		r->digest = at + 1;
	}
	char *colon = strchr(name, ':');
	if (colon) {
		*colon = '\0';
		r->tag = colon + 1;
		if (!valid_tag(r->tag))
			return err_usage(e, "%s: not a tag behind the colon", shown(text));
	} else if (!at) {
		r->tag = "latest";
	}
	return 0;
}

/* "sha256:" and the digits of a digest would be read as the name sha256 with a tag. */
static bool is_bare_digest(const struct reference *r)
{
	return !r->registry && !r->digest && r->tag && strcmp(r->repository, "sha256") == 0 &&
	       strlen(r->tag) == DIGEST_HEX && strspn(r->tag, DIGITS "abcdefABCDEF") == DIGEST_HEX;
}

int reference_parse(struct reference *r, const char *text, struct arena *a, struct err *e)
{
	struct reference got = {.registry = NULL};
	size_t host = registry_length(text);
	if (host > 0) {
		got.registry = lower_case(a, text, host);
		if (!valid_registry(got.registry))
			return err_usage(e, "%s: not a registry's HOST or HOST:PORT in front",
					 shown(text));
		host++; /* the slash */
	}
	char *name = arena_strdup(a, text + host);
	if (parse_suffixes(&got, name, text, e) < 0 || check_repository(name, text, e) < 0)
		return -1;
	got.repository = name;
	if (is_bare_digest(&got))
		return err_usage(e, "%s: an image's id, and no name", shown(text));
	*r = got;
	return 0;
}

char *reference_format(const struct reference *r, struct arena *a)
{
	return arena_printf(a, "%s%s%s%s%s%s%s", r->registry ? r->registry : "",
			    r->registry ? "/" : "", r->repository, r->tag ? ":" : "",
			    r->tag ? r->tag : "", r->digest ? "@" : "", r->digest ? r->digest : "");
}

int reference_remote(const struct reference *r, struct err *e)
{
	if (r->registry)
		return 0;
	return err_usage(e, "%s names no registry, so it cannot be pulled: write HOST[:PORT]/%s",
			 r->repository, r->repository);
}

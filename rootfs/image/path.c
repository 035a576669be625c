#include "rootfs/image/path.h"

#include <stdio.h>
#include <string.h>

const char *path_shown(char to[SHOWN_BYTES], const char *name)
{
	size_t at = 0;
	for (; *name && at < SHOWN_BYTES - 8; name++) {
		const unsigned char c = (unsigned char)*name;
		if (c >= ' ' && c <= '~')
			to[at++] = (char)c;
		else
			at += (size_t)snprintf(to + at, 5, "\\x%02x", c);
	}
	snprintf(to + at, SHOWN_BYTES - at, "%s", *name ? "..." : "");
	return to;
}

static int add(struct path *p, const char *part, size_t len)
{
	if (len > NAME_BYTES || p->len + len + 2 > PATH_BYTES)
		return -1;
	if (p->len)
		p->text[p->len++] = '/';
	memcpy(p->text + p->len, part, len);
	p->len += len;
	p->text[p->len] = '\0';
	return 0;
}

int path_clean(struct path *p, const char *name, unsigned depth_max, struct err *e)
{
	char said[SHOWN_BYTES];
	unsigned depth = 0;
	p->len = 0;
	p->text[0] = '\0';
	if (!*name)
		return err_usage(e, "an entry of the layer has no name");
	for (const char *at = name; *at;) {
		const size_t len = strcspn(at, "/");
		if (len == 2 && memcmp(at, "..", 2) == 0)
			return err_usage(e, "%s: a name with .. in a layer", path_shown(said, name));
		if (len > 0 && !(len == 1 && *at == '.')) {
			if (++depth > depth_max) {
				return err_usage(e, "%s: more than %u folders deep (limit depth)",
						 path_shown(said, name), depth_max);
			}
			if (add(p, at, len) < 0)
				return err_usage(e, "%s: the name is too long",
						 path_shown(said, name));
		}
		at += len + (at[len] == '/');
	}
	return 0;
}

int path_join(struct path *p, const char *dir, const char *name, struct err *e)
{
	char said[SHOWN_BYTES];
	const int len = snprintf(p->text, sizeof(p->text), "%s%s%s", dir, *dir ? "/" : "", name);
	if (len < 0 || (size_t)len >= sizeof(p->text)) {
		p->len = 0;
		return err_usage(e, "%s: the name is too long", path_shown(said, dir));
	}
	p->len = (size_t)len;
	return 0;
}

const char *path_base(const struct path *p)
{
	const char *slash = strrchr(p->text, '/');
	return slash ? slash + 1 : p->text;
}

size_t path_parent(const struct path *p)
{
	const char *slash = strrchr(p->text, '/');
	return slash ? (size_t)(slash - p->text) : 0;
}

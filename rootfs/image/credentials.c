#include "rootfs/image/credentials.h"

#include "base/fd.h"
#include "rootfs/image/json.h"
#include "spec/base64.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { FILE_BYTES_MAX = 1 << 20 };

/* How Docker calls its own registry in this file. */
static const char docker_registry[] = "docker.io", docker_key[] = "index.docker.io";

/* "HOST/PATH" of an entry's key: without scheme, without the version and slashes at the end. */
static char *plain_key(const char *key, struct arena *a)
{
	static const char *const versions[] = {"/v1", "/v2"};
	const char *scheme = strstr(key, "://");
	char *plain = arena_strdup(a, scheme ? scheme + 3 : key);
	size_t len = strlen(plain);
	while (len > 0 && plain[len - 1] == '/')
		plain[--len] = '\0';
	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
		if (len > 3 && strcmp(plain + len - 3, versions[i]) == 0)
			plain[len - 3] = '\0';
	}
	return strcmp(plain, docker_key) == 0 ? arena_strdup(a, docker_registry) : plain;
}

/* The length of the key if it is the name or a folder above it, else 0. */
static size_t match(const char *key, const char *name)
{
	size_t len = strlen(key);
	return len > 0 && strncmp(name, key, len) == 0 && (name[len] == '/' || !name[len]) ? len : 0;
}

static json_t *best_entry(json_t *auths, const struct reference *ref, struct arena *a)
{
	const char *name = arena_printf(a, "%s/%s", ref->registry, ref->repository);
	const char *key;
	json_t *value, *best = NULL;
	size_t best_len = 0;
	json_object_foreach(auths, key, value)
	{
		size_t len = match(plain_key(key, a), name);
		if (len > best_len) {
			best = value;
			best_len = len;
		}
	}
	return best;
}

/* From "username" and "password", which some tools write beside "auth" or for it. */
static const char *encode(const char *user, const char *password, struct arena *a)
{
	const char *pair = arena_printf(a, "%s:%s", user, password);
	size_t len = strlen(pair);
	char *text = arena_alloc(a, BASE64_BYTES(len) + 1);
	base64_encode(pair, len, text);
	return text;
}

/* It goes into a header, so it is base64 and nothing else, of a user and a password. */
static int check_auth(const char *auth, struct arena *a, struct err *e)
{
	size_t len = strlen(auth);
	char *pair = arena_alloc(a, len + 1);
	size_t got = len < CREDENTIALS_BYTES ? base64_decode(auth, len, pair) : (size_t)-1;
	if (got == (size_t)-1 || !memchr(pair, ':', got))
		return err_usage(e, "auth: not USER:PASSWORD in base64");
	return 0;
}

static void say_none(struct credentials *c, const char *why)
{
	snprintf(c->why_none, sizeof(c->why_none), "%s", why);
}

static int keep(struct credentials *c, const char *basic, struct err *e)
{
	const size_t len = strlen(basic);
	if (len >= sizeof(c->basic))
		return err_usage(e, "user and password of more than %d bytes", CREDENTIALS_BYTES);
	memcpy(c->basic, basic, len + 1);
	return 0;
}

static int read_entry(struct credentials *c, json_t *entry, struct arena *a, struct err *e)
{
	const char *auth, *user, *password, *identity;
	if (!json_is_object(entry))
		return err_usage(e, "an object belongs there");
	if (json_member_text(entry, "auth", &auth, e) < 0 ||
	    json_member_text(entry, "username", &user, e) < 0 ||
	    json_member_text(entry, "password", &password, e) < 0 ||
	    json_member_text(entry, "identitytoken", &identity, e) < 0)
		return -1;
	if (identity && *identity) {
		say_none(c, "it has an identity token, which is not supported");
	} else if (auth && *auth) {
		return check_auth(auth, a, e) < 0 ? -1 : keep(c, auth, e);
	} else if (user && password) {
		return keep(c, encode(user, password, a), e);
	}
	return 0;
}

static int read_auths(struct credentials *c, json_t *root, const struct reference *ref,
		      struct arena *a, struct err *e)
{
	json_t *auths;
	if (json_member(root, "auths", JSON_OBJECT, &auths, e) < 0)
		return -1;
	json_t *entry = auths ? best_entry(auths, ref, a) : NULL;
	if (entry && read_entry(c, entry, a, e) < 0)
		return err_wrap(e, "auths: the entry of %s", ref->registry);
	if (!c->basic[0] && !c->why_none[0] &&
	    (json_object_get(root, "credsStore") || json_object_get(root, "credHelpers")))
		say_none(c, "it names a credential helper, and those are not run");
	return 0;
}

static int read_file(int fd, const char *path, struct arena *a, struct json_bytes *bytes,
		     struct err *e)
{
	char *text = arena_alloc(a, FILE_BYTES_MAX + 1);
	size_t len = 0;
	ssize_t got;
	while ((got = read(fd, text + len, FILE_BYTES_MAX + 1 - len)) > 0)
		len += (size_t)got;
	if (got < 0)
		return err_sys(e, "read %s", path);
	if (len > FILE_BYTES_MAX)
		return err_usage(e, "%s: larger than %d bytes", path, FILE_BYTES_MAX);
	*bytes = (struct json_bytes){text, len};
	return 0;
}

int credentials_read(struct credentials *c, int fd, const char *path, const struct reference *ref,
		     struct err *e)
{
	autoarena a = ARENA_INIT;
	struct json_bytes bytes = {.text = NULL};
	if (fd >= 0 && read_file(fd, path, &a, &bytes, e) < 0)
		return -1;
	if (bytes.len > 0) {
		autojson *root = json_read(path, bytes, e);
		if (!root)
			return -1;
		if (read_auths(c, root, ref, &a, e) < 0)
			return err_wrap(e, "%s", path);
	}
	if (!c->basic[0] && !c->why_none[0])
		say_none(c, fd >= 0 ? "it has none for this registry" : "there is no such file");
	return 0;
}

int credentials_send(const struct credentials *c, int to, struct err *e)
{
	return fd_write_all(to, c, sizeof(*c)) < 0 ? err_sys(e, "hand on the credentials") : 0;
}

int credentials_receive(struct credentials *c, int from, struct err *e)
{
	char *to = (char *)c;
	for (size_t had = 0; had < sizeof(*c);) {
		const ssize_t n = read(from, to + had, sizeof(*c) - had);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? err_sys(e, "take the credentials")
				     : err_bug(e, "the credentials end before their end");
		had += (size_t)n;
	}
	c->basic[sizeof(c->basic) - 1] = c->why_none[sizeof(c->why_none) - 1] = '\0';
	return 0;
}

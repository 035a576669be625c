#include "rootfs/image/manifest.h"

#include <linux/limits.h>
#include <string.h>

/* ---- what a run will use ---- */

static int check_env(const struct json_texts *env, struct err *e)
{
	for (size_t i = 0; i < env->len; i++) {
		const char *equals = strchr(env->list[i], '=');
		if (!equals || equals == env->list[i])
			return err_usage(e, "Env: %zu is no NAME=VALUE", i);
		if (strlen(env->list[i]) > IMAGE_TEXT_MAX)
			return err_usage(e, "Env: %zu is too long", i);
	}
	return 0;
}

static int check_words(const struct json_texts *words, const char *key, struct err *e)
{
	for (size_t i = 0; i < words->len; i++) {
		if (strlen(words->list[i]) > IMAGE_TEXT_MAX)
			return err_usage(e, "%s: word %zu is too long", key, i);
	}
	return 0;
}

/* The folder's name, taken as Docker does: from the root, "." and ".." by their letters, never
 * above the root. What is in the tree under that name is for whoever enters it. */
static char *clean_path(const char *text, struct arena *a)
{
	char *clean = arena_alloc(a, strlen(text) + 2), *end = clean;
	for (const char *part = text; *part;) {
		size_t len = strcspn(part, "/");
		if (len == 2 && part[0] == '.' && part[1] == '.') {
			while (end > clean && end[-1] != '/')
				end--;
			end -= end > clean; /* the slash */
		} else if (len > 0 && !(len == 1 && part[0] == '.')) {
			*end++ = '/';
			memcpy(end, part, len);
			end += len;
		}
		part += len + (part[len] == '/');
	}
	if (end == clean)
		*end++ = '/';
	*end = '\0';
	return clean;
}

static int read_workdir(struct image_config *c, json_t *object, struct arena *a, struct err *e)
{
	const char *text;
	if (json_member_text(object, "WorkingDir", &text, e) < 0)
		return -1;
	if (!text || !*text)
		return 0;
	if (strlen(text) >= PATH_MAX)
		return err_usage(e, "WorkingDir: longer than a path can be");
	c->workdir = clean_path(text, a);
	return 0;
}

/* It is looked up in the image's passwd and group, whose fields end with a colon and whose lines
 * with a newline: what has more of them than the one between user and group names nobody. */
static int read_user(struct image_config *c, json_t *object, struct arena *a, struct err *e)
{
	enum { USER_MAX = 256 };
	const char *text;
	if (json_member_text(object, "User", &text, e) < 0)
		return -1;
	if (!text || !*text)
		return 0;
	const char *colon = strchr(text, ':');
	if (strlen(text) > USER_MAX || (colon && strchr(colon + 1, ':')))
		return err_usage(e, "User: not USER[:GROUP]");
	for (const char *at = text; *at; at++) {
		if ((unsigned char)*at <= 0x20 || *at == 0x7f || *at == '/')
			return err_usage(e, "User: not USER[:GROUP]");
	}
	c->user = arena_strdup(a, text);
	return 0;
}

static int read_run(struct image_config *c, json_t *object, struct arena *a, struct err *e)
{
	if (json_member_texts(object, "Env", a, &c->env, e) < 0 || check_env(&c->env, e) < 0 ||
	    json_member_texts(object, "Entrypoint", a, &c->entrypoint, e) < 0 ||
	    check_words(&c->entrypoint, "Entrypoint", e) < 0 ||
	    json_member_texts(object, "Cmd", a, &c->cmd, e) < 0 ||
	    check_words(&c->cmd, "Cmd", e) < 0 || read_workdir(c, object, a, e) < 0)
		return -1;
	return read_user(c, object, a, e);
}

/* ---- what it is made of ---- */

static int read_diff_ids(struct image_config *c, json_t *rootfs, struct arena *a, struct err *e)
{
	const char *type;
	json_t *array, *value;
	size_t i;
	if (json_member_text(rootfs, "type", &type, e) < 0 ||
	    json_member(rootfs, "diff_ids", JSON_ARRAY, &array, e) < 0)
		return -1;
	if (!type || strcmp(type, "layers") != 0)
		return err_usage(e, "type: not layers");
	c->diff_ids_len = json_array_size(array);
	if (c->diff_ids_len > LAYERS_MAX)
		return err_usage(e, "more than %d layers", LAYERS_MAX);
	c->diff_ids = arena_alloc(a, (c->diff_ids_len + 1) * sizeof(*c->diff_ids));
	json_array_foreach(array, i, value)
	{
		if (!json_is_string(value))
			return err_usage(e, "diff_ids: texts belong there");
		if (digest_parse(&c->diff_ids[i], json_string_value(value), e) < 0)
			return err_wrap(e, "diff_ids");
	}
	return 0;
}

/* A word of the platform is compared and shown, so it is plain. */
static int read_word(json_t *root, const char *key, struct arena *a, const char **word, struct err *e)
{
	const char *text;
	if (json_member_text(root, key, &text, e) < 0)
		return -1;
	if (text && (strlen(text) > 64 ||
		     strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_-.") != strlen(text)))
		return err_usage(e, "%s: not a name", key);
	*word = text && *text ? arena_strdup(a, text) : NULL;
	return 0;
}

static int read_config(struct image_config *c, json_t *root, struct arena *a, struct err *e)
{
	json_t *run, *rootfs;
	if (read_word(root, "os", a, &c->os, e) < 0 ||
	    read_word(root, "architecture", a, &c->architecture, e) < 0 ||
	    read_word(root, "variant", a, &c->variant, e) < 0 ||
	    json_member(root, "config", JSON_OBJECT, &run, e) < 0 ||
	    json_member(root, "rootfs", JSON_OBJECT, &rootfs, e) < 0)
		return -1;
	if (!c->os || !c->architecture || !rootfs)
		return err_usage(e, "no %s",
				 !c->os		    ? "os"
				 : !c->architecture ? "architecture"
						    : "rootfs");
	if (run && read_run(c, run, a, e) < 0)
		return err_wrap(e, "config");
	return read_diff_ids(c, rootfs, a, e) < 0 ? err_wrap(e, "rootfs") : 0;
}

int config_read(struct image_config *c, struct json_bytes bytes, struct arena *a, struct err *e)
{
	struct image_config got = {.os = NULL};
	autojson *root = json_read("image config", bytes, e);
	if (!root)
		return -1;
	if (read_config(&got, root, a, e) < 0)
		return err_wrap(e, "image config");
	*c = got;
	return 0;
}

int config_fits(const struct image_config *c, const struct manifest *m, struct err *e)
{
	if (c->diff_ids_len == m->layers_len)
		return 0;
	return err_usage(e, "the manifest has %zu layers, the image's config %zu", m->layers_len,
			 c->diff_ids_len);
}

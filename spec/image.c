#include "spec/image.h"

#include "spec/locate.h"
#include "spec/value.h"
#include "spec/writer.h"

#include <jansson.h>
#include <string.h>

static int refuse(struct err *e)
{
	return err_host(e, "image.json of the stored image is damaged; load the image again");
}

/* The text of the JSON string at s; NULL: it is none. jansson is asked only where something is
 * escaped: most strings are as they stand. */
static const char *string_at(const struct json_text *j, struct slice s, struct arena *a)
{
	const char *at = j->text + s.at;
	const size_t len = s.end - s.at;
	if (len < 2 || at[0] != '"' || at[len - 1] != '"')
		return NULL;
	if (!memchr(at, '\\', len))
		return arena_strndup(a, at + 1, len - 2);
	json_t *value = json_loadb(at, len, JSON_DECODE_ANY, NULL);
	const char *text = json_string_value(value);
	const char *copy = text ? arena_strdup(a, text) : NULL;
	json_decref(value);
	return copy;
}

static const char **strings_at(const struct json_text *j, struct slice s, struct arena *a)
{
	size_t len = 0, at = s.at;
	struct member m;
	if (j->text[s.at] != '[')
		return NULL;
	while (locate_next(j, &at, &m))
		len++;
	const char **list = arena_alloc(a, (len + 1) * sizeof(*list));
	at = s.at;
	for (len = 0; locate_next(j, &at, &m); len++) {
		list[len] = string_at(j, m.value, a);
		if (!list[len])
			return NULL;
	}
	return list;
}

/* Where the value of that name goes. */
static int take(struct image_facts *f, const struct json_text *j, const struct member *m,
		struct arena *a)
{
	const struct {
		const char *name;
		const char **text;
		const char ***list;
	} members[] = {
		{"\"id\"", &f->id, NULL},     {"\"workdir\"", &f->workdir, NULL},
		{"\"user\"", &f->user, NULL}, {"\"env\"", NULL, &f->env},
		{"\"cmd\"", NULL, &f->cmd},   {"\"entrypoint\"", NULL, &f->entrypoint},
	};
	const char *key = j->text + m->key.at;
	const size_t len = m->key.end - m->key.at;
	for (size_t i = 0; i < sizeof(members) / sizeof(*members); i++) {
		if (strlen(members[i].name) != len || memcmp(members[i].name, key, len) != 0)
			continue;
		if (members[i].list)
			return (*members[i].list = strings_at(j, m->value, a)) ? 0 : -1;
		return (*members[i].text = string_at(j, m->value, a)) ? 0 : -1;
	}
	return -1;
}

int image_facts_read(struct image_facts *f, const char *text, size_t len, struct arena *a,
		     struct err *e)
{
	const struct json_text j = {text, len};
	struct image_facts read = {0};
	struct member m;
	size_t at = locate_start(&j);
	if (at >= len || text[at] != '{')
		return refuse(e);
	while (locate_next(&j, &at, &m))
		if (take(&read, &j, &m, a) < 0)
			return refuse(e);
	if (!read.id || !read.workdir || !read.user || !read.env || !read.cmd || !read.entrypoint)
		return refuse(e);
	*f = read;
	return 0;
}

static void write_list(struct json_writer *w, const char *key, const char *const *list)
{
	json_begin(w, key, '[');
	for (; *list; list++)
		json_text(w, NULL, *list);
	json_end(w, '[');
}

char *image_facts_write(const struct image_facts *f)
{
	struct json_writer w;
	json_open(&w, false);
	json_begin(&w, NULL, '{');
	json_text(&w, "id", f->id);
	write_list(&w, "env", f->env);
	json_text(&w, "workdir", f->workdir);
	write_list(&w, "entrypoint", f->entrypoint);
	write_list(&w, "cmd", f->cmd);
	json_text(&w, "user", f->user);
	json_end(&w, '{');
	return json_finish(&w, true);
}

static bool has_name(const struct spec *s, const char *entry)
{
	const size_t len = strcspn(entry, "=");
	for (size_t i = 0; i < s->env_len; i++)
		if (strcspn(s->env[i], "=") == len && memcmp(s->env[i], entry, len) == 0)
			return true;
	return false;
}

/* The later one of two counts, as in a file of assignments. What the caller gave is looked at
 * before anything of the image is in it. */
static int apply_env(struct spec *s, const struct image_facts *f, struct err *e)
{
	size_t len = 0;
	while (f->env[len])
		len++;
	const char **kept = arena_alloc(s->arena, (len + 1) * sizeof(*kept));
	size_t kept_len = 0;
	for (size_t i = 0; i < len; i++)
		if (!has_name(s, f->env[i]))
			kept[kept_len++] = f->env[i];
	for (size_t i = 0; i < kept_len; i++)
		if (value_add_env(s, kept[i], e) < 0)
			return err_wrap(e, "the image's Env");
	return 0;
}

static size_t words_len(const char *const *words)
{
	size_t len = 0;
	while (words[len])
		len++;
	return len;
}

static int apply_command(struct spec *s, const struct image_facts *f, struct err *e)
{
	const char *const *rest = s->command_len > 0 ? s->command : f->cmd;
	const size_t front = words_len(f->entrypoint), len = words_len(rest);
	if (front + len == 0)
		return err_usage(e, "no command: the image has neither Entrypoint nor Cmd; give one "
				    "behind the image");
	const char **words = arena_alloc(s->arena, (front + len + 1) * sizeof(*words));
	memcpy(words, f->entrypoint, front * sizeof(*words));
	memcpy(words + front, rest, len * sizeof(*words));
	return spec_set_command(s, words, front + len, e);
}

static int apply_workdir(struct spec *s, const struct image_facts *f, struct err *e)
{
	if (!*f->workdir || spec_given(s, offsetof(struct spec, workdir)))
		return 0;
	/* Docker takes one without a slash from the root. */
	const char *dir = f->workdir[0] == '/' ? f->workdir
					       : arena_printf(s->arena, "/%s", f->workdir);
	return spec_set(s, "workdir", dir, e) < 0 ? err_wrap(e, "the image's WorkingDir") : 0;
}

int spec_apply_image(struct spec *s, const struct image_facts *f, struct err *e)
{
	if (apply_env(s, f, e) < 0 || apply_workdir(s, f, e) < 0)
		return -1;
	return apply_command(s, f, e);
}

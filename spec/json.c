/* The spec as JSON. jansson decides what is JSON; locate.c says where in it. */
#include "spec/base64.h"
#include "spec/document.h"
#include "spec/keys.h"
#include "spec/parse.h"
#include "spec/spec.h"
#include "spec/syntax.h"
#include "spec/value.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

enum { DEPTH_MAX = 8 };

/* What belongs there, for a message about a wrong type. */
static const char *const belongs[KEY_TYPE_COUNT] = {
	[KEY_SIZE] = "a size: \"64M\" or a number of bytes",
	[KEY_RATE] = "a size: \"64M\" or a number of bytes",
	[KEY_TIME] = "a time: \"500ms\", \"2s\"",
	[KEY_COUNT] = "a number",
	[KEY_CPUS] = "a number of cpus: 2 or 0.5",
	[KEY_UID] = "a number",
	[KEY_ENUM] = "a word",
	[KEY_BOOL] = "true or false",
	[KEY_ID] = "a string",
	[KEY_HOSTNAME] = "a string",
	[KEY_WORKDIR] = "a string",
	[KEY_PATH] = "a string or null",
	[KEY_SINK] = "a string or null",
	[KEY_STDIN] = "a string or null",
	[KEY_ENV] = "an array of \"NAME=VALUE\"",
	[KEY_REQUIRE] = "an array of names",
	[KEY_ALLOW] = "an array of rules",
	[KEY_INPUT] = "an array of \"SRC:DST\" or \"SRC:DST:unpack\"",
	[KEY_INPUT_RO] = "an array of \"SRC:DST\" or \"SRC:DST:unpack\"",
	[KEY_ARTIFACT] = "an array of \"PATH:OPTION\"",
	[KEY_SLOTS] = "a number, or \"N:NAME\"",
};

/* The end of a long name says more than its beginning. */
static void name_copy(char *to, size_t size, const char *name)
{
	size_t len = strlen(name);
	if (len >= size)
		name += len - (size - 1);
	snprintf(to, size, "%s", name);
	for (; *to; to++) {
		if ((unsigned char)*to < 0x20 || (unsigned char)*to >= 0x7f)
			*to = '?';
	}
}

void document_init(struct document *d, const char *name, const char *text, size_t len)
{
	*d = (struct document){.j = {text, len}};
	name_copy(d->name, sizeof(d->name), name);
}

/* Whether it looks like a key of ours. Whoever wrote the document may have written another. */
static bool is_plain(const char *key)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
	const size_t len = strlen(key);
	return len > 0 && len <= 64 && strspn(key, plain) == len;
}

/* Before the message that is there: the place, if somebody wrote it, and the key if one is to blame. */
int document_refuse(const struct document *d, size_t at, const char *key, struct err *e)
{
	size_t line, column;
	locate_position(&d->j, at, &line, &column);
	if (key)
		err_wrap(e, "%s", is_plain(key) ? key : show(key).text);
	return d->name[0] ? err_wrap(e, "%s:%zu:%zu", d->name, line, column) : -1;
}

int document_parse(struct document *d, const char *what, struct err *e)
{
	if (d->j.len > SPEC_FILE_BYTES_MAX) {
		err_usage(e, "too large for %s (%zu bytes; the most is %d)", what, d->j.len,
			  SPEC_FILE_BYTES_MAX);
		return document_refuse(d, 0, NULL, e);
	}
	size_t deep = locate_too_deep(&d->j, DEPTH_MAX);
	if (deep < d->j.len) {
		err_usage(e, "nested too deep");
		return document_refuse(d, deep, NULL, e);
	}
	json_error_t je;
	d->root = json_loadb(d->j.text, d->j.len, 0, &je);
	if (!d->root)
		return syntax_refuse(d->name, &d->j, &je, e);
	if (!json_is_object(d->root)) {
		err_usage(e, "%s is an object", what);
		return document_refuse(d, locate_start(&d->j), NULL, e);
	}
	return 0;
}

json_t *document_decode(const struct document *d, struct slice s)
{
	return json_loadb(d->j.text + s.at, s.end - s.at, JSON_DECODE_ANY, NULL);
}

/* The text of a string, or of {"encoding": "base64", "data": ...}, which json_text() writes for
 * bytes that are not UTF-8. */
int document_text(const json_t *value, struct arena *a, const char **text, struct err *e)
{
	const char *encoding = json_string_value(json_object_get(value, "encoding"));
	const json_t *data = json_object_get(value, "data");
	if (json_is_string(value)) {
		/* no NUL: jansson refused \u0000 when it read the document */
		*text = arena_strndup(a, json_string_value(value), json_string_length(value));
		return 0;
	}
	if (!encoding || strcmp(encoding, "base64") != 0 || !json_is_string(data) ||
	    json_object_size(value) != 2)
		return err_usage(e,
				 "a string belongs here (or {\"encoding\": \"base64\", \"data\": ...})");
	size_t len = json_string_length(data);
	char *decoded = arena_alloc(a, len + 1);
	len = base64_decode(json_string_value(data), len, decoded);
	if (len == (size_t)-1 || len == 0 || memchr(decoded, '\0', len))
		return err_usage(e, "the data are not base64, or empty, or hold a NUL");
	decoded[len] = '\0';
	*text = decoded;
	return 0;
}

static int refuse_type(const struct key *k, struct err *e)
{
	return err_usage(e, "wrong type; here belongs %s", belongs[k->type]);
}

/* Numbers go through the parser of the flags as they are spelled, so that no digit is lost. But 5.0
 * is the whole number 5 in JSON, and what some writers make of it. */
static int set_as_spelled(struct spec *s, const struct key *k, const struct document *d,
			  struct slice at, struct err *e)
{
	char *text = arena_strndup(s->arena, d->j.text + at.at, at.end - at.at);
	char *point = strchr(text, '.');
	if (point && strspn(point + 1, "0") == strlen(point + 1))
		*point = '\0';
	return value_set(s, k, text, e);
}

/* Whether its text may be any bytes, and so be written as base64. */
static bool holds_bytes(const struct key *k)
{
	return k->type == KEY_PATH || k->type == KEY_SINK || k->type == KEY_STDIN ||
	       k->type == KEY_WORKDIR;
}

static bool is_number(const struct key *k)
{
	return k->type == KEY_SIZE || k->type == KEY_RATE || k->type == KEY_TIME ||
	       k->type == KEY_COUNT || k->type == KEY_CPUS || k->type == KEY_UID ||
	       k->type == KEY_SLOTS;
}

static int set_scalar(struct spec *s, const struct key *k, const struct document *d,
		      struct slice at, struct err *e)
{
	autodecoded v = {document_decode(d, at)};
	const char *text = NULL;
	if (json_is_null(v.value) && (!k->initial || k->type == KEY_STDIN)) {
		value_clear(s, k);
		return 0;
	}
	if (json_is_boolean(v.value) ? k->type == KEY_BOOL : json_is_number(v.value) && is_number(k))
		return set_as_spelled(s, k, d, at, e);
	if (k->type == KEY_BOOL ||
	    !(json_is_string(v.value) || (json_is_object(v.value) && holds_bytes(k))))
		return refuse_type(k, e);
	if (document_text(v.value, s->arena, &text, e) < 0)
		return -1;
	return value_set(s, k, text, e);
}

/* Where the elements of an array go: a key that adds them up, or the words of the command. */
struct taker {
	const char *name;
	struct spec *s;
	const struct key *k; /* NULL: words */
	const char **words;
	size_t len;
};

static int take(struct taker *t, const json_t *value, struct err *e)
{
	const char *text = NULL;
	if (t->k && (t->k->type == KEY_REQUIRE || t->k->type == KEY_ALLOW) && !json_is_string(value))
		return err_usage(e, "a string belongs here");
	if (document_text(value, t->s->arena, &text, e) < 0)
		return -1;
	if (t->k)
		return value_set(t->s, t->k, text, e);
	t->words[t->len++] = text;
	return 0;
}

/* A complaint names the element's place. */
static int take_each(struct taker *t, const struct document *d, struct slice array, struct err *e)
{
	size_t at = array.at;
	struct member m;
	while (locate_next(&d->j, &at, &m)) {
		autodecoded v = {document_decode(d, m.value)};
		if (take(t, v.value, e) < 0)
			return document_refuse(d, m.value.at, t->name, e);
	}
	return 0;
}

static int set_command(struct spec *s, const struct document *d, struct slice at, struct err *e)
{
	autodecoded v = {document_decode(d, at)};
	if (!json_is_array(v.value)) {
		err_usage(e, "wrong type; here belongs an array of strings");
		return document_refuse(d, at.at, "command", e);
	}
	struct taker t = {.name = "command", .s = s};
	t.words = arena_alloc(s->arena, (json_array_size(v.value) + 1) * sizeof(*t.words));
	if (take_each(&t, d, at, e) < 0)
		return -1;
	return spec_set_command(s, t.words, t.len, e) < 0 ? document_refuse(d, at.at, NULL, e) : 0;
}

static int set_image(struct spec *s, const struct document *d, struct slice at, struct err *e)
{
	autodecoded v = {document_decode(d, at)};
	const char *text = NULL;
	if (document_text(v.value, s->arena, &text, e) < 0)
		return document_refuse(d, at.at, "image", e);
	return spec_set_image(s, text, e) < 0 ? document_refuse(d, at.at, NULL, e) : 0;
}

/* Its name for a message: "memory", "egress.bytes". */
static const char *label(const struct spec *s, const struct key *k)
{
	return k->object ? arena_printf(s->arena, "%s.%s", k->object, k->member) : k->name;
}

int document_set_key(struct spec *s, const struct key *k, const struct document *d, struct slice at,
		     struct err *e)
{
	struct taker t = {.name = label(s, k), .s = s, .k = k};
	if (key_repeatable(k) && d->j.text[at.at] == '[')
		return take_each(&t, d, at, e);
	if ((key_repeatable(k) ? refuse_type(k, e) : set_scalar(s, k, d, at, e)) < 0)
		return document_refuse(d, at.at, t.name, e);
	return 0;
}

/* image, command and the objects stand beside the rows of the table. */
enum { OBJECTS_MAX = 6, SEEN_OBJECT = 56, SEEN_IMAGE = 62, SEEN_COMMAND = 63, SEEN_NOTHING = -1 };

/* The bit of an object of that name, by the order in which the table first names them. */
static int object_bit(const char *name)
{
	const char *seen[OBJECTS_MAX];
	int len = 0;
	for (size_t i = 0; i < spec_keys_len; i++) {
		const char *object = spec_keys[i].object;
		if (!object || (len > 0 && strcmp(seen[len - 1], object) == 0) || len == OBJECTS_MAX)
			continue;
		if (strcmp(object, name) == 0)
			return SEEN_OBJECT + len;
		seen[len++] = object;
	}
	return SEEN_NOTHING;
}

/* What the name stands for in the object of that name, NULL: in the spec itself. *k is the row, if
 * it is one. */
static int key_bit(const char *object, const char *name, const struct key **k)
{
	*k = object ? key_find_member(object, name) : key_find(name);
	if (*k && !object && (*k)->object)
		*k = NULL;
	if (*k)
		return (int)(*k - spec_keys);
	if (object)
		return SEEN_NOTHING;
	if (key_find_member(name, NULL))
		return object_bit(name);
	if (strcmp(name, "image") == 0)
		return SEEN_IMAGE;
	return strcmp(name, "command") == 0 ? SEEN_COMMAND : SEEN_NOTHING;
}

static int refuse_unknown(const char *object, const char *name, enum members kind, struct err *e)
{
	if (kind != MEMBERS_SPEC && (strcmp(name, "image") == 0 || strcmp(name, "command") == 0))
		return err_usage(e, "%s is for each run to say", name);
	const struct key *k = key_find(name);
	const char *near = object ? NULL : key_nearest(name);
	if (k && k->object)
		return err_usage(e, "unknown key %s; it is written \"%s\": {\"%s\": ...}",
				 show(name).text, k->object, k->member);
	k = near ? key_find(near) : NULL;
	if (near && k && k->object)
		return err_usage(e, "unknown key %s; did you mean \"%s\": {\"%s\": ...}?",
				 show(name).text, k->object, k->member);
	if (near && (k || strcmp(near, "image") == 0 || strcmp(near, "command") == 0))
		return err_usage(e, "unknown key %s; did you mean \"%s\"?", show(name).text, near);
	return err_usage(e, "unknown key %s", show(name).text);
}

/* What is read, and where it goes. */
struct walk {
	struct spec *s;
	const struct document *d;
	uint64_t seen;
	enum members kind;
	const char *const *others; /* members that somebody else reads; NULL: none */
};

/* Numbers of which there can be too much; an id or a name is none. */
static bool has_ceiling(const struct key *k)
{
	return is_number(k) && k->type != KEY_UID && k->type != KEY_SLOTS;
}

/* Each member of the object at `at` with its bit; refused in both are what is unknown or was seen. */
static int set_members(struct walk *w, const char *object, size_t at, struct err *e);

static int set_known(struct walk *w, const struct key *k, int bit, const struct member *m,
		     struct err *e)
{
	if (k)
		return document_set_key(w->s, k, w->d, m->value, e);
	if (bit == SEEN_IMAGE || bit == SEEN_COMMAND)
		return (bit == SEEN_IMAGE ? set_image : set_command)(w->s, w->d, m->value, e);
	autodecoded name = {document_decode(w->d, m->key)};
	if (w->d->j.text[m->value.at] == '{')
		return set_members(w, json_string_value(name.value), m->value.at, e);
	err_usage(e, "wrong type; here belongs an object");
	return document_refuse(w->d, m->value.at, json_string_value(name.value), e);
}

static bool somebody_elses(const struct walk *w, const char *object, const char *name)
{
	const char *const *other = object ? NULL : w->others;
	while (other && *other && strcmp(*other, name) != 0)
		other++;
	return other && *other;
}

static int set_member(struct walk *w, const char *object, const struct member *m, struct err *e)
{
	autodecoded key = {document_decode(w->d, m->key)};
	const char *name = json_string_value(key.value) ? json_string_value(key.value) : "";
	const struct key *k;
	if (somebody_elses(w, object, name))
		return 0;
	int bit = key_bit(object, name, &k);
	if (w->kind != MEMBERS_SPEC && (bit == SEEN_IMAGE || bit == SEEN_COMMAND))
		bit = SEEN_NOTHING;
	if (w->kind == MEMBERS_CEILINGS && k && !has_ceiling(k)) {
		err_usage(e, "%s: there is no ceiling to this", label(w->s, k));
		return document_refuse(w->d, m->key.at, NULL, e);
	}
	if (bit == SEEN_NOTHING) {
		refuse_unknown(object, name, w->kind, e);
		return document_refuse(w->d, m->key.at, object, e);
	}
	if (w->seen & (1ULL << bit)) {
		err_usage(e, "%s: given twice", k ? label(w->s, k) : name);
		return document_refuse(w->d, m->key.at, NULL, e);
	}
	w->seen |= 1ULL << bit;
	return set_known(w, k, bit, m, e);
}

static int set_members(struct walk *w, const char *object, size_t at, struct err *e)
{
	struct member m;
	while (locate_next(&w->d->j, &at, &m)) {
		if (set_member(w, object, &m, e) < 0)
			return -1;
	}
	return 0;
}

int document_set_members(struct spec *s, const struct document *d, size_t at, enum members kind,
			 struct err *e)
{
	struct walk w = {.s = s, .d = d, .kind = kind};
	return set_members(&w, NULL, at, e);
}

int document_set_beside(struct spec *s, const struct document *d, size_t at,
			const char *const *others, struct err *e)
{
	struct walk w = {.s = s, .d = d, .kind = MEMBERS_SPEC, .others = others};
	return set_members(&w, NULL, at, e);
}

/* Where the result goes, and what it must not destroy there, is read first, as far as it can be:
 * see spec_read_argv(). */
static void set_early(struct spec *s, const struct document *d)
{
	for (size_t i = 0; i < spec_keys_len; i++) {
		const char *text = json_string_value(json_object_get(d->root, spec_keys[i].name));
		struct err later;
		if (key_is_early(&spec_keys[i]) && text)
			value_set(s, &spec_keys[i], text, &later);
	}
}

int spec_read_json(struct spec *s, const char *name, const char *text, size_t len, struct err *e)
{
	struct document d;
	document_init(&d, name, text, len);
	int done = document_parse(&d, "a spec", e);
	if (done == 0) {
		set_early(s, &d);
		done = document_set_members(s, &d, locate_start(&d.j), MEMBERS_SPEC, e);
	}
	json_decref(d.root);
	return done;
}

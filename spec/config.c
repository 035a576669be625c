/* Configuration files: what is so where nobody says otherwise, and what the host's owner lets
 * nobody say. The keys in them are those of the table, read by the reader of a spec (json.c). */
#include "spec/document.h"
#include "spec/parse.h"
#include "spec/spec.h"
#include "spec/value.h"

#include <limits.h>
#include <string.h>

enum { SENSITIVE_MAX = 1024 };

struct reading {
	struct spec *s;
	const struct document *d;
	enum origin who;
};

/* ---- the members ---- */

static int read_defaults(const struct reading *r, const struct member *m, struct err *e)
{
	if (r->d->j.text[m->value.at] != '{') {
		err_usage(e, "wrong type; here belongs an object");
		return document_refuse(r->d, m->value.at, "defaults", e);
	}
	return document_set_members(r->s, r->d, m->value.at, MEMBERS_DEFAULTS, e);
}

static int read_ceilings(const struct reading *r, const struct member *m, struct err *e)
{
	struct spec *most = arena_alloc(r->s->arena, sizeof(*most));
	if (r->d->j.text[m->value.at] != '{') {
		err_usage(e, "wrong type; here belongs an object");
		return document_refuse(r->d, m->value.at, "ceilings", e);
	}
	if (spec_init(most, r->s->arena, e) < 0 ||
	    document_set_members(most, r->d, m->value.at, MEMBERS_CEILINGS, e) < 0)
		return -1;
	r->s->rules.ceilings = most;
	return 0;
}

static int read_locked(const struct reading *r, const struct member *m, const char *name,
		       struct err *e)
{
	const struct key *k = key_find(name);
	if (document_set_key(r->s, k, r->d, m->value, e) < 0)
		return -1;
	r->s->rules.locked |= 1ULL << (k - spec_keys);
	return 0;
}

static int read_slots(const struct reading *r, const struct member *m, struct err *e)
{
	return read_locked(r, m, "slots", e);
}

static int read_slots_memory(const struct reading *r, const struct member *m, struct err *e)
{
	return read_locked(r, m, "slots-memory", e);
}

/* An absolute path: who reads it later stands elsewhere. */
static int read_path(const struct reading *r, struct slice at, const char **path, struct err *e)
{
	autodecoded v = {document_decode(r->d, at)};
	if (document_text(v.value, r->s->arena, path, e) < 0)
		return -1;
	if ((*path)[0] != '/')
		return err_usage(e, "%s is not an absolute path", show(*path).text);
	if (strlen(*path) >= PATH_MAX)
		return err_usage(e, "the path is too long (%zu bytes; the kernel takes %d)",
				 strlen(*path), PATH_MAX - 1);
	return 0;
}

static int read_audit(const struct reading *r, const struct member *m, struct err *e)
{
	autodecoded v = {document_decode(r->d, m->value)};
	const char *text = json_string_value(v.value);
	if (text && strcmp(text, "syslog") == 0)
		r->s->rules.audit = "syslog";
	else if (read_path(r, m->value, &r->s->rules.audit, e) < 0)
		return document_refuse(r->d, m->value.at, "audit", e);
	return 0;
}

/* Those of both files count: one more only takes away. */
static int read_input_base(const struct reading *r, const struct member *m, struct err *e)
{
	const char **bases = r->s->rules.input_bases;
	if (read_path(r, m->value, &bases[bases[0] != NULL], e) < 0)
		return document_refuse(r->d, m->value.at, "input-base", e);
	return 0;
}

static size_t count_elements(const struct reading *r, size_t at)
{
	size_t count = 0;
	for (struct member m; locate_next(&r->d->j, &at, &m);)
		count++;
	return count;
}

/* Those of both files count. */
static int read_sensitive(const struct reading *r, const struct member *m, struct err *e)
{
	struct rules *rules = &r->s->rules;
	const bool is_array = r->d->j.text[m->value.at] == '[';
	const size_t more = is_array ? count_elements(r, m->value.at) : 0;
	if (!is_array || rules->sensitive_len + more > SENSITIVE_MAX) {
		err_usage(e, "here belongs an array of absolute paths, %d at most", SENSITIVE_MAX);
		return document_refuse(r->d, m->value.at, "sensitive-paths", e);
	}
	const char **all = arena_alloc(r->s->arena, (rules->sensitive_len + more + 1) * sizeof(*all));
	if (rules->sensitive_len)
		memcpy(all, rules->sensitive, rules->sensitive_len * sizeof(*all));
	rules->sensitive = all;
	size_t at = m->value.at;
	for (struct member one; locate_next(&r->d->j, &at, &one); rules->sensitive_len++)
		if (read_path(r, one.value, &all[rules->sensitive_len], e) < 0)
			return document_refuse(r->d, one.value.at, "sensitive-paths", e);
	return 0;
}

static const struct {
	const char *name;
	int (*read)(const struct reading *r, const struct member *m, struct err *e);
	bool user; /* the user's file may have it too */
} members[] = {
	{"defaults", read_defaults, true},
	{"ceilings", read_ceilings, false}, /* else a user lifts them */
	{"slots", read_slots, false},	    /* the user says it in defaults */
	{"slots-memory", read_slots_memory, false},
	{"audit", read_audit, false},		   /* the same */
	{"input-base", read_input_base, true},	   /* inputs must lie in both files' */
	{"sensitive-paths", read_sensitive, true}, /* more of them only takes away */
};

enum { MEMBERS = sizeof(members) / sizeof(*members) };

/* Its row, MEMBERS for none and *e. */
static unsigned find_member(const struct reading *r, const char *name, unsigned seen, struct err *e)
{
	unsigned i = 0;
	while (i < MEMBERS && strcmp(members[i].name, name) != 0)
		i++;
	if (i == MEMBERS && key_find(name))
		err_usage(e, "unknown member %s; a key is written \"defaults\": {\"%s\": ...}",
			  show(name).text, name);
	else if (i == MEMBERS)
		err_usage(e, "unknown member %s", show(name).text);
	else if (seen >> i & 1)
		err_usage(e, "%s: given twice", name);
	else if (r->who != ORIGIN_HOST && !members[i].user)
		err_usage(e, "%s: this is the host's to say, in /etc/pinfold/config.json", name);
	else
		return i;
	return MEMBERS;
}

static int read_members(const struct reading *r, struct err *e)
{
	unsigned seen = 0;
	size_t at = locate_start(&r->d->j);
	for (struct member m; locate_next(&r->d->j, &at, &m);) {
		autodecoded key = {document_decode(r->d, m.key)};
		const char *name = json_string_value(key.value) ? json_string_value(key.value) : "";
		const unsigned i = find_member(r, name, seen, e);
		if (i == MEMBERS)
			return document_refuse(r->d, m.key.at, NULL, e);
		seen |= 1U << i;
		if (members[i].read(r, &m, e) < 0)
			return -1;
	}
	return 0;
}

int spec_read_config(struct spec *s, const struct config_text *from, struct err *e)
{
	struct document d;
	const struct reading r = {s, &d, from->who};
	const char *name = arena_strdup(s->arena, from->name);
	document_init(&d, from->name, from->text, from->len);
	if (from->who == ORIGIN_HOST)
		s->rules.host_file = name;
	else
		s->rules.user_file = name;
	s->speaking = from->who;
	int done = document_parse(&d, "a configuration", e);
	if (done == 0)
		done = read_members(&r, e);
	json_decref(d.root);
	return done;
}

/* ---- ceilings ---- */

static uint64_t number_of(const struct spec *s, const struct key *k)
{
	return *(const uint64_t *)((const char *)s + k->offset);
}

/* Not given, it becomes 1024, or 256 with a single id (see keys.c): at most the smaller will do for both. */
static uint64_t lowered_nofile(uint64_t most)
{
	enum { LEAST = 256, USUAL = 1024 };
	return most >= USUAL ? 0 : most < LEAST ? most : LEAST;
}

static int apply_ceiling(struct spec *s, const struct key *k, struct err *e)
{
	const uint64_t most = number_of(s->rules.ceilings, k), value = number_of(s, k);
	const enum origin who = (enum origin)s->origins[k - spec_keys];
	char value_text[PARSE_TEXT_BYTES], most_text[PARSE_TEXT_BYTES];
	if (!k->initial && value == 0) {
		value_lower(s, k, lowered_nofile(most));
		return 0;
	}
	if (value <= most)
		return 0;
	if (who == ORIGIN_DEFAULT || who == ORIGIN_HOST) {
		value_lower(s, k, most);
		return 0;
	}
	value_format(k, value, value_text);
	value_format(k, most, most_text);
	return err_usage(e, "%s %s (%s) is more than the host allows: %s in %s", k->name,
			 value_text, origin_name(who), most_text, s->rules.host_file);
}

int spec_apply_ceilings(struct spec *s, struct err *e)
{
	for (size_t i = 0; s->rules.ceilings && i < spec_keys_len; i++)
		if (s->rules.ceilings->given >> i & 1 && apply_ceiling(s, &spec_keys[i], e) < 0)
			return -1;
	return 0;
}

const char *origin_name(enum origin who)
{
	static const char *const names[ORIGIN_COUNT] = {
		[ORIGIN_DEFAULT] = "default", [ORIGIN_HOST] = "host", [ORIGIN_USER] = "user",
		[ORIGIN_FILE] = "spec file",  [ORIGIN_FLAG] = "flag",
	};
	return names[who];
}

#include "pipeline/reading.h"

#include "spec/parse.h"

#include <stdlib.h>
#include <string.h>

int reading_refuse(const struct reading *r, size_t at, const char *key, struct err *e)
{
	e->kind = ERR_USAGE;
	return document_refuse(&r->d, at, key, e);
}

static int wrong_type(const struct reading *r, const struct place *p, const char *belongs,
		      struct err *e)
{
	err_usage(e, "wrong type; here belongs %s", belongs);
	return reading_refuse(r, p->value.at, p->name, e);
}

/* ---- objects and arrays ---- */

static struct place place_of(struct reading *r, const struct member *m, const char *array)
{
	autodecoded name = {document_decode(&r->d, m->key)};
	const char *text = json_string_value(name.value);
	const bool member = m->key.end > m->key.at;
	return (struct place){.value = m->value,
			      .name_at = member ? m->key.at : m->value.at,
			      .name = member ? arena_strdup(r->job->arena, text ? text : "") : array};
}

/* The row of that name; rows whose name is NULL: none. */
static const struct job_member *find_row(const struct job_member *rows, const char *name)
{
	while (rows->name && strcmp(rows->name, name) != 0)
		rows++;
	return rows;
}

int reading_member(struct reading *r, const struct job_member *row, const struct place *p,
		   void *into, struct err *e)
{
	return row->read(r, p, (char *)into + row->offset, e);
}

int reading_object(struct reading *r, const struct place *p, const struct job_member *rows,
		   void *into, struct err *e)
{
	size_t at = p->value.at;
	uint64_t seen = 0;
	if (r->d.j.text[at] != '{')
		return wrong_type(r, p, "an object", e);
	for (struct member m; locate_next(&r->d.j, &at, &m);) {
		const struct place inner = place_of(r, &m, NULL);
		const struct job_member *row = find_row(rows, inner.name);
		const uint64_t bit = 1ULL << (row - rows);
		if (!row->name || seen & bit) {
			err_usage(e, row->name ? "%s: given twice" : "unknown member %s",
				  show(inner.name).text);
			return reading_refuse(r, inner.name_at, p->name, e);
		}
		seen |= bit;
		if (row->read && reading_member(r, row, &inner, into, e) < 0)
			return -1;
	}
	return 0;
}

size_t reading_count(const struct reading *r, const struct place *p)
{
	size_t at = p->value.at, count = 0;
	for (struct member m; locate_next(&r->d.j, &at, &m);)
		count++;
	return count;
}

/* Whether a member above the one at inner has its name. */
static bool stands_twice(struct reading *r, const struct place *p, const struct place *inner)
{
	size_t at = p->value.at;
	for (struct member m; locate_next(&r->d.j, &at, &m);) {
		const struct place before = place_of(r, &m, NULL);
		if (before.name_at == inner->name_at)
			break;
		if (strcmp(before.name, inner->name) == 0)
			return true;
	}
	return false;
}

int reading_each(struct reading *r, const struct place *p, char bracket,
		 const struct reading_each *each, struct err *e)
{
	size_t at = p->value.at;
	if (r->d.j.text[at] != bracket)
		return wrong_type(r, p, bracket == '{' ? "an object" : "an array", e);
	const size_t count = reading_count(r, p);
	if (count == 0 || count > each->most) {
		err_usage(e, count ? "there are %zu at most" : "it is empty", each->most);
		return reading_refuse(r, p->value.at, p->name, e);
	}
	for (struct member m; locate_next(&r->d.j, &at, &m);) {
		const struct place inner = place_of(r, &m, p->name);
		if (bracket == '{' && stands_twice(r, p, &inner)) {
			err_usage(e, "%s: given twice", show(inner.name).text);
			return reading_refuse(r, inner.name_at, NULL, e);
		}
		if (each->read(r, &inner, each->into, e) < 0)
			return -1;
	}
	return 0;
}

/* ---- values ---- */

int reading_text(struct reading *r, const struct place *p, const char **text, struct err *e)
{
	autodecoded v = {document_decode(&r->d, p->value)};
	if (document_text(v.value, r->job->arena, text, e) < 0)
		return reading_refuse(r, p->value.at, p->name, e);
	if (**text)
		return 0;
	err_usage(e, "it is empty");
	return reading_refuse(r, p->value.at, p->name, e);
}

int reading_bool(struct reading *r, const struct place *p, bool *value, struct err *e)
{
	autodecoded v = {document_decode(&r->d, p->value)};
	if (!json_is_boolean(v.value))
		return wrong_type(r, p, "true or false", e);
	*value = json_is_true(v.value);
	return 0;
}

int reading_number(struct reading *r, const struct place *p, double *value, struct err *e)
{
	autodecoded v = {document_decode(&r->d, p->value)};
	if (!json_is_number(v.value))
		return wrong_type(r, p, "a number", e);
	*value = json_number_value(v.value);
	return 0;
}

/* As it is spelled, or the text of a string. */
static const char *spelled(struct reading *r, const struct place *p)
{
	autodecoded v = {document_decode(&r->d, p->value)};
	if (json_is_string(v.value))
		return arena_strdup(r->job->arena, json_string_value(v.value));
	return json_is_number(v.value) ? arena_strndup(r->job->arena, r->d.j.text + p->value.at,
						       p->value.end - p->value.at)
				       : NULL;
}

int reading_size(struct reading *r, const struct place *p, uint64_t *bytes, struct err *e)
{
	const char *text = spelled(r, p);
	uint64_t value = 0;
	if (!text)
		return wrong_type(r, p, "a size: \"64M\" or a number of bytes", e);
	if (spec_parse_size(text, &value, e) == 0 && (value == 0 || value > PARSE_MAX))
		err_usage(e, "%s is no size that makes sense here", show(text).text);
	else if (e->kind == ERR_NONE) {
		*bytes = value;
		return 0;
	}
	return reading_refuse(r, p->value.at, p->name, e);
}

int reading_time(struct reading *r, const struct place *p, uint64_t *ns, struct err *e)
{
	autodecoded v = {document_decode(&r->d, p->value)};
	uint64_t value = 0;
	if (!json_is_string(v.value))
		return wrong_type(r, p, "a time: \"500ms\", \"2s\"", e);
	if (spec_parse_time(json_string_value(v.value), &value, e) == 0 &&
	    (value == 0 || value > PARSE_MAX))
		err_usage(e, "here belongs a time that is not 0");
	else if (e->kind == ERR_NONE) {
		*ns = value;
		return 0;
	}
	return reading_refuse(r, p->value.at, p->name, e);
}

int reading_files(struct reading *r, const struct place *p, uint64_t *count, struct err *e)
{
	const char *text = spelled(r, p);
	uint64_t value = 0;
	if (!text)
		return wrong_type(r, p, "a number", e);
	if (spec_parse_count(text, &value, e) == 0 && (value == 0 || value > ARTIFACT_FILES_MAX))
		err_usage(e, "it is at least 1 and at most %d", ARTIFACT_FILES_MAX);
	else if (e->kind == ERR_NONE) {
		*count = value;
		return 0;
	}
	return reading_refuse(r, p->value.at, p->name, e);
}

int reading_word(struct reading *r, const struct place *p, const char *const *words, int *word,
		 struct err *e)
{
	autodecoded v = {document_decode(&r->d, p->value)};
	const char *text = json_string_value(v.value);
	char all[128] = "";
	for (int i = 0; words[i]; i++) {
		if (text && strcmp(words[i], text) == 0) {
			*word = i;
			return 0;
		}
		strncat(all, i ? ", " : "", sizeof(all) - strlen(all) - 1);
		strncat(all, words[i], sizeof(all) - strlen(all) - 1);
	}
	if (text)
		err_usage(e, "%s is not one of %s", show(text).text, all);
	else
		err_usage(e, "wrong type; here belongs one of %s", all);
	return reading_refuse(r, p->value.at, p->name, e);
}

bool reading_is_name(const char *text)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
	const size_t len = strlen(text);
	return len > 0 && len <= JOB_NAME_MAX && strchr(letters, text[0]) &&
	       strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_-") == len;
}

struct strings {
	const char **list;
	size_t len;
};

static int read_string(struct reading *r, const struct place *p, void *into, struct err *e)
{
	struct strings *s = into;
	autodecoded v = {document_decode(&r->d, p->value)};
	if (!json_is_string(v.value))
		return wrong_type(r, p, "a string", e);
	s->list[s->len++] = arena_strdup(r->job->arena, json_string_value(v.value));
	return 0;
}

int reading_strings(struct reading *r, const struct place *p, const char ***list, struct err *e)
{
	struct strings s = {
		.list = arena_alloc(r->job->arena, (reading_count(r, p) + 1) * sizeof(*s.list))};
	const struct reading_each each = {read_string, &s, JOB_WORDS_MAX};
	if (r->d.j.text[p->value.at] == '[' && reading_count(r, p) == 0) {
		*list = s.list;
		return 0;
	}
	if (reading_each(r, p, '[', &each, e) < 0)
		return -1;
	*list = s.list;
	return 0;
}

int reading_value(struct reading *r, const struct place *p, const char **text, struct err *e)
{
	autodecoded v = {document_decode(&r->d, p->value)};
	*text = json_is_boolean(v.value) ? (json_is_true(v.value) ? "true" : "false") : spelled(r, p);
	return *text ? 0 : wrong_type(r, p, "a string, a number, true or false", e);
}

/* ---- fields of a table ---- */

int member_text(struct reading *r, const struct place *p, void *field, struct err *e)
{
	return reading_text(r, p, field, e);
}

int member_strings(struct reading *r, const struct place *p, void *field, struct err *e)
{
	return reading_strings(r, p, field, e);
}

int member_bool(struct reading *r, const struct place *p, void *field, struct err *e)
{
	return reading_bool(r, p, field, e);
}

int member_size(struct reading *r, const struct place *p, void *field, struct err *e)
{
	return reading_size(r, p, field, e);
}

int member_time(struct reading *r, const struct place *p, void *field, struct err *e)
{
	return reading_time(r, p, field, e);
}

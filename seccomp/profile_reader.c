#include "seccomp/profile_reader.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- errors ---- */

static bool key_is(const struct json_text *j, struct slice key, const char *name)
{
	size_t len = strlen(name);
	return key.end - key.at == len + 2 && memcmp(j->text + key.at + 1, name, len) == 0;
}

/* The place in the text of what path names; as deep as it can be followed. */
static size_t find_place(const struct json_text *j, const struct place *path, size_t depth)
{
	size_t at = locate_start(j);
	for (size_t i = 0; i < depth; i++) {
		struct member m;
		size_t walk = at, n = 0;
		bool found = false;
		while (!found && locate_next(j, &walk, &m))
			found = path[i].key ? key_is(j, m.key, path[i].key) : n++ == path[i].index;
		if (!found)
			break;
		at = m.value.at;
	}
	return at;
}

void profile_row_position(const struct profile *p, const struct profile_row *row, size_t *line,
			  size_t *column)
{
	const struct place path[] = {{.key = "syscalls"}, {.index = row->index}};
	locate_position(&p->text, find_place(&p->text, path, 2), line, column);
}

int reader_refuse(struct reader *rd, const char *fmt, ...)
{
	char what[160];
	size_t line, column;
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	locate_position(&rd->p->text, find_place(&rd->p->text, rd->path, rd->depth), &line, &column);
	return err_usage(rd->err, "%s:%zu:%zu: %s", rd->p->name, line, column, what);
}

void reader_enter_key(struct reader *rd, const char *key)
{
	rd->path[rd->depth++] = (struct place){.key = key};
}

void reader_enter_element(struct reader *rd, size_t index)
{
	rd->path[rd->depth++] = (struct place){.index = index};
}

void reader_leave(struct reader *rd)
{
	rd->depth--;
}

int reader_refuse_key(struct reader *rd, const char *key, const char *what)
{
	reader_enter_key(rd, key);
	return reader_refuse(rd, "%s: %s", key, what);
}

/* ---- values ---- */

/* Every key of the object is one of these; others are refused by name if that is fit to print. */
int reader_check_keys(struct reader *rd, json_t *object, const char *const *known)
{
	const char *key;
	json_t *value;
	json_object_foreach(object, key, value)
	{
		bool found = false;
		for (size_t i = 0; known[i]; i++)
			found = found || strcmp(known[i], key) == 0;
		if (!found && strspn(key, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_") ==
				      strlen(key))
			return reader_refuse_key(rd, key, "unknown key");
		if (!found)
			return reader_refuse(rd, "an unknown key");
	}
	return 0;
}

/* The member, or NULL if it is absent or null. -1 if it is of another type. */
int reader_get(struct reader *rd, json_t *object, const char *key, json_type type, json_t **value)
{
	static const char *const types[] = {
		[JSON_OBJECT] = "an object",
		[JSON_ARRAY] = "an array",
		[JSON_STRING] = "a string",
		[JSON_INTEGER] = "a whole number below 2^63",
	};
	*value = json_object_get(object, key);
	if (json_is_null(*value))
		*value = NULL;
	if (*value && json_typeof(*value) != type) {
		char what[48];
		snprintf(what, sizeof(what), "%s belongs there", types[type]);
		return reader_refuse_key(rd, key, what);
	}
	return 0;
}

int reader_get_text(struct reader *rd, json_t *object, const char *key, const char **text)
{
	json_t *value;
	if (reader_get(rd, object, key, JSON_STRING, &value) < 0)
		return -1;
	*text = value ? json_string_value(value) : NULL;
	return 0;
}

/* -1 if it is not there. */
int reader_get_number(struct reader *rd, json_t *object, const char *key, int64_t *number)
{
	json_t *value;
	if (reader_get(rd, object, key, JSON_INTEGER, &value) < 0)
		return -1;
	*number = value ? json_integer_value(value) : -1;
	if (value && *number < 0)
		return reader_refuse_key(rd, key, "a number below zero");
	return 0;
}

/* An array of strings, given to fn one by one with the place entered. */
int reader_for_texts(struct reader *rd, json_t *object, const char *key,
		     int (*fn)(struct reader *, const char *, void *), void *ctx)
{
	json_t *array, *value;
	size_t i;
	if (reader_get(rd, object, key, JSON_ARRAY, &array) < 0)
		return -1;
	reader_enter_key(rd, key);
	json_array_foreach(array, i, value)
	{
		reader_enter_element(rd, i);
		if (!json_is_string(value))
			return reader_refuse(rd, "%s: strings belong there", key);
		if (fn(rd, json_string_value(value), ctx) < 0)
			return -1;
		reader_leave(rd);
	}
	reader_leave(rd);
	return 0;
}

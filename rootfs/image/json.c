#include "rootfs/image/json.h"

#include "spec/locate.h"
#include "spec/syntax.h"

#include <string.h>
#include <strings.h>

/* Brackets and commas outside strings: no text has more values than that and one. */
static size_t count_values(struct json_bytes bytes)
{
	size_t count = 1;
	bool quoted = false;
	for (size_t i = 0; i < bytes.len; i++) {
		char c = bytes.text[i];
		if (c == '"')
			quoted = !quoted;
		else if (quoted && c == '\\')
			i++;
		else if (!quoted && (c == ',' || c == '[' || c == '{' || c == ':'))
			count++;
	}
	return count;
}

static int check_bounds(const char *name, struct json_bytes bytes, struct err *e)
{
	const struct json_text text = {.text = bytes.text, .len = bytes.len};
	if (bytes.len > JSON_BYTES_MAX)
		return err_usage(e, "%s: too large (%zu bytes; the most is %d)", name, bytes.len,
				 JSON_BYTES_MAX);
	size_t deep = locate_too_deep(&text, JSON_DEPTH_MAX);
	if (deep < text.len) {
		size_t line, column;
		locate_position(&text, deep, &line, &column);
		return err_usage(e, "%s:%zu:%zu: nested deeper than %d", name, line, column,
				 JSON_DEPTH_MAX);
	}
	if (count_values(bytes) > JSON_VALUES_MAX)
		return err_usage(e, "%s: more than %d values", name, JSON_VALUES_MAX);
	return 0;
}

json_t *json_read(const char *name, struct json_bytes bytes, struct err *e)
{
	const struct json_text text = {.text = bytes.text, .len = bytes.len};
	json_error_t found;
	if (check_bounds(name, bytes, e) < 0)
		return NULL;
	json_t *root = json_loadb(bytes.text, bytes.len, JSON_REJECT_DUPLICATES, &found);
	if (!root) {
		syntax_refuse(name, &text, &found, e);
		return NULL;
	}
	if (!json_is_object(root)) {
		json_decref(root);
		err_usage(e, "%s:1:1: an object belongs here, in braces", name);
		return NULL;
	}
	return root;
}

static int check_spelling(json_t *object, const char *key, struct err *e)
{
	const char *other;
	json_t *value;
	json_object_foreach(object, other, value)
	{
		if (strcasecmp(other, key) == 0 && strcmp(other, key) != 0)
			return err_usage(e, "a key that differs from %s in case only", key);
	}
	return 0;
}

int json_member(json_t *object, const char *key, json_type type, json_t **value, struct err *e)
{
	static const char *const types[] = {
		[JSON_OBJECT] = "an object",
		[JSON_ARRAY] = "an array",
		[JSON_STRING] = "a text",
		[JSON_INTEGER] = "a whole number",
	};
	json_t *got = json_object_get(object, key);
	if (check_spelling(object, key, e) < 0)
		return -1;
	if (json_is_null(got))
		got = NULL;
	if (got && json_typeof(got) != type)
		return err_usage(e, "%s: %s belongs there", key, types[type]);
	*value = got;
	return 0;
}

int json_member_text(json_t *object, const char *key, const char **text, struct err *e)
{
	json_t *value = NULL;
	if (json_member(object, key, JSON_STRING, &value, e) < 0)
		return -1;
	*text = json_string_value(value);
	return 0;
}

int json_member_size(json_t *object, const char *key, uint64_t *size, struct err *e)
{
	json_t *value = NULL;
	if (json_member(object, key, JSON_INTEGER, &value, e) < 0)
		return -1;
	if (!value || json_integer_value(value) < 0)
		return err_usage(e, "%s: a whole number from 0 on belongs there", key);
	*size = (uint64_t)json_integer_value(value);
	return 0;
}

int json_member_texts(json_t *object, const char *key, struct arena *a, struct json_texts *texts,
		      struct err *e)
{
	json_t *array = NULL, *value;
	size_t i;
	if (json_member(object, key, JSON_ARRAY, &array, e) < 0)
		return -1;
	if (json_array_size(array) > JSON_TEXTS_MAX)
		return err_usage(e, "%s: more than %d", key, JSON_TEXTS_MAX);
	struct json_texts got = {.list = NULL, .len = json_array_size(array)};
	if (!array) {
		*texts = got;
		return 0;
	}
	got.list = arena_alloc(a, (got.len + 1) * sizeof(*got.list));
	json_array_foreach(array, i, value)
	{
		if (!json_is_string(value))
			return err_usage(e, "%s: texts belong there", key);
		got.list[i] = arena_strndup(a, json_string_value(value), json_string_length(value));
	}
	*texts = got;
	return 0;
}

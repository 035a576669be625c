#include "spec/list.h"

#include "spec/parse.h"

#include <stdio.h>
#include <string.h>

/* ---- require, accept ---- */

int list_set_require(struct spec *s, const struct key *k, const char *text, struct err *e)
{
	uint64_t *field = value_field(s, k), bits = 0;
	for (const char *at = text;;) {
		char name[32];
		size_t len = strcspn(at, ",");
		snprintf(name, sizeof(name), "%.*s", (int)(len < 31 ? len : 31), at);
		uint64_t set = guarantee_set(name);
		if (!set)
			return err_usage(e,
					 "%s is no guarantee; names are as in the result, cgroup or all",
					 show(name).text);
		bits |= set;
		if (!at[len])
			break;
		at += len + 1;
	}
	*field |= bits;
	return 0;
}

void list_write_require(const struct spec *s, const struct key *k, struct json_writer *w)
{
	const uint64_t *field = value_field_of(s, k);
	json_begin(w, key_member(k), '[');
	for (int i = 0; i < G_COUNT; i++) {
		if (*field & (1ULL << i))
			json_text(w, NULL, guarantee_name((enum guarantee_id)i));
	}
	json_end(w, '[');
}

void list_clear_require(struct spec *s, const struct key *k)
{
	*(uint64_t *)value_field(s, k) = 0;
}

/* ---- allow ---- */

int list_set_allow(struct spec *s, const struct key *k, const char *text, struct err *e)
{
	return egress_list_add(value_field(s, k), text, s->arena, e);
}

void list_write_allow(const struct spec *s, const struct key *k, struct json_writer *w)
{
	const struct egress_list *list = value_field_of(s, k);
	json_begin(w, key_member(k), '[');
	for (size_t i = 0; i < list->len; i++)
		json_text(w, NULL, list->rules[i].text);
	json_end(w, '[');
}

void list_clear_allow(struct spec *s, const struct key *k)
{
	memset(value_field(s, k), 0, sizeof(struct egress_list));
}

/* ---- inputs and artifacts ---- */

int list_set_input(struct spec *s, const struct key *k, const char *text, struct err *e)
{
	return input_list_add(value_field(s, k), text, k->type == KEY_INPUT_RO, s->arena, e);
}

void list_write_input(const struct spec *s, const struct key *k, struct json_writer *w)
{
	const struct input_list *list = value_field_of(s, k);
	json_begin(w, key_member(k), '[');
	for (size_t i = 0; i < list->len; i++)
		if (list->inputs[i].read_only == (k->type == KEY_INPUT_RO))
			json_text(w, NULL, list->inputs[i].text);
	json_end(w, '[');
}

/* Both keys have one list, for the order's sake: those of the other one stay. */
void list_clear_input(struct spec *s, const struct key *k)
{
	struct input_list *list = value_field(s, k);
	size_t kept = 0;
	for (size_t i = 0; i < list->len; i++)
		if (list->inputs[i].read_only != (k->type == KEY_INPUT_RO))
			list->inputs[kept++] = list->inputs[i];
	list->len = kept;
}

int list_set_artifact(struct spec *s, const struct key *k, const char *text, struct err *e)
{
	return artifact_list_add(value_field(s, k), text, s->arena, e);
}

void list_write_artifact(const struct spec *s, const struct key *k, struct json_writer *w)
{
	const struct artifact_list *list = value_field_of(s, k);
	json_begin(w, key_member(k), '[');
	for (size_t i = 0; i < list->len; i++)
		json_text(w, NULL, list->rules[i].text);
	json_end(w, '[');
}

void list_clear_artifact(struct spec *s, const struct key *k)
{
	memset(value_field(s, k), 0, sizeof(struct artifact_list));
}

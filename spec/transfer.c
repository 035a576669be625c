#include "spec/transfer.h"

#include "spec/parse.h"
#include "spec/spec.h"

#include <limits.h>
#include <string.h>

static const char *const type_names[ARTIFACT_TYPE_COUNT] = {
	[ARTIFACT_ANY] = "any",	  [ARTIFACT_JSON] = "json", [ARTIFACT_CSV] = "csv",
	[ARTIFACT_TEXT] = "text", [ARTIFACT_PNG] = "png",   [ARTIFACT_ELF] = "elf",
	[ARTIFACT_TREE] = "tree",
};

const char *artifact_type_name(enum artifact_type type)
{
	return type_names[type];
}

/* A relative path of plain components; *count is how many. */
static bool plain_path(const char *path, size_t *count)
{
	*count = 0;
	if (strlen(path) >= PATH_MAX)
		return false;
	for (const char *at = path;; at++) {
		const size_t len = strcspn(at, "/");
		if (len == 0 || len > NAME_MAX || strncmp(at, "..", len > 2 ? len : 2) == 0 ||
		    (len == 1 && *at == '.'))
			return false;
		++*count;
		at += len;
		if (!*at)
			return true;
	}
}

/* Room doubles; what stood in the smaller one stays the arena's. */
static void *grown(const void *old, size_t len, size_t *room, size_t size, struct arena *a)
{
	if (len < *room)
		return (void *)(uintptr_t)old;
	*room = *room ? *room * 2 : 8;
	void *more = arena_alloc(a, *room * size);
	if (len > 0)
		memcpy(more, old, len * size);
	return more;
}

/* ---- inputs ---- */

/* The last component of the source, slashes at its end apart. */
static const char *base_name(const char *source, struct arena *a)
{
	size_t end = strlen(source);
	while (end > 0 && source[end - 1] == '/')
		end--;
	size_t begin = end;
	while (begin > 0 && source[begin - 1] != '/')
		begin--;
	return arena_strndup(a, source + begin, end - begin);
}

const char *input_name(const struct input *in)
{
	const char *slash = strrchr(in->target, '/');
	return slash ? slash + 1 : in->target;
}

int input_list_add(struct input_list *list, const char *text, bool read_only, struct arena *a,
		   struct err *e)
{
	const char *colon = strrchr(text, ':');
	struct input in = {.read_only = read_only};
	size_t components;
	if (list->len == INPUTS_MAX)
		return err_usage(e, "%s: there are %d inputs at most", show(text).text, INPUTS_MAX);
	in.text = arena_strdup(a, text);
	in.source = colon ? arena_strndup(a, text, (size_t)(colon - text)) : in.text;
	in.target = colon ? arena_strdup(a, colon + 1) : base_name(in.source, a);
	if (!*in.source || strlen(in.source) >= PATH_MAX)
		return err_usage(e, "%s: the source is %s", show(text).text,
				 *in.source ? "longer than any path" : "missing");
	if (strcmp(in.target, ".") != 0 && !plain_path(in.target, &components))
		return err_usage(e,
				 colon ? "%s: the destination is no relative path without . and .. (SRC:DST)"
				       : "%s: it has no name of its own; write SRC:DST",
				 show(text).text);
	list->inputs = grown(list->inputs, list->len, &list->room, sizeof(in), a);
	list->inputs[list->len++] = in;
	return 0;
}

/* "a" and "a/b", not "a" and "ab". "." may hold others: its contents meet them or do not. */
static bool nested(const char *outer, const char *inner)
{
	const size_t len = strlen(outer);
	return strncmp(outer, inner, len) == 0 && (inner[len] == '/' || inner[len] == '\0');
}

int input_lists_check(const struct input_list *list, struct err *e)
{
	for (size_t i = 0; i < list->len; i++) {
		for (size_t j = 0; j < i; j++) {
			const struct input *x = &list->inputs[j], *y = &list->inputs[i];
			if (x->read_only == y->read_only &&
			    (nested(x->target, y->target) || nested(y->target, x->target)))
				return err_usage(e,
						 "inputs %s and %s have one destination, or one in the other",
						 show(x->text).text, show(y->text).text);
		}
	}
	return 0;
}

/* ---- artifacts ---- */

static int take_type(struct artifact_rule *r, const char *word, struct err *e)
{
	for (int t = 0; t < ARTIFACT_TYPE_COUNT; t++) {
		if (strcmp(word, type_names[t]) == 0) {
			r->type = (enum artifact_type)t;
			return 0;
		}
	}
	return err_usage(e, "type %s is not one of json, csv, text, png, elf, tree, any",
			 show(word).text);
}

static int take_max(struct artifact_rule *r, const char *word, struct err *e)
{
	uint64_t bytes = 0;
	if (spec_parse_size(word, &bytes, e) < 0)
		return -1;
	if (bytes > PARSE_MAX)
		return err_usage(e, "max cannot be lifted; write a size");
	r->max_bytes = bytes;
	return 0;
}

static int take_files(struct artifact_rule *r, const char *word, struct err *e)
{
	uint64_t count = 0;
	if (spec_parse_count(word, &count, e) < 0)
		return -1;
	if (count == 0 || count > ARTIFACT_FILES_MAX)
		return err_usage(e, "files is at least 1 and at most %d", ARTIFACT_FILES_MAX);
	r->max_files = count;
	return 0;
}

static int take_option(struct artifact_rule *r, const char *option, struct err *e)
{
	if (strcmp(option, "required") == 0) {
		r->required = true;
		return 0;
	}
	if (strncmp(option, "max=", 4) == 0)
		return take_max(r, option + 4, e);
	if (strncmp(option, "type=", 5) == 0)
		return take_type(r, option + 5, e);
	if (strncmp(option, "files=", 6) == 0)
		return take_files(r, option + 6, e);
	if (strncmp(option, "schema=", 7) == 0 && option[7]) {
		r->schema = option + 7;
		return 0;
	}
	return err_usage(e,
			 "%s is not one of max=SIZE, type=TYPE, schema=FILE, files=NUMBER, required",
			 show(option).text);
}

static int read_rule(struct artifact_rule *r, const char *text, struct arena *a, struct err *e)
{
	char *copy = arena_strdup(a, text), *next;
	size_t components;
	*r = (struct artifact_rule){.text = arena_strdup(a, text), .max_bytes = ARTIFACT_MAX_DEFAULT};
	r->path = copy;
	for (char *at = strchr(copy, ':'); at; at = next) {
		*at++ = '\0';
		next = strchr(at, ':');
		if (next)
			*next = '\0';
		if (take_option(r, at, e) < 0)
			return -1;
	}
	if (!plain_path(r->path, &components) || components > ARTIFACT_COMPONENTS_MAX)
		return err_usage(e,
				 "the path is not relative to /scratch, or has . or .. in it, or more than %d "
				 "components",
				 ARTIFACT_COMPONENTS_MAX);
	if (r->schema && r->type == ARTIFACT_ANY)
		r->type = ARTIFACT_JSON;
	if (r->schema && r->type != ARTIFACT_JSON)
		return err_usage(e, "schema= is for type=json");
	if (r->max_files && r->type != ARTIFACT_TREE)
		return err_usage(e, "files= is for type=tree");
	if (r->type == ARTIFACT_TREE && !r->max_files)
		r->max_files = ARTIFACT_FILES_DEFAULT;
	return 0;
}

int artifact_list_add(struct artifact_list *list, const char *text, struct arena *a, struct err *e)
{
	struct artifact_rule r;
	if (list->len == ARTIFACT_RULES_MAX)
		return err_usage(e, "%s: there are %d artifacts at most", show(text).text,
				 ARTIFACT_RULES_MAX);
	if (read_rule(&r, text, a, e) < 0)
		return err_wrap(e, "%s", show(text).text);
	list->rules = grown(list->rules, list->len, &list->room, sizeof(r), a);
	list->rules[list->len++] = r;
	return 0;
}

#include "pipeline/scan/scan.h"

#include "spec/syntax.h"

#include <fnmatch.h>
#include <jansson.h>
#include <string.h>

struct waiver_row {
	json_t *row;
	size_t number;
	struct arena *arena;
};

static int take_member(const struct waiver_row *w, const char *name, const char **to, struct err *e)
{
	json_t *member = json_object_get(w->row, name);
	if (!json_is_string(member) || json_string_length(member) == 0)
		return err_usage(e, "waiver %zu: \"%s\" is to be a text that is not empty",
				 w->number, name);
	if (strlen(json_string_value(member)) != json_string_length(member))
		return err_usage(e, "waiver %zu: \"%s\" has a NUL in it", w->number, name);
	*to = arena_strdup(w->arena, json_string_value(member));
	return 0;
}

static int take_waiver(const struct waiver_row *w, struct scan_waiver *to, struct err *e)
{
	if (!json_is_object(w->row))
		return err_usage(e, "waiver %zu is no object", w->number);
	if (json_object_size(w->row) != 3)
		return err_usage(e, "waiver %zu has other members than id, path and reason",
				 w->number);
	if (take_member(w, "id", &to->id, e) < 0 || take_member(w, "path", &to->path, e) < 0 ||
	    take_member(w, "reason", &to->reason, e) < 0)
		return -1;
	if (to->reason[strspn(to->reason, " \t\r\n")])
		return 0;
	return err_usage(e, "waiver %zu: the reason says nothing", w->number);
}

static int take_waivers(json_t *list, struct arena *a, struct scan_waivers *w, struct err *e)
{
	if (!json_is_array(list))
		return err_usage(e, "waivers are an array of {\"id\", \"path\", \"reason\"}");
	const size_t len = json_array_size(list);
	if (len > SCAN_WAIVERS_MAX)
		return err_usage(e, "more than %d waivers", SCAN_WAIVERS_MAX);
	struct scan_waivers made = {.at = arena_alloc(a, (len + 1) * sizeof(*made.at)), .len = len};
	for (size_t i = 0; i < len; i++) {
		const struct waiver_row row = {json_array_get(list, i), i + 1, a};
		if (take_waiver(&row, &made.at[i], e) < 0)
			return -1;
	}
	*w = made;
	return 0;
}

int scan_waivers_read(const char *text, size_t len, struct arena *a, struct scan_waivers *w,
		      struct err *e)
{
	json_error_t je;
	json_t *list = json_loadb(text, len, JSON_REJECT_DUPLICATES, &je);
	if (!list)
		return err_usage(e, "line %d, column %d: %s", je.line, je.column, syntax_words(&je));
	const int failed = take_waivers(list, a, w, e);
	json_decref(list);
	return failed;
}

static struct scan_waiver *find_waiver(const struct scan_finding *f, struct scan_waivers *w)
{
	for (size_t i = 0; i < w->len; i++)
		if (strcmp(w->at[i].id, f->id) == 0 &&
		    fnmatch(w->at[i].path, f->path, FNM_PATHNAME) == 0)
			return &w->at[i];
	return NULL;
}

struct scan_verdict scan_gate(struct scan_findings *all, struct scan_waivers *w, int gate)
{
	struct scan_verdict v = {.stop = all->cut && gate != SCAN_GATE_NONE};
	for (size_t i = 0; i < w->len; i++)
		w->at[i].used = 0;
	for (size_t i = 0; i < all->len; i++) {
		struct scan_finding *f = &all->at[i];
		struct scan_waiver *waiver = find_waiver(f, w);
		f->waived = waiver;
		if (waiver) {
			waiver->used++;
			v.waived++;
			continue;
		}
		v.counts[f->severity]++;
		v.stop = v.stop || (int)f->severity >= gate;
	}
	return v;
}

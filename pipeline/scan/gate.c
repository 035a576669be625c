#include "pipeline/scan/scan.h"

#include <fnmatch.h>
#include <jansson.h>
#include <string.h>

static int take_member(json_t *row, const char *name, size_t number, struct arena *a,
		       const char **to, struct err *e)
{
	json_t *member = json_object_get(row, name);
	if (!json_is_string(member) || json_string_length(member) == 0)
		return err_usage(e, "waiver %zu: \"%s\" is to be a text that is not empty", number,
				 name);
	if (strlen(json_string_value(member)) != json_string_length(member))
		return err_usage(e, "waiver %zu: \"%s\" has a NUL in it", number, name);
	*to = arena_strdup(a, json_string_value(member));
	return 0;
}

static int take_waiver(json_t *row, size_t number, struct arena *a, struct scan_waiver *to,
		       struct err *e)
{
	if (!json_is_object(row))
		return err_usage(e, "waiver %zu is no object", number);
	if (json_object_size(row) != 3)
		return err_usage(e, "waiver %zu has other members than id, path and reason", number);
	if (take_member(row, "id", number, a, &to->id, e) < 0 ||
	    take_member(row, "path", number, a, &to->path, e) < 0 ||
	    take_member(row, "reason", number, a, &to->reason, e) < 0)
		return -1;
	for (const char *c = to->reason; *c; c++)
		if (*c != ' ' && *c != '\t' && *c != '\n')
			return 0;
	return err_usage(e, "waiver %zu: the reason says nothing", number);
}

static int take_waivers(json_t *list, struct arena *a, struct scan_waivers *w, struct err *e)
{
	if (!json_is_array(list))
		return err_usage(e, "waivers are an array of {\"id\", \"path\", \"reason\"}");
	const size_t len = json_array_size(list);
	if (len > SCAN_WAIVERS_MAX)
		return err_usage(e, "more than %d waivers", SCAN_WAIVERS_MAX);
	struct scan_waivers made = {.at = arena_alloc(a, (len + 1) * sizeof(*made.at)), .len = len};
	for (size_t i = 0; i < len; i++)
		if (take_waiver(json_array_get(list, i), i + 1, a, &made.at[i], e) < 0)
			return -1;
	*w = made;
	return 0;
}

int scan_waivers_read(const char *text, size_t len, struct arena *a, struct scan_waivers *w,
		      struct err *e)
{
	json_error_t je;
	json_t *list = json_loadb(text, len, JSON_REJECT_DUPLICATES, &je);
	if (!list)
		return err_usage(e, "line %d, column %d: %s", je.line, je.column, je.text);
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

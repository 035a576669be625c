/* The end of an unpacking: the journal, sorted, is what became of each path. What is left of it is
 * the record; folders get their owner, mode and time when all below them is done, so that one that
 * may not be entered or written to is no obstacle. */
#include "rootfs/image/unpack.h"

#include "base/fd.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
	LEVELS = 260,
	OUT_BYTES = 2 * RECORD_LINE_BYTES,
	FIELDS_WITHOUT_XATTRS = 8, /* TYPE to TARGET */
};

/* A path that the current one is below of. */
struct level {
	size_t len;   /* of its path */
	uint64_t cut; /* what happened below it up to here does not count any more */
	int fd;	      /* -1: no folder, or not there any more */
	struct record_entry folder;
};

struct finish {
	struct unpack *u;
	int record;
	struct sorter *sorter;
	struct table grouped; /* the groups that have a line */
	char *linked;	      /* JOURNAL_ITEM_BYTES: what a hard link's target was */
	struct path path;     /* the current one, and what is known of it: */
	bool any;	      /* whether there is one */
	uint64_t gone, set, cut, group;
	size_t fields_len;
	char fields[RECORD_LINE_BYTES];
	size_t out_used;
	char out[OUT_BYTES];
	size_t depth;
	struct level levels[LEVELS];
};

/* ---- hard links: what the target was, as of then ---- */

static uint64_t *link_value(struct unpack *u, const char *path, size_t len)
{
	uint64_t *value;
	return table_find(&u->linked, table_hash(&u->key, path, len), &value) ? value : NULL;
}

/* The last thing that was at a path that is linked to. */
static int resolve_link(struct finish *f, struct journal_item *item, struct err *e)
{
	uint64_t *own = link_value(f->u, item->path, item->path_len);
	if (item->op == JOURNAL_GONE)
		return 0;
	if (item->op == JOURNAL_ENTRY) {
		if (own && *item->rest != 'd')
			*own = item->group = item->sequence;
		return 0;
	}
	const uint64_t *target = link_value(f->u, item->rest, item->rest_len);
	struct journal_item was;
	if (!target || !*target)
		return err_bug(e, "a hard link without a target in the journal");
	item->group = *target;
	if (journal_at(&f->u->journal, *target, f->linked, &was, e) < 0)
		return -1;
	if (own)
		*own = item->group;
	item->op = JOURNAL_ENTRY;
	item->rest = was.rest;
	item->rest_len = was.rest_len;
	return 0;
}

/* Every item in the journal's order. With links resolved there may be far more of them. */
static int change_item(void *arg, struct journal_item *item, struct err *e)
{
	struct finish *f = arg;
	return resolve_link(f, item, e) < 0
		       ? -1
		       : charge_record(f->u, item->path_len + item->rest_len, e);
}

/* ---- the record ---- */

static int flush(struct finish *f, struct err *e)
{
	if (fd_write_all(f->record, f->out, f->out_used) < 0)
		return err_sys(e, "write the record of the tree");
	f->out_used = 0;
	return 0;
}

/* A file's attributes are with the first name of it alone: how much of the fields comes before them. */
static int drop_known_xattrs(struct finish *f, struct err *e)
{
	const uint64_t hash = table_hash(&f->u->key, (const char *)&f->group, sizeof(f->group));
	if (!f->group || *f->fields != 'f')
		return 0;
	if (!table_find(&f->grouped, hash, NULL))
		return table_add(&f->grouped, hash, NULL, e);
	const char *at = f->fields, *end = f->fields + f->fields_len;
	for (int words = 0; words < FIELDS_WITHOUT_XATTRS && at; words++)
		at = memchr(at + 1, ' ', (size_t)(end - at) - 1);
	if (at)
		f->fields_len = (size_t)(at - f->fields);
	return 0;
}

static int write_line(struct finish *f, struct err *e)
{
	if (f->out_used + RECORD_LINE_BYTES > OUT_BYTES && flush(f, e) < 0)
		return -1;
	if (drop_known_xattrs(f, e) < 0 || charge_record(f->u, f->path.len + f->fields_len, e) < 0)
		return -1;
	char *at = f->out + f->out_used;
	at += record_path(at, f->path.text);
	if (f->group)
		at += snprintf(at, 32, " %" PRIu64 " ", f->group);
	else
		at += snprintf(at, 32, " - ");
	memcpy(at, f->fields, f->fields_len);
	at += f->fields_len;
	*at++ = '\n';
	f->u->report.paths++;
	f->out_used = (size_t)(at - f->out);
	return 0;
}

/* ---- folders ---- */

static int leave(struct finish *f, struct level *l, struct err *e)
{
	char said[SHOWN_BYTES], path[PATH_BYTES];
	uid_t uid;
	gid_t gid;
	struct timespec times[2];
	if (l->fd < 0)
		return 0;
	disk_times(&l->folder, times);
	const bool ok = (!disk_owner(f->u, &l->folder, &uid, &gid) || fchown(l->fd, uid, gid) == 0) &&
			fchmod(l->fd, l->folder.mode) == 0 && futimens(l->fd, times) == 0;
	if (!ok) {
		memcpy(path, f->path.text, l->len);
		path[l->len] = '\0';
		err_sys(e, "owner, mode and time of the folder %s", path_shown(said, path));
	}
	fd_close(&l->fd);
	return ok ? 0 : -1;
}

static bool is_below(const struct level *l, const char *path, size_t len)
{
	return l->len == 0 || (len > l->len && path[l->len] == '/');
}

/* Out of the folders that the next path is not below of; f->path is still the last one. */
static int leave_until(struct finish *f, const char *path, size_t len, struct err *e)
{
	while (f->depth > 0) {
		struct level *l = &f->levels[f->depth - 1];
		if (path && is_below(l, path, len) && memcmp(path, f->path.text, l->len) == 0)
			return 0;
		f->depth--;
		if (leave(f, l, e) < 0)
			return -1;
	}
	return 0;
}

static int enter(struct finish *f, const struct level *parent, struct level *l, struct err *e)
{
	char said[SHOWN_BYTES];
	const int dir = parent ? parent->fd : f->u->root;
	const char *name = parent ? path_base(&f->path) : ".";
	l->fd = fd_openat2(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0, RESOLVE_STEP);
	if (l->fd < 0)
		return err_sys(e, "open the folder %s", path_shown(said, f->path.text));
	char fields[128];
	/* The numbers are in front; the xattrs, which are long, are on the folder already. */
	const size_t len = f->fields_len < sizeof(fields) ? f->fields_len : sizeof(fields) - 1;
	memcpy(fields, f->fields, len);
	fields[len] = '\0';
	char *xattrs = strstr(fields, " - -");
	if (!xattrs)
		return err_bug(e, "a folder without a digest and target of its own");
	xattrs[strlen(" - -")] = '\0';
	return record_read_fields(fields, &l->folder, e);
}

/* All items of the current path are known: what is there now? */
static int settle(struct finish *f, struct err *e)
{
	char said[SHOWN_BYTES];
	if (!f->any)
		return 0;
	const struct level *parent = f->depth ? &f->levels[f->depth - 1] : NULL;
	const uint64_t above = parent ? parent->cut : 0;
	const bool there = f->set > above && f->set > f->gone;
	if (there && parent && parent->fd < 0)
		return err_bug(e, "%s: in the journal, but not its folder",
			       path_shown(said, f->path.text));
	if (there && write_line(f, e) < 0)
		return -1;
	if (f->depth == LEVELS)
		return err_bug(e, "%s: too deep", path_shown(said, f->path.text));
	struct level *l = &f->levels[f->depth];
	l->len = f->path.len;
	l->cut = f->cut > above ? f->cut : above;
	l->fd = -1;
	if (there && *f->fields == 'd' && enter(f, parent, l, e) < 0)
		return -1;
	f->depth++;
	return 0;
}

static int take(struct finish *f, const struct journal_item *item, struct err *e)
{
	const bool same = f->any && item->path_len == f->path.len &&
			  memcmp(item->path, f->path.text, item->path_len) == 0;
	if (!same) {
		if (settle(f, e) < 0 || leave_until(f, item->path, item->path_len, e) < 0)
			return -1;
		memcpy(f->path.text, item->path, item->path_len);
		f->path.text[item->path_len] = '\0';
		f->path.len = item->path_len;
		f->any = true;
		f->gone = f->set = f->cut = 0;
	}
	if (item->op == JOURNAL_GONE) {
		f->gone = f->cut = item->sequence;
		return 0;
	}
	f->set = item->sequence;
	f->group = item->group;
	f->fields_len = item->rest_len;
	memcpy(f->fields, item->rest, item->rest_len);
	if (*f->fields != 'd')
		f->cut = item->sequence;
	return 0;
}

static int merge(struct finish *f, struct err *e)
{
	struct journal_item item;
	int more;
	f->out_used = record_header(f->out, OUT_BYTES, &f->u->o.owners);
	while ((more = sort_next(f->sorter, &item, e)) > 0) {
		if (take(f, &item, e) < 0)
			return -1;
	}
	if (more < 0 || settle(f, e) < 0 || leave_until(f, NULL, 0, e) < 0)
		return -1;
	return flush(f, e);
}

static int finish(struct finish *f, struct err *e)
{
	struct unpack *u = f->u;
	f->linked = malloc(JOURNAL_ITEM_BYTES);
	if (!f->linked)
		return err_sys(e, "memory for the record of the tree");
	table_free(&u->touched);
	if (journal_flush(&u->journal, e) < 0 ||
	    sort_begin(&f->sorter, &u->journal, u->o.sorted, e) < 0 ||
	    sort_run(f->sorter, change_item, f, e) < 0)
		return -1;
	return merge(f, e);
}

static void finish_free(struct finish *f)
{
	while (f->depth > 0)
		fd_close(&f->levels[--f->depth].fd);
	sort_end(&f->sorter);
	table_free(&f->grouped);
	free(f->linked);
	free(f);
}

int unpack_finish(struct unpack *u, int record, struct err *e)
{
	struct finish *f = calloc(1, sizeof(*f));
	if (!f)
		return err_sys(e, "memory for the record of the tree");
	f->u = u;
	f->record = record;
	const int result = finish(f, e);
	finish_free(f);
	return result;
}

#include "rootfs/image/unpack.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <iconv.h>
#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define WHITEOUT      ".wh."
#define WHITEOUT_META ".wh..wh."
#define OPAQUE	      ".wh..wh..opq"

enum {
	/* More than a pax header, which libarchive allows 1 MiB, and its names; a map of holes is read for the header, too. */
	HEADER_BYTES = 2 << 20,
};

/* ---- whiteouts ---- */

static bool starts(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* What lower layers have in the folder: from the marker's own path. */
static int opaque(struct unpack *u, const struct path *marker, struct err *e)
{
	const struct place *p;
	const int there = place_find(u, marker, FIND_LOOK, &p, e);
	if (there <= 0)
		return there;
	const struct path path = p->path;
	autoclose int dir = fd_openat2(p->fd, ".", O_PATH | O_DIRECTORY, 0, RESOLVE_STEP);
	if (dir < 0)
		return err_sys(e, "open a folder of the tree");
	return remove_lower_within(u, dir, ".", &path, e);
}

/* A name that is hidden, out of its marker's. */
static int hidden(const struct path *marker, struct path *name, struct err *e)
{
	char said[SHOWN_BYTES];
	const char *hides = path_base(marker) + strlen(WHITEOUT);
	struct path parent = *marker;
	if (!*hides || strcmp(hides, ".") == 0 || strcmp(hides, "..") == 0)
		return err_usage(e, "%s: a whiteout of no name", path_shown(said, marker->text));
	parent.text[path_parent(marker)] = '\0';
	return path_join(name, parent.text, hides, e);
}

static int whiteout(struct unpack *u, const struct path *marker, struct err *e)
{
	struct path name;
	struct spot s;
	const bool whole = strcmp(path_base(marker), OPAQUE) == 0;
	if (!whole && starts(path_base(marker), WHITEOUT_META)) {
		u->report.metadata_skipped++;
		return 0;
	}
	if (!whole && hidden(marker, &name, e) < 0)
		return -1;
	u->report.whiteouts++;
	if (u->layer == 0)
		return 0;
	if (whole)
		return opaque(u, marker, e);
	const int there = spot_find(u, &name, FIND_LOOK, &s, e);
	return there <= 0 ? there : remove_lower(u, &s, e);
}

/* Whether a folder on the way to the name is a whiteout: 0, 1 for AUFS's own, -1. */
static int vet_folders(const struct path *p, struct err *e)
{
	char said[SHOWN_BYTES];
	const char *base = path_base(p);
	for (const char *at = p->text; at < base; at = strchr(at, '/') + 1) {
		if (starts(at, WHITEOUT_META))
			return 1;
		if (starts(at, WHITEOUT))
			return err_usage(e, "%s: a whiteout as a folder", path_shown(said, p->text));
	}
	return 0;
}

/* ---- entries ---- */

/* A device node or a socket: not made, and what is at its place goes. */
static int skip_device(struct unpack *u, const struct spot *s, struct err *e)
{
	u->report.devices_skipped++;
	const uint64_t hash = table_hash(&u->key, s->path.text, s->path.len);
	if (!*s->base)
		return err_usage(e, "the root of a layer is no folder");
	if (table_add(&u->skipped, hash, NULL, e) < 0 || remove_all(u, s, e) < 0)
		return -1;
	return journal_gone(u, &s->path, e);
}

static int root_spot(struct unpack *u, struct spot *s)
{
	s->dir = u->root;
	s->path.len = 0;
	s->path.text[0] = '\0';
	s->base = s->path.text;
	return 0;
}

static int make_node(struct unpack *u, struct archive *a, struct archive_entry *entry,
		     const struct path *name, struct err *e)
{
	struct spot s;
	if ((name->len ? spot_find(u, name, FIND_MAKE, &s, e) : root_spot(u, &s)) < 0)
		return -1;
	switch (archive_entry_filetype(entry)) {
	case AE_IFREG:
		entry_metadata(u, entry, 'f');
		return make_file(u, a, entry, &s, e);
	case AE_IFDIR:
		entry_metadata(u, entry, 'd');
		return make_folder(u, &s, e);
	case AE_IFLNK:
		entry_metadata(u, entry, 'l');
		return make_symlink(u, archive_entry_symlink(entry), &s, e);
	case AE_IFIFO:
		entry_metadata(u, entry, 'p');
		return make_fifo(u, &s, e);
	default:
		return skip_device(u, &s, e);
	}
}

static int apply_entry(struct unpack *u, struct archive *a, struct archive_entry *entry,
		       struct err *e)
{
	struct path name;
	const char *text = archive_entry_pathname(entry), *link = archive_entry_hardlink(entry);
	if (charge_entry(u, e) < 0 || path_clean(&name, text ? text : "", u->o.limits.depth, e) < 0)
		return -1;
	const int aufs = vet_folders(&name, e);
	if (aufs < 0)
		return -1;
	u->report.metadata_skipped += (uint64_t)aufs;
	if (aufs)
		return 0;
	if (starts(path_base(&name), WHITEOUT))
		return whiteout(u, &name, e);
	if (link)
		return make_hard_link(u, link, &name, e);
	return make_node(u, a, entry, &name, e);
}

/* ---- the stream ---- */

static la_ssize_t read_source(struct archive *a, void *arg, const void **bytes)
{
	struct unpack *u = arg;
	const ssize_t n = u->source_err.kind == ERR_NONE
				  ? source_next(u->source, bytes, &u->source_err)
				  : -1;
	if (n > 0 && (uint64_t)n > u->header_budget) {
		archive_set_error(a, EINVAL, "a header of more than 2 MiB");
		return -1;
	}
	if (n > 0)
		u->header_budget -= (uint64_t)n;
	if (n < 0)
		archive_set_error(a, EINVAL, "it is damaged");
	return n;
}

static int apply_entries(struct unpack *u, struct archive *a, struct err *e)
{
	struct archive_entry *entry;
	int r;
	for (;;) {
		u->header_budget = HEADER_BYTES;
		r = archive_read_next_header(a, &entry);
		u->header_budget = UINT64_MAX;
		if (r != ARCHIVE_OK && r != ARCHIVE_WARN)
			break;
		/* libarchive skips what nobody reads without a look at the limits. */
		if (apply_entry(u, a, entry, e) < 0 || drain(u, a, e) < 0)
			return -1;
	}
	return r == ARCHIVE_EOF ? 0 : archive_refused(u, a, e);
}

static void archive_end(struct archive **a)
{
	archive_read_free(*a);
}

static int apply_archive(struct unpack *u, struct err *e)
{
	__attribute__((cleanup(archive_end))) struct archive *a = archive_read_new();
	if (!a || archive_read_support_format_tar(a) != ARCHIVE_OK ||
	    archive_read_support_format_empty(a) != ARCHIVE_OK)
		return err_sys(e, "memory for libarchive");
	u->header_budget = UINT64_MAX;
	u->source_err = (struct err)ERR_INIT;
	if (archive_read_open(a, u, NULL, read_source, NULL) != ARCHIVE_OK)
		return archive_refused(u, a, e);
	if (apply_entries(u, a, e) < 0)
		return -1;
	/* Behind the end of the archive, which the digest takes in. */
	const void *bytes;
	ssize_t n;
	while ((n = source_next(u->source, &bytes, e)) > 0)
		;
	if (n == 0)
		source_digest(u->source, &u->diff_id);
	return (int)n;
}

int layer_apply(int root, int stream, struct unpack *u, struct err *e)
{
	const struct source_options o = {.filters = u->o.filters, .ratio = u->o.limits.ratio};
	if (root != u->root)
		return err_bug(e, "a layer for another tree");
	if (source_open(&u->source, stream, &o, e) < 0)
		return -1;
	u->compression = source_compression(u->source);
	const int result = apply_archive(u, e);
	source_close(&u->source);
	table_free(&u->touched);
	table_free(&u->cleaned);
	u->layer++;
	return result;
}

void layer_diff_id(const struct unpack *u, struct digest *d)
{
	*d = u->diff_id;
}

int layer_compression(const struct unpack *u)
{
	return u->compression;
}

/* ---- begin and end ---- */

/* The root is what unpacked folders are: its owner's alone for now, and without the bit that would
 * give its group to what is made in it. */
static int prepare_root(struct unpack *u, struct err *e)
{
	static const struct path root = {.len = 0};
	if (fchmod(u->root, 0700) < 0)
		return err_sys(e, "set the mode of the tree's root");
	u->made_uid = geteuid();
	u->made_gid = getegid();
	return journal_implied(u, &root, e);
}

/* libarchive converts the names of pax archives with iconv, which reads the list of its modules, code
 * to be loaded, when it is first used: out of the image, if this process lives in one by then. What it
 * found is kept for good, so it has to look now. And only in the C locale does what cannot be
 * converted, all that is not ASCII, stay the bytes it was; in one of UTF-8 names would be normalised. */
static int pin_conversions(struct err *e)
{
	const char *locale = setlocale(LC_CTYPE, NULL);
	if (!locale || strcmp(locale, "C") != 0)
		return err_bug(e, "images are unpacked in the C locale only");
	const iconv_t pin = iconv_open(nl_langinfo(CODESET), "UTF-8");
	if ((intptr_t)pin == -1)
		return err_sys(e, "iconv from UTF-8");
	iconv_close(pin);
	return 0;
}

int unpack_begin(struct unpack **made, int root, const struct unpack_options *o, struct err *e)
{
	if (o->limits.depth == 0 || o->limits.depth > UNPACK_DEPTH_MAX || o->limits.ratio == 0)
		return err_usage(e, "limits of an image: depth is 1 to %d, ratio at least 1",
				 UNPACK_DEPTH_MAX);
	struct unpack *u = calloc(1, sizeof(*u));
	if (!u)
		return err_sys(e, "memory to unpack an image");
	u->root = root;
	u->o = *o;
	u->linked.has_values = true;
	for (size_t i = 0; i < PLACES; i++)
		u->places[i].fd = -1;
	if (pin_conversions(e) < 0 || table_key_init(&u->key, e) < 0 ||
	    hash_init(&u->contents.hash, e) < 0 || journal_begin(&u->journal, o->journal, e) < 0 ||
	    prepare_root(u, e) < 0) {
		unpack_free(&u);
		return -1;
	}
	*made = u;
	return 0;
}

const struct layer_report *unpack_report(const struct unpack *u)
{
	return &u->report;
}

void unpack_free(struct unpack **u)
{
	if (!*u)
		return;
	for (size_t i = 0; i < PLACES; i++)
		fd_close(&(*u)->places[i].fd);
	table_free(&(*u)->touched);
	table_free(&(*u)->cleaned);
	table_free(&(*u)->skipped);
	table_free(&(*u)->linked);
	journal_end(&(*u)->journal);
	hash_free(&(*u)->contents.hash);
	free(*u);
	*u = NULL;
}

/* Within rootfs/image/: what applying layers consists of. See layer.h. */
#ifndef PINFOLD_ROOTFS_IMAGE_UNPACK_H
#define PINFOLD_ROOTFS_IMAGE_UNPACK_H

#include "rootfs/image/journal.h"
#include "rootfs/image/layer.h"
#include "rootfs/image/path.h"
#include "rootfs/image/table.h"

#include <archive.h>
#include <archive_entry.h>
#include <linux/openat2.h>

/* Nothing is followed, and nothing is left: no link, no mount, no "..". */
#define RESOLVE_STEP \
	(RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV)

enum { PLACES = 64, LINKS_MAX = 40 };

/* A folder that was opened: its path has no symbolic link in it, so that it stays true until a
 * folder or a link is removed from the tree. */
struct place {
	int fd; /* -1: the slot is free */
	uint64_t hash;
	struct path path;
};

/* What this layer did to a path. */
enum touched {
	UNTOUCHED,
	TOUCHED_BELOW, /* a folder with something of this layer in it */
	TOUCHED,
};

struct unpack {
	int root;
	struct unpack_options o;
	struct layer_report report;
	unsigned layer;	       /* 0 is the lowest */
	int compression;       /* of the layer that was applied last */
	uint64_t record_bytes; /* of the journal, of its sorted copy and of the record */
	struct digest diff_id;
	struct source *source;
	struct err source_err; /* why it ended early */
	struct table_key key;
	struct table touched; /* not kept for layer 0: there is nothing below it to be hidden */
	struct table cleaned; /* folders in which nothing of lower layers is left, in this layer's time */
	struct table skipped; /* device nodes, which hard links may name */
	struct table linked;  /* the targets of hard links; finish: where in the journal they are */
	struct journal journal;
	struct contents contents;
	struct place places[PLACES];
	struct place top;	/* the root: not opened, not closed */
	struct path asked;	/* the name that was walked last, until anything is removed */
	uint64_t answer;	/* and where it led: the hash of a place */
	uint64_t header_budget; /* bytes that libarchive may read for one header */
	uid_t made_uid;		/* what is made belongs to them */
	gid_t made_gid;
	struct record_entry now;	/* the entry that is being unpacked */
	char fields[RECORD_LINE_BYTES]; /* what of it goes into the journal */
};

/* A folder and a name in it. */
struct spot {
	int dir;	  /* borrowed from places */
	struct path path; /* the whole of it */
	const char *base; /* in path; "" for the root */
};

/* ---- places.c: from names to descriptors ---- */

enum find { FIND_LOOK, FIND_MAKE };

/* The folder that the clean path name is in, following links within the tree. FIND_MAKE makes what
 * is missing and replaces what is no folder. 1 and *p, borrowed until the next call; 0 for
 * FIND_LOOK when it is not there; -1. */
int place_find(struct unpack *u, const struct path *name, enum find find, const struct place **p,
	       struct err *e);
/* The same, with the last component. */
int spot_find(struct unpack *u, const struct path *name, enum find find, struct spot *s,
	      struct err *e);
/* What is at the path and below it is gone. */
void places_forget(struct unpack *u, const struct path *gone);

/* ---- touched.c ---- */

enum touched touched_get(const struct unpack *u, const char *path, size_t len);
int touched_set(struct unpack *u, const struct path *path, enum touched how, struct err *e);
/* The folders on the way to path have something of this layer in them. */
int touch_parents(struct unpack *u, const struct path *path, struct err *e);

/* ---- remove.c ---- */

/* Whatever is at the spot, with all that is in it. 1 if there was something, 0 if not, -1. */
int remove_all(struct unpack *u, const struct spot *s, struct err *e);
/* What lower layers have at the spot. */
int remove_lower(struct unpack *u, const struct spot *s, struct err *e);
/* What they have in the folder name of dir, which path leads to; the folder itself is left. */
int remove_lower_within(struct unpack *u, int dir, const char *name, const struct path *path,
			struct err *e);

/* ---- metadata.c ---- */

/* From the entry: owner, mode, time, xattrs into u->now, with what is not to be had left out. */
void entry_metadata(struct unpack *u, struct archive_entry *entry, char type);
/* u->now's xattrs onto an open file or folder; those that do not hold are marked. */
int apply_xattrs(struct unpack *u, int fd, struct err *e);
/* -1 with errno. */
int clear_xattrs(int fd);
/* Whether what was made for u->now is to be given away, and to whom. */
bool disk_owner(const struct unpack *u, const struct record_entry *r, uid_t *uid, gid_t *gid);
void disk_times(const struct record_entry *r, struct timespec times[2]);
/* Count against the limits. */
int charge_bytes(struct unpack *u, uint64_t bytes, struct err *e);
/* The same for what is written about the image, beyond what no image would be refused for. */
int charge_record(struct unpack *u, uint64_t bytes, struct err *e);
int charge_entry(struct unpack *u, struct err *e);
/* u->now is what is at path now. */
int journal_now(struct unpack *u, const struct path *path, struct err *e);
/* A folder that no layer describes: 0755, of root, of 1970. */
int journal_implied(struct unpack *u, const struct path *path, struct err *e);
int journal_gone(struct unpack *u, const struct path *path, struct err *e);

/* ---- nodes.c: each replaces what is at its place, and puts itself into the journal ---- */

int make_file(struct unpack *u, struct archive *a, struct archive_entry *entry,
	      const struct spot *s, struct err *e);
int make_folder(struct unpack *u, const struct spot *s, struct err *e);
int make_symlink(struct unpack *u, const char *target, const struct spot *s, struct err *e);
int make_fifo(struct unpack *u, const struct spot *s, struct err *e);
int make_hard_link(struct unpack *u, const char *target, const struct path *name, struct err *e);
/* Read what is left of an entry's data and drop it. */
int drain(struct unpack *u, struct archive *a, struct err *e);
/* ERR_USAGE with libarchive's own words, or what source_next() had to say. */
int archive_refused(struct unpack *u, struct archive *a, struct err *e);

#endif

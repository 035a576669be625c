/* Layers: tar streams onto one tree, whatever is in them.
 *
 * libarchive reads; writing is ours, by descriptors below the root of the tree alone: every step of
 * a path is one openat2() of one component that follows nothing, and symbolic links are followed by
 * hand within the tree, so that layer 2 may write bin/x over layer 1's link bin -> usr/bin. Only
 * folders, regular files, symbolic and hard links and FIFOs are made. Device nodes, set-id bits and
 * the xattrs with power are left out and counted. While layers are applied all folders are 0700;
 * modes, owners and times of folders come at the end, in unpack_finish(), with the record of the
 * tree (record.h).
 *
 * The memory that this takes is bounded by the limits, whatever the image: names are kept in files,
 * sorted at the end. Nobody else may write to the tree in the meantime. Opens up to 80 descriptors
 * and as many as the tree is deep.
 */
#ifndef PINFOLD_ROOTFS_IMAGE_LAYER_H
#define PINFOLD_ROOTFS_IMAGE_LAYER_H

#include "rootfs/image/digest.h"
#include "rootfs/image/record.h"
#include "rootfs/image/source.h"

#include <stdint.h>

enum { UNPACK_DEPTH_MAX = 256 }; /* remove.c goes down by recursion */

/* Of the whole image, in all of its layers together. What goes beyond is refused with the limit's name. */
struct unpack_limits {
	uint64_t bytes; /* of files, holes included, of attributes, and of the record beyond 16 MiB */
	uint64_t entries; /* of the archives */
	uint32_t depth;	  /* components of a path, UNPACK_DEPTH_MAX at most */
	uint32_t ratio;	  /* bytes out for one compressed one, once 64 MiB came out */
	uint64_t seconds; /* of processor time, which the jail is held to; 0: by the size of what is read */
};

#define UNPACK_LIMITS_DEFAULT \
	{.bytes = 64ULL << 30, .entries = 1000000, .depth = UNPACK_DEPTH_MAX, .ratio = 500}

/* Processor time for whoever reads so many bytes: many times what the slowest machine needs for
 * what is no attack. */
enum { SECONDS_LEAST = 300, BYTES_A_SECOND = 1 << 20 };
static inline uint64_t unpack_seconds(const struct unpack_limits *l, uint64_t bytes)
{
	return l->seconds ? l->seconds : SECONDS_LEAST + bytes / BYTES_A_SECOND;
}

/* What was done and what was left out. */
struct layer_report {
	uint64_t entries, bytes; /* that were charged: an archive may have a path again and again */
	uint64_t paths;	    /* of the whole tree, its root among them: the lines of its record */
	uint64_t whiteouts; /* of both kinds, also of those that had nothing to remove */
	uint64_t devices_skipped;  /* and sockets, and hard links to either */
	uint64_t setid_dropped;	   /* files and folders that had a set-id bit */
	uint64_t xattrs_dropped;   /* not user.*, or user.overlay.*, or too many; ACLs too */
	uint64_t xattrs_unkept;	   /* user.* in the record alone: the file system takes none */
	uint64_t owners_squashed;  /* ids that are none, or that the owners' range lacks */
	uint64_t metadata_skipped; /* of AUFS: names that begin with .wh..wh. */
};

struct unpack_options {
	struct unpack_limits limits;
	struct record_owners owners;
	enum source_filters filters;
	int journal,
		sorted; /* two empty files to read and write, private, gone afterwards; borrowed */
};

struct unpack;

/* Begin a tree at the folder root, which is borrowed until unpack_free() and is empty. Call this
 * before hostile files can be opened by name (hash_init()). */
int unpack_begin(struct unpack **u, int root, const struct unpack_options *o, struct err *e);

/* The next layer, the lowest first, from where stream stands to its end. On failure the tree is
 * good for nothing: ERR_USAGE where the archive is to blame. */
int layer_apply(int root, int stream, struct unpack *u, struct err *e);

/* Of the layer that was applied last: the digest of its bytes without compression, for the
 * comparison with the image's diff_ids, which is the caller's. */
void layer_diff_id(const struct unpack *u, struct digest *d);
/* And what it was packed with: an enum media_compression, -1 for what no layer may be. */
int layer_compression(const struct unpack *u);

/* After the last layer: folders get what they are to have, and the record is written into the empty
 * file. Nothing is synced. */
int unpack_finish(struct unpack *u, int record, struct err *e);

const struct layer_report *unpack_report(const struct unpack *u);
void unpack_free(struct unpack **u);

#endif

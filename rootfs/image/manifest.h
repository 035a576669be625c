/* The three documents of an image: index, manifest, config; OCI's and Docker's (version 2, schema 2).
 *
 * Pure. Whoever calls has compared the bytes with their digest before. All of it is hostile: sizes,
 * depths and counts are bounded (json.h), and what can be read in two ways is refused.
 */
#ifndef PINFOLD_ROOTFS_IMAGE_MANIFEST_H
#define PINFOLD_ROOTFS_IMAGE_MANIFEST_H

#include "base/arena.h"
#include "base/err.h"
#include "rootfs/image/digest.h"
#include "rootfs/image/json.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	LAYERS_MAX = 512,
	INDEX_ENTRIES_MAX = 1024,
	IMAGE_TEXT_MAX = 128 * 1024 - 1, /* of one word of the command: MAX_ARG_STRLEN, execve(2) */
};

enum media_type {
	MEDIA_UNKNOWN,
	MEDIA_OCI_INDEX,
	MEDIA_OCI_MANIFEST,
	MEDIA_OCI_CONFIG,
	MEDIA_OCI_TAR,
	MEDIA_OCI_TAR_GZIP,
	MEDIA_OCI_TAR_ZSTD,
	MEDIA_OCI_FOREIGN_TAR, /* not to be pushed elsewhere; its urls are not followed */
	MEDIA_OCI_FOREIGN_TAR_GZIP,
	MEDIA_OCI_FOREIGN_TAR_ZSTD,
	MEDIA_DOCKER_INDEX,
	MEDIA_DOCKER_MANIFEST,
	MEDIA_DOCKER_CONFIG,
	MEDIA_DOCKER_TAR,
	MEDIA_DOCKER_TAR_GZIP,
	MEDIA_DOCKER_TAR_ZSTD,
	MEDIA_DOCKER_FOREIGN_TAR_GZIP,
	MEDIA_TYPE_COUNT,
};

enum media_role { ROLE_NONE, ROLE_INDEX, ROLE_MANIFEST, ROLE_CONFIG, ROLE_LAYER };
enum media_compression { COMPRESSION_NONE, COMPRESSION_GZIP, COMPRESSION_ZSTD };

/* By its text, with or without parameters behind a semicolon; MEDIA_UNKNOWN for every other. */
enum media_type media_type_parse(const char *text);
const char *media_type_text(enum media_type type);
enum media_role media_role(enum media_type type);
enum media_compression media_compression(enum media_type type);
bool media_is_foreign(enum media_type type);

struct descriptor {
	enum media_type type;
	struct digest digest;
	uint64_t size; /* bytes */
};

/* One that came out of a jail, where anybody may have made it: ERR_BUG if it is none of that role. */
int descriptor_check(const struct descriptor *d, enum media_role role, struct err *e);

struct manifest {
	enum media_type type;
	struct descriptor config;
	struct descriptor *layers; /* in the order in which they are applied */
	size_t layers_len;
};

/* type is what the registry or a descriptor said, MEDIA_UNKNOWN if nobody did; the document itself
 * must not say otherwise. Lives in the arena. ERR_USAGE. */
int manifest_read(struct manifest *m, enum media_type type, struct json_bytes bytes,
		  struct arena *a, struct err *e);

struct platform {
	const char *os;
	const char *architecture;
	const char *variant; /* NULL: none, or any */
};

struct index_entry {
	struct descriptor what;
	struct platform platform; /* all NULL if it says none */
	const char *name; /* its org.opencontainers.image.ref.name, as layouts have it, or NULL */
	const char *full; /* its io.containerd.image.name: `docker save` has but the tag in the other */
};

/* How Docker itself shows a name out of full: without the registry and the folder that it takes for
 * granted. Within text. */
const char *index_familiar(const char *text);

/* Whether a user who writes name means the entry. */
bool index_entry_is(const struct index_entry *entry, const char *name);

struct index {
	enum media_type type;
	struct index_entry *entries;
	size_t entries_len;
};

int index_read(struct index *x, enum media_type type, struct json_bytes bytes, struct arena *a,
	       struct err *e);

/* The manifest for the platform, among the entries of that name if name is not NULL. One that names
 * no platform is taken if it is the only one. An index within the index is never followed. */
int index_choose(const struct index *x, const struct platform *p, const char *name,
		 struct descriptor *chosen, struct err *e);

/* What a document of that type and these bytes is: ROLE_INDEX or ROLE_MANIFEST, else ERR_USAGE. */
int manifest_role(enum media_type type, struct json_bytes bytes, enum media_role *role,
		  struct err *e);

/* This machine's platform, as images name it. */
struct platform platform_host(void);

/* "OS/ARCHITECTURE[/VARIANT]" as a user writes it. */
int platform_parse(struct platform *p, const char *text, struct arena *a, struct err *e);

struct image_config {
	const char *os, *architecture, *variant; /* variant may be NULL */
	struct json_texts env;			 /* NAME=VALUE each */
	const char *workdir;			 /* absolute, without "." and ".."; NULL: none */
	struct json_texts entrypoint, cmd;
	const char *user; /* as it stands there: NAME|UID[:GROUP|GID]; NULL: none */
	struct digest *diff_ids;
	size_t diff_ids_len;
};

int config_read(struct image_config *c, struct json_bytes bytes, struct arena *a, struct err *e);

/* That the two belong together: as many layers in the one as in the other. */
int config_fits(const struct image_config *c, const struct manifest *m, struct err *e);

#endif

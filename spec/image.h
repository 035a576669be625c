/* What a stored image says of how it is run: image.json in the store, and how it comes below the spec.
 *
 * Pure. image.json is written by whoever unpacks an image and is all that a run reads of it.
 * The rules are Docker's: what the caller says counts first.
 */
#ifndef PINFOLD_SPEC_IMAGE_H
#define PINFOLD_SPEC_IMAGE_H

#include "base/arena.h"
#include "base/err.h"
#include "spec/spec.h"

#include <stddef.h>

/* The longest image.json: an environment and a command line that execve(2) takes fit. */
enum { IMAGE_FACTS_BYTES_MAX = 4 << 20 };

struct image_facts {
	const char *id;		 /* "sha256:..." of the config */
	const char **env;	 /* NULL-terminated "NAME=VALUE", as the other two */
	const char *workdir;	 /* "" none */
	const char **entrypoint; /* empty: none */
	const char **cmd;
	const char *user; /* "" none; NAME|UID[:GROUP|GID] */
};

/* The strings are the arena's. ERR_HOST: it is damaged. */
int image_facts_read(struct image_facts *f, const char *text, size_t len, struct arena *a,
		     struct err *e);

/* malloc'ed; NULL: memory is out. */
char *image_facts_write(const struct image_facts *f);

/* Env, WorkingDir, Entrypoint and Cmd below what the spec says: a variable that it sets is left
 * alone; the folder counts if it names none; the words of the command follow Entrypoint and take
 * the place of Cmd. ERR_USAGE: what the image says cannot be. User is another matter, since it may
 * be a name (rootfs/stored.h). */
int spec_apply_image(struct spec *s, const struct image_facts *f, struct err *e);

#endif

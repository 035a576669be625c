/* Stored images, for the commands of the run path. */
#ifndef PINFOLD_COMMANDS_IMAGES_H
#define PINFOLD_COMMANDS_IMAGES_H

#include "base/arena.h"
#include "base/err.h"
#include "rootfs/stored.h"
#include "spec/spec.h"

/* The store's place: $PINFOLD_STORE; else root's /var/lib/pinfold, a user's $XDG_DATA_HOME/pinfold or
 * ~/.local/share/pinfold. NULL: nobody says where home is. What $PINFOLD_STORE says is checked by
 * whoever opens it. */
const char *images_store(struct arena *a);

/* If the spec's image is a name and stored: hold its tree (held), and note it in the spec. One that
 * is a folder here too is refused; one that is neither says how to pull it, or is pulled if the
 * spec asks for that and libexec is not NULL. A folder stays one,
 * also where the store is none of this user's. ERR_USAGE or ERR_HOST. */
int images_resolve(struct spec *s, const char *libexec, struct stored *held, struct err *e);

/* What the held image says, below the spec. Nothing if none is held. */
int images_apply(struct spec *s, const struct stored *held, struct err *e);

#endif

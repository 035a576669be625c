/* A registry's image by way of jailed processes: one that speaks with the registry, one a document that
 * reads what came, and one that looks up the credentials. What is believed is what was hashed here.
 *
 * The credentials never are in this process: the one that reads their file hands those of the registry
 * to the client through a pipe. So no process that is made later, for an archive perhaps, has them.
 */
#ifndef PINFOLD_COMMANDS_IMAGE_FETCH_H
#define PINFOLD_COMMANDS_IMAGE_FETCH_H

#include "rootfs/image/client.h"
#include "rootfs/image/layer.h"
#include "rootfs/image/parsed.h"
#include "runtime/jail.h"

struct fetch_options {
	struct registry_options registry; /* credentials and trust are the client's own affair */
	const char *ca_file;		  /* NULL: the host's certificates */
	bool auth_file_missing;		  /* registry.auth_file may be missing */
	struct unpack_limits limits;	  /* of them the time */
};

/* Between begin and end it stays where it is: the jail points into it. */
struct fetch {
	const struct fetch_options *o;
	struct client client;
	struct jail jail;
	struct jail_child child;
	int talk, document; /* our end of the socket; a document's bytes */
};
#define FETCH_INIT {.child = JAIL_CHILD_INIT, .talk = -1, .document = -1}

/* Start a client for that image; ref and o are borrowed until fetch_end(). Nothing is sent. */
int fetch_begin(struct fetch *f, const struct reference *ref, const struct fetch_options *o,
		struct err *e);
/* Also a client that is at work. */
void fetch_end(struct fetch *f);
#define autofetch __attribute__((cleanup(fetch_end))) struct fetch

struct fetched {
	struct json_bytes bytes; /* the manifest's; in the arena */
	struct digest digest;	 /* of these bytes */
	struct digest named;	 /* of what the reference names: an index, or these bytes */
	struct parsed parsed;	 /* ROLE_MANIFEST */
};

/* The manifest that the reference names, for this platform if it is an index. The digest of the
 * reference, if it has one, holds. */
int fetch_manifest(struct fetch *f, const struct platform *p, struct fetched *m, struct arena *a,
		   struct err *e);

/* All of the blobs (each digest once), each whole, its size and digest right; then the client is
 * gone. On failure what is there of each may be the beginning of the right blob, and had says how
 * much. Nothing is synced. */
int fetch_blobs(struct fetch *f, struct registry_blob *blobs, size_t len, struct err *e);

#endif

/* Registries: the OCI distribution protocol, of which only the pull.
 *
 * All that comes from there is hostile. TLS is verified, always; plain HTTP only where the caller
 * asks for it, and then to loopback addresses alone, whatever a name resolves to. A redirect is
 * followed a few times, never from https to http, and what authorizes us stays with the host that
 * it is for. Headers and bodies are bounded, a stall ends, and nothing counts before its digest and
 * size are right. The `urls` of foreign layers are not followed. Proxies come from libcurl's
 * variables (https_proxy, all_proxy, no_proxy); plain HTTP never passes through one.
 *
 * Runs in a jail (client.h), and what it says of bytes is checked by whoever is not in it. Knows
 * nothing of the store: blobs are written to descriptors that the caller gives. The process has to
 * ignore SIGPIPE (libcurl's TLS writes to sockets with write(2)).
 */
#ifndef PINFOLD_ROOTFS_IMAGE_REGISTRY_H
#define PINFOLD_ROOTFS_IMAGE_REGISTRY_H

#include "rootfs/image/credentials.h"
#include "rootfs/image/manifest.h"

enum registry_event_kind {
	REGISTRY_STARTED,
	REGISTRY_MOVED, /* ten times a second at most, for each blob */
	REGISTRY_RETRY, /* why says what was wrong; it goes on after wait_ms */
	REGISTRY_DONE,	/* checked, all of it */
	REGISTRY_EVENT_KINDS,
};

struct registry_event {
	enum registry_event_kind kind;
	size_t blob; /* its index; for a manifest or a token, SIZE_MAX */
	uint64_t bytes, size;
	const char *why;
	unsigned int wait_ms;
};

/* Certificates in a file, and in a folder by the hash of their names, as libcurl takes them; NULL: none. */
struct registry_trust {
	const char *file, *folder;
};

struct registry_options {
	bool insecure;	       /* plain HTTP, to a loopback address */
	const char *auth_file; /* where the credentials come from, for messages; NULL: there are none */
	const struct credentials *credentials; /* borrowed for registry_open(); NULL: none */
	struct registry_trust trust, proxy_trust;
	unsigned int retries; /* of one request, without progress in between */
	unsigned int backoff_ms;
	unsigned int parallel;	    /* blobs at a time */
	unsigned int stall_seconds; /* slower than REGISTRY_RATE_MIN for so long is a stall */
	uint64_t blob_bytes_max, image_bytes_max;
	/* Not 0 ends what is going on. May be NULL. */
	int (*progress)(void *context, const struct registry_event *event);
	void *progress_context;
};

enum { REGISTRY_RATE_MIN = 1024, REGISTRY_PARALLEL_MAX = 16 };

#define REGISTRY_OPTIONS_INIT                          \
	{                                              \
		.retries = 5,                          \
		.backoff_ms = 500,                     \
		.parallel = 3,                         \
		.stall_seconds = 60,                   \
		.blob_bytes_max = UINT64_C(16) << 30,  \
		.image_bytes_max = UINT64_C(64) << 30, \
	}

struct registry;

/* What is needed to pull that image; nothing is sent. ref, o and what they point to are borrowed
 * until registry_close(), which accepts NULL. */
int registry_open(struct registry **opened, const struct reference *ref,
		  const struct registry_options *o, struct err *e);
void registry_close(struct registry *r);

/* What a registry has under a tag or a digest. */
struct registry_document {
	char *text;	      /* free() */
	size_t len;	      /* JSON_BYTES_MAX at most */
	enum media_type type; /* as it came; MEDIA_UNKNOWN: that says nothing */
};

/* The bytes of a digest are those; size is what a descriptor said, or UINT64_MAX. */
int registry_document(struct registry *r, const char *name, uint64_t size,
		      struct registry_document *d, struct err *e);

struct registry_blob {
	struct descriptor what;
	int fd;	      /* borrowed; a regular file open for reading and writing, no O_APPEND */
	uint64_t had; /* bytes of it that are there from an earlier try */
};

/* All of the blobs (each digest once, sizes within the limits), each whole, its size and digest
 * right. On failure what is there of each may be the beginning of the right blob, and had says how
 * much; what turned out to be wrong is cut to 0. Nothing is synced. */
int registry_blobs(struct registry *r, struct registry_blob *blobs, size_t len, struct err *e);

#endif

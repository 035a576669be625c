/* The registry's client as a process of its own: what it is asked for and what it answers.
 *
 * It runs in a jail (runtime/jail.h, JAIL_CLIENT) with an end of a SOCK_SEQPACKET socket. Documents and
 * blobs go into descriptors that it is given; over the socket come records of one size. Nothing that it
 * says is believed: whoever is at the other end hashes the bytes himself, the blobs' when it is dead.
 */
#ifndef PINFOLD_ROOTFS_IMAGE_CLIENT_H
#define PINFOLD_ROOTFS_IMAGE_CLIENT_H

#include "rootfs/image/registry.h"

/* What the process is made with; all of it borrowed. */
struct client {
	const struct reference *ref;
	struct registry_options o; /* credentials, trust and progress are its own affair */
	const char *ca_file; /* certificates to trust instead of the host's; NULL: the host's */
	int talk;	     /* its end of the socket */
	int document;	     /* JSON_BYTES_MAX bytes for a document */
	int credentials;     /* credentials_send() wrote there; -1: there are none */
};

/* For struct jail: the files that it needs (names, certificates), the names of the environment (proxies,
 * the resolver's), and the work, which ends when the other side closes its socket or all blobs are there. */
int client_fill(int root, void *client, struct err *e);
extern const char *const client_environment[];
int client_run(int root, void *client, struct err *e);

/* ---- to the client ---- */

enum { CLIENT_NAME_BYTES = 160, CLIENT_WHY_BYTES = 240 };

enum client_order_kind {
	ORDER_DOCUMENT, /* the one called name, of size bytes (UINT64_MAX: unknown); answered by a word */
	ORDER_BLOB,  /* one of those to be fetched; its descriptor comes along */
	ORDER_BLOBS, /* there are no more: fetch them, and that is all */
};

struct client_order {
	enum client_order_kind kind;
	char name[CLIENT_NAME_BYTES];
	uint64_t size;
	struct descriptor what; /* ORDER_BLOB; had bytes of it are there */
	uint64_t had;
};

/* ---- from the client ---- */

enum client_word_kind { WORD_DOCUMENT, WORD_EVENT };

struct client_word {
	enum client_word_kind kind;
	enum media_type type; /* WORD_DOCUMENT: of its size bytes at the beginning of the descriptor */
	enum registry_event_kind event;
	uint64_t blob, bytes, size;
	unsigned int wait_ms;
	char why[CLIENT_WHY_BYTES];
};

/* The next word, of one of these kinds, within bounds for so many blobs. 1; 0: it has gone; -1. */
int client_hear(int talk, size_t blobs_len, struct client_word *w, struct err *e);

#endif

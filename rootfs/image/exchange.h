/* One request to a registry and what becomes of it: again after a redirect, after authorization,
 * after a while, or not at all. Internal to the registry; registry.c drives blobs side by side,
 * exchange_run() drives one document.
 */
#ifndef PINFOLD_ROOTFS_IMAGE_EXCHANGE_H
#define PINFOLD_ROOTFS_IMAGE_EXCHANGE_H

#include "rootfs/image/credentials.h"
#include "rootfs/image/registry.h"

#include <curl/curl.h>

enum {
	EXCHANGE_REDIRECTS_MAX = 5,
	EXCHANGE_AUTHORIZATIONS_MAX = 2, /* without an answer of use in between */
	EXCHANGE_HEADERS_MAX = 64 << 10, /* bytes of one answer's headers */
	EXCHANGE_URL_MAX = 8 << 10,	 /* presigned URLs of object stores are long */
	EXCHANGE_FIELD_MAX = 2048,
	EXCHANGE_TOKEN_MAX = 64 << 10,
	EXCHANGE_ERROR_BODY_MAX = 64 << 10, /* read past, so that the connection can be used again */
	EXCHANGE_WAIT_MAX = 300,	    /* seconds that a Retry-After may ask for */
	EXCHANGE_BACKOFF_MAX = 30000,	    /* milliseconds */
};

struct registry {
	const struct reference *ref;
	const struct registry_options *o;
	struct arena arena;
	struct credentials credentials; /* none: both are "" */
	CURLM *multi;
	CURL *easy;	     /* for one document at a time; keeps its connections */
	char *base;	     /* scheme://host[:port] */
	char *authorization; /* the header's value, NULL: none yet; malloc */
	unsigned int authorization_serial;
	bool answered; /* it has given some answer: it is there */
};

/* What an answer's headers said, as far as anybody asks. */
struct answer {
	size_t header_bytes, error_bytes;
	char type[128], digest[192], range[96], bearer[EXCHANGE_FIELD_MAX];
	bool basic, location_too_long;
	char location[EXCHANGE_URL_MAX];
};

struct exchange;

/* Where a body goes. begin() is called once for an answer that has one of use: with the place of
 * its first byte, which is `from` or 0. Both return -1 with x->err set to end it for good. */
struct sink {
	int (*begin)(struct exchange *x, uint64_t at);
	int (*bytes)(struct exchange *x, const char *bytes, size_t len);
};

enum exchange_next { EXCHANGE_DONE, EXCHANGE_AGAIN, EXCHANGE_FAILED };

struct exchange {
	struct registry *r;
	const struct sink *sink;
	const char *what;	   /* what is fetched, for messages */
	const char *path;	   /* behind base; or a whole URL */
	const char *accept;	   /* NULL: anything */
	const char *authorization; /* instead of the registry's, for tokens */
	bool for_token;
	size_t blob;	   /* its index, SIZE_MAX: none */
	uint64_t from;	   /* bytes that are there: the rest is asked for */
	uint64_t expected; /* bytes in all, UINT64_MAX: not known */
	bool foreign;	   /* a foreign layer */

	CURL *easy; /* while it is under way */
	struct curl_slist *headers;
	char *url; /* the next hop; malloc */
	unsigned int hops, authorizations, tries, serial;
	uint64_t progress_from; /* where the tries began to count */
	int64_t due_ms;
	bool begun, fatal, refused; /* refused: the credentials, for a token */
	bool misplaced;		    /* another range came than was asked for */
	struct answer answer;
	struct err err;
};

/* Tell the caller, if he wants to know. -1 with *e if he ends it. */
int registry_tell(struct registry *r, const struct registry_event *event, struct err *e);

/* Make the handle ready (a new one if easy is NULL) for the next hop. */
int exchange_start(struct exchange *x, CURL *easy, struct err *e);

/* The first byte of an answer of use is there, or its end: is it what was asked for? -1 and x->err. */
int exchange_begin(struct exchange *x, long status);

/* After curl is done with it. AGAIN: not before x->due_ms. FAILED: *e says why. */
enum exchange_next exchange_judge(struct exchange *x, CURLcode code, struct err *e);

/* Give back what start() took; the handle stays if it is the registry's. */
void exchange_stop(struct exchange *x);

/* Start to end, waiting. */
int exchange_run(struct exchange *x, struct err *e);

/* A new url from one that was there and what a header says, under the rules for redirects and
 * realms: https, or http from http to a loopback address; no user in it. NULL and *e. */
char *exchange_next_url(struct registry *r, const char *from, const char *to, struct err *e);

/* http is for loopback addresses alone. */
bool host_is_loopback(const char *host);

/* The answer was 401: get what authorizes. -1 and *e if that does not come. */
int registry_authorize(struct registry *r, const struct answer *answer, struct err *e);

/* A document in memory. */
struct document {
	struct exchange x;
	char *text; /* malloc */
	size_t len, max;
};
void document_free(struct document *d);
#define autodocument __attribute__((cleanup(document_free))) struct document
int document_fetch(struct document *d, struct err *e);

#endif

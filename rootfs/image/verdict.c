/* What to do with an answer, or with none. */
#include "rootfs/image/exchange.h"

#include "base/clock.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

enum {
	PROGRESS_BYTES = 1 << 20
}; /* so much between two failures: the count of tries begins anew */

/* ---- redirects ---- */

/* A URL in its parts. Every part is curl's to free. */
struct parts {
	CURLU *url;
	char *scheme, *host, *user, *whole;
};

static void parts_free(struct parts *p)
{
	curl_free(p->scheme);
	curl_free(p->host);
	curl_free(p->user);
	curl_free(p->whole);
	curl_url_cleanup(p->url);
}
#define autoparts __attribute__((cleanup(parts_free))) struct parts

bool host_is_loopback(const char *host)
{
	struct in_addr v4;
	size_t len = strlen(host);
	if (strcmp(host, "localhost") == 0 || strcmp(host, "[::1]") == 0)
		return true;
	return len < INET_ADDRSTRLEN && inet_pton(AF_INET, host, &v4) == 1 &&
	       ntohl(v4.s_addr) >> 24 == 127;
}

/* Plain HTTP: to this machine, and never from https. */
static int check_plain(const struct registry *r, const char *from, const struct parts *p,
		       struct err *e)
{
	if (strcmp(p->scheme, "http") != 0)
		return err_host(e, "it points to something else than https, which is not followed");
	if (strncmp(r->base, "http:", 5) != 0 || (from && strncmp(from, "http:", 5) != 0))
		return err_host(e, "it points from https to http, which is not followed");
	if (!host_is_loopback(p->host))
		return err_host(e, "it points to plain http off this machine, which is not followed");
	return 0;
}

char *exchange_next_url(struct registry *r, const char *from, const char *to, struct err *e)
{
	autoparts p = {.url = curl_url()};
	if (!p.url || (from && curl_url_set(p.url, CURLUPART_URL, from, 0) != CURLUE_OK) ||
	    curl_url_set(p.url, CURLUPART_URL, to, 0) != CURLUE_OK ||
	    curl_url_get(p.url, CURLUPART_SCHEME, &p.scheme, 0) != CURLUE_OK ||
	    curl_url_get(p.url, CURLUPART_HOST, &p.host, 0) != CURLUE_OK ||
	    curl_url_set(p.url, CURLUPART_FRAGMENT, NULL, 0) != CURLUE_OK ||
	    curl_url_get(p.url, CURLUPART_URL, &p.whole, 0) != CURLUE_OK) {
		err_host(e, "it points to what is no address");
		return NULL;
	}
	curl_url_get(p.url, CURLUPART_USER, &p.user, 0);
	if (p.user) {
		err_host(e, "it points to an address with a user in it");
		return NULL;
	}
	if (strcmp(p.scheme, "https") != 0 && check_plain(r, from, &p, e) < 0)
		return NULL;
	char *copy = strdup(p.whole);
	if (!copy)
		err_host(e, "out of memory");
	return copy;
}

static enum exchange_next redirect(struct exchange *x, struct err *e)
{
	if (x->answer.location_too_long || !x->answer.location[0]) {
		err_host(e, "a redirect to %s",
			 x->answer.location_too_long ? "an address that is too long" : "nowhere");
		return EXCHANGE_FAILED;
	}
	if (x->hops >= EXCHANGE_REDIRECTS_MAX) {
		err_host(e, "more than %d redirects", EXCHANGE_REDIRECTS_MAX);
		return EXCHANGE_FAILED;
	}
	char *next = exchange_next_url(x->r, x->url, x->answer.location, e);
	if (!next) {
		err_wrap(e, "a redirect");
		return EXCHANGE_FAILED;
	}
	free(x->url);
	x->url = next;
	x->hops++;
	x->due_ms = 0;
	return EXCHANGE_AGAIN;
}

/* ---- later ---- */

/* Twice as long each time, and not all at once: between half and the whole of it. */
static unsigned int backoff(const struct exchange *x)
{
	uint64_t most = (uint64_t)x->r->o->backoff_ms << (x->tries < 16 ? x->tries : 16);
	uint32_t chance = 0;
	if (most > EXCHANGE_BACKOFF_MAX)
		most = EXCHANGE_BACKOFF_MAX;
	if (getrandom(&chance, sizeof(chance), GRND_NONBLOCK) != sizeof(chance))
		chance = 0;
	return (unsigned int)(most / 2 + (most > 1 ? chance % (most / 2 + 1) : 0));
}

/* *e has what was wrong. Begins at the registry again: where it redirected to may have been for once. */
static enum exchange_next later(struct exchange *x, struct err *e)
{
	curl_off_t asked = 0;
	curl_easy_getinfo(x->easy, CURLINFO_RETRY_AFTER, &asked);
	if (x->from >= x->progress_from + PROGRESS_BYTES) {
		x->tries = 0;
		x->progress_from = x->from;
	}
	if (x->tries >= x->r->o->retries) {
		if (x->tries > 0)
			err_wrap(e, "given up after %u tries", x->tries + 1);
		return EXCHANGE_FAILED;
	}
	if (asked > EXCHANGE_WAIT_MAX) {
		err_wrap(e, "it asks to come back in %lld seconds", (long long)asked);
		return EXCHANGE_FAILED;
	}
	unsigned int wait = asked > 0 ? (unsigned int)asked * 1000 : backoff(x);
	const struct registry_event event = {REGISTRY_RETRY,
					     x->blob,
					     x->from,
					     x->expected == UINT64_MAX ? 0 : x->expected,
					     e->msg,
					     wait};
	x->tries++;
	x->due_ms = monotonic_ms() + wait;
	free(x->url);
	x->url = NULL;
	if (registry_tell(x->r, &event, e) < 0)
		return EXCHANGE_FAILED;
	*e = (struct err)ERR_INIT;
	return EXCHANGE_AGAIN;
}

/* ---- by what curl says ---- */

static bool may_pass(CURLcode code)
{
	static const CURLcode rows[] = {
		CURLE_COULDNT_RESOLVE_PROXY,
		CURLE_COULDNT_RESOLVE_HOST,
		CURLE_COULDNT_CONNECT,
		CURLE_PARTIAL_FILE,
		CURLE_OPERATION_TIMEDOUT,
		CURLE_GOT_NOTHING,
		CURLE_SEND_ERROR,
		CURLE_RECV_ERROR,
		CURLE_SSL_CONNECT_ERROR,
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i] == code)
			return true;
	}
	return false;
}

/* A name with a typing error fails at once; a registry that was there may come back. */
static bool worth_a_retry(const struct exchange *x, CURLcode code)
{
	bool absent = code == CURLE_COULDNT_RESOLVE_HOST || code == CURLE_COULDNT_RESOLVE_PROXY ||
		      code == CURLE_COULDNT_CONNECT || code == CURLE_SSL_CONNECT_ERROR;
	return may_pass(code) && (x->r->answered || !absent);
}

/* A redirect may have led elsewhere than the reference says: whom it was that did not answer. */
static void name_the_host(const struct exchange *x, struct err *e)
{
	char *host = NULL, *port = NULL;
	CURLU *url = curl_url();
	if (url && x->url && curl_url_set(url, CURLUPART_URL, x->url, 0) == CURLUE_OK &&
	    curl_url_get(url, CURLUPART_HOST, &host, 0) == CURLUE_OK &&
	    curl_url_get(url, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT) == CURLUE_OK)
		err_wrap(e, "%.255s:%s", host, port);
	curl_free(host);
	curl_free(port);
	curl_url_cleanup(url);
}

static enum exchange_next no_answer(struct exchange *x, CURLcode code, struct err *e)
{
	if (code == CURLE_OPERATION_TIMEDOUT)
		err_host(e, "slower than %d bytes a second for %u seconds, or no connection",
			 REGISTRY_RATE_MIN, x->r->o->stall_seconds);
	else if (code == CURLE_PARTIAL_FILE)
		err_host(e, "the connection was cut in the middle");
	else if (code == CURLE_SSL_CONNECT_ERROR && !x->r->answered)
		err_host(e,
			 "%s (one on this machine that speaks plain http needs --insecure-registry)",
			 curl_easy_strerror(code));
	else
		err_host(e, "%s", curl_easy_strerror(code));
	name_the_host(x, e);
	return worth_a_retry(x, code) ? later(x, e) : EXCHANGE_FAILED;
}

/* ---- by status ---- */

static enum exchange_next unauthorized(struct exchange *x, struct err *e)
{
	if (x->for_token) {
		x->refused = true;
		err_host(e, "%s",
			 x->authorization ? "the credentials are refused" : "credentials are needed");
		return EXCHANGE_FAILED;
	}
	if (x->hops > 0) {
		err_host(e, "where the registry redirects to wants an authorization (401)");
		return EXCHANGE_FAILED;
	}
	if (x->authorizations++ >= EXCHANGE_AUTHORIZATIONS_MAX) {
		err_host(e, "still refused (401) with what authorizes");
		return EXCHANGE_FAILED;
	}
	/* another exchange may have got a new one since this began */
	if (x->serial == x->r->authorization_serial && registry_authorize(x->r, &x->answer, e) < 0)
		return EXCHANGE_FAILED;
	x->due_ms = 0;
	return EXCHANGE_AGAIN;
}

/* What was there cannot be gone on with, as *e says: from the beginning. */
static enum exchange_next from_the_beginning(struct exchange *x, struct err *e)
{
	if (x->from == 0)
		return EXCHANGE_FAILED;
	x->from = 0;
	return later(x, e);
}

static enum exchange_next no_such_range(struct exchange *x, struct err *e)
{
	err_host(e, "%s",
		 x->from == 0 ? "the registry refuses a range that was not asked for (416)"
			      : "the registry has less than what is there already (416)");
	return from_the_beginning(x, e);
}

static enum exchange_next other_range(struct exchange *x, struct err *e)
{
	*e = x->err;
	x->err = (struct err)ERR_INIT;
	return from_the_beginning(x, e);
}

static enum exchange_next by_status(struct exchange *x, long status, struct err *e)
{
	if (status == 301 || status == 302 || status == 303 || status == 307 || status == 308)
		return redirect(x, e);
	if (status == 401)
		return unauthorized(x, e);
	if (status == 416)
		return no_such_range(x, e);
	if (status == 403)
		err_host(e, "the registry forbids it (403)");
	else if (status == 404)
		err_host(e, "%s",
			 x->foreign ? "the registry does not have this foreign layer (404), and "
				      "the addresses that it names are not followed"
				    : "not found (404)");
	else if (status == 429)
		err_host(e, "too many requests, says the registry (429)");
	else
		err_host(e, "HTTP status %ld", status);
	return status == 408 || status == 429 || (status >= 500 && status != 501 && status != 505)
		       ? later(x, e)
		       : EXCHANGE_FAILED;
}

/* A good answer is at its end; was it all? */
static enum exchange_next good(struct exchange *x, long status, struct err *e)
{
	if (!x->begun && exchange_begin(x, status) < 0) {
		if (x->misplaced)
			return other_range(x, e);
		*e = x->err;
		return EXCHANGE_FAILED;
	}
	if (x->expected != UINT64_MAX && x->from < x->expected) {
		err_host(e, "the answer ended before its end");
		return later(x, e);
	}
	return EXCHANGE_DONE;
}

enum exchange_next exchange_judge(struct exchange *x, CURLcode code, struct err *e)
{
	long status = 0;
	curl_easy_getinfo(x->easy, CURLINFO_RESPONSE_CODE, &status);
	if (x->fatal) {
		*e = x->err;
		return EXCHANGE_FAILED;
	}
	if (status > 0)
		x->r->answered = true;
	if (x->misplaced)
		return other_range(x, e);
	bool is_good = status == 200 || status == 206;
	if (is_good)
		x->authorizations = 0;
	/* the status of an answer that is not wanted counts, even if its body was too long or cut */
	if (status >= 300 &&
	    (code == CURLE_OK || code == CURLE_WRITE_ERROR || code == CURLE_PARTIAL_FILE))
		return by_status(x, status, e);
	if (code != CURLE_OK)
		return no_answer(x, code, e);
	return is_good ? good(x, status, e) : by_status(x, status, e);
}

/* ---- one document, waiting ---- */

static void wait_until(int64_t due)
{
	for (int64_t left; (left = due - monotonic_ms()) > 0;) {
		const struct timespec nap = {.tv_sec = left / 1000, .tv_nsec = left % 1000 * 1000000};
		nanosleep(&nap, NULL);
	}
}

int exchange_run(struct exchange *x, struct err *e)
{
	enum exchange_next next = EXCHANGE_AGAIN;
	while (next == EXCHANGE_AGAIN) {
		wait_until(x->due_ms);
		if (exchange_start(x, x->r->easy, e) < 0)
			next = EXCHANGE_FAILED;
		else
			next = exchange_judge(x, curl_easy_perform(x->easy), e);
		exchange_stop(x);
	}
	free(x->url);
	x->url = NULL;
	return next == EXCHANGE_DONE ? 0 : err_wrap(e, "%s", x->what);
}

/* ---- documents ---- */

static struct document *document_of(struct exchange *x)
{
	return (struct document *)((char *)x - offsetof(struct document, x));
}

static int document_begin(struct exchange *x, uint64_t at)
{
	(void)at;
	document_of(x)->len = 0;
	return 0;
}

static int document_bytes(struct exchange *x, const char *bytes, size_t len)
{
	struct document *d = document_of(x);
	if (len > d->max - d->len)
		return err_host(&x->err, "larger than %zu bytes", d->max);
	memcpy(d->text + d->len, bytes, len);
	d->len += len;
	return 0;
}

void document_free(struct document *d)
{
	free(d->text);
	d->text = NULL;
}

int document_fetch(struct document *d, struct err *e)
{
	static const struct sink sink = {document_begin, document_bytes};
	d->x.sink = &sink;
	d->x.blob = SIZE_MAX;
	d->x.expected = UINT64_MAX;
	d->text = malloc(d->max);
	d->len = 0;
	return d->text ? exchange_run(&d->x, e) : err_host(e, "out of memory");
}

/* Blobs side by side, each into a file: hashed and counted as it comes, resumed where it broke off. */
#include "rootfs/image/exchange.h"

#include "base/clock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TELL_MS = 100, POLL_MS = 200, READ_BYTES = 64 << 10 };

enum state { STATE_WAITING, STATE_ACTIVE, STATE_DONE };

struct download {
	struct exchange x;
	struct registry_blob *blob;
	struct hash hash; /* of the first x.from bytes */
	bool pieced;	  /* put together out of more than one try, one of them not ours perhaps */
	bool again;	  /* after it was wrong */
	bool told;
	enum state state;
	int64_t told_ms;
};

struct downloads {
	struct registry *r;
	struct download *list;
	size_t len, active, done;
	struct arena arena;
};

static struct download *download_of(struct exchange *x)
{
	return (struct download *)((char *)x - offsetof(struct download, x));
}

static int tell(struct download *d, enum registry_event_kind kind, struct err *e)
{
	const struct registry_event event = {.kind = kind,
					     .blob = d->x.blob,
					     .bytes = d->x.from,
					     .size = d->x.expected};
	d->told_ms = monotonic_ms();
	return registry_tell(d->x.r, &event, e);
}

/* ---- the file ---- */

static int restart(struct download *d, struct err *e)
{
	if (ftruncate(d->blob->fd, 0) < 0)
		return err_sys(e, "cut a partial download");
	hash_restart(&d->hash);
	d->x.from = 0; /* x.progress_from stays: to come as far once more is no progress */
	d->pieced = false;
	return 0;
}

/* What is there from an earlier time goes into the hash; what is more than it says is cut off. */
static int take_up(struct download *d, struct err *e)
{
	autoarena a = ARENA_INIT;
	char *buffer = arena_alloc(&a, READ_BYTES);
	uint64_t had = d->blob->had <= d->x.expected ? d->blob->had : 0;
	if (hash_init(&d->hash, e) < 0)
		return -1;
	while (d->x.from < had) {
		uint64_t left = had - d->x.from;
		ssize_t got = pread(d->blob->fd, buffer, left < READ_BYTES ? left : READ_BYTES,
				    (off_t)d->x.from);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return err_sys(e, "read a partial download");
		if (got == 0)
			break;
		hash_update(&d->hash, buffer, (size_t)got);
		d->x.from += (uint64_t)got;
	}
	d->pieced = d->x.from > 0;
	d->x.progress_from = d->x.from;
	return ftruncate(d->blob->fd, (off_t)d->x.from) < 0 ? err_sys(e, "cut a partial download")
							    : 0;
}

static int sink_begin(struct exchange *x, uint64_t at)
{
	struct download *d = download_of(x);
	/* from the beginning: asked for, or the server does not know ranges */
	if (at == 0)
		return restart(d, &x->err);
	d->pieced = true;
	return 0;
}

static int sink_bytes(struct exchange *x, const char *bytes, size_t len)
{
	struct download *d = download_of(x);
	if (len > x->expected - x->from)
		return err_host(&x->err, "more bytes than the manifest says: wrong size");
	hash_update(&d->hash, bytes, len);
	for (size_t at = 0; at < len;) {
		ssize_t got = pwrite(d->blob->fd, bytes + at, len - at, (off_t)x->from);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			/* the hash is ahead of the file now, so nothing may go on from here */
			return err_sys(&x->err, "write the download");
		}
		at += (size_t)got;
		x->from += (uint64_t)got;
	}
	return monotonic_ms() - d->told_ms >= TELL_MS ? tell(d, REGISTRY_MOVED, &x->err) : 0;
}

/* ---- one blob ---- */

/* All bytes are there. What was pieced together and is wrong gets one more chance, from the beginning. */
static int check_whole(struct download *d, struct err *e)
{
	struct digest digest;
	bool pieced = d->pieced;
	hash_final(&d->hash, &digest);
	if (digest_same(&digest, &d->blob->what.digest)) {
		d->state = STATE_DONE;
		return tell(d, REGISTRY_DONE, e);
	}
	if (restart(d, e) < 0)
		return -1;
	if (!pieced || d->again)
		return err_host(e, "wrong digest: it is %s", digest.text);
	d->again = true;
	d->state = STATE_WAITING;
	return 0;
}

static int activate(struct downloads *all, struct download *d, struct err *e)
{
	if (!d->told && tell(d, REGISTRY_STARTED, e) < 0)
		return -1;
	d->told = true;
	if (d->x.from == d->x.expected)
		return check_whole(d, e);
	if (exchange_start(&d->x, NULL, e) < 0)
		return -1;
	if (curl_multi_add_handle(all->r->multi, d->x.easy) != CURLM_OK)
		return err_host(e, "libcurl takes no more transfers");
	d->state = STATE_ACTIVE;
	all->active++;
	return 0;
}

static void deactivate(struct downloads *all, struct download *d)
{
	if (d->state == STATE_ACTIVE) {
		curl_multi_remove_handle(all->r->multi, d->x.easy);
		all->active--;
		d->state = STATE_WAITING;
	}
	exchange_stop(&d->x);
}

static int finished(struct downloads *all, struct download *d, CURLcode code, struct err *e)
{
	enum exchange_next next = exchange_judge(&d->x, code, e);
	deactivate(all, d);
	if (next == EXCHANGE_DONE) {
		free(d->x.url);
		d->x.url = NULL;
	}
	if (next == EXCHANGE_FAILED || (next == EXCHANGE_DONE && check_whole(d, e) < 0))
		return err_wrap(e, "%s", d->x.what);
	return 0;
}

/* ---- all of them ---- */

/* Start what is due while there is room; the earliest time at which another will be. */
static int start_due(struct downloads *all, int64_t *next_ms, struct err *e)
{
	int64_t now = monotonic_ms();
	*next_ms = now + POLL_MS;
	all->done = 0;
	for (size_t i = 0; i < all->len; i++) {
		struct download *d = &all->list[i];
		if (d->state == STATE_WAITING && d->x.due_ms > now)
			*next_ms = d->x.due_ms < *next_ms ? d->x.due_ms : *next_ms;
		else if (d->state == STATE_WAITING && all->active < all->r->o->parallel &&
			 activate(all, d, e) < 0)
			return err_wrap(e, "%s", d->x.what);
		if (d->state == STATE_WAITING && d->x.due_ms <= now &&
		    all->active < all->r->o->parallel)
			*next_ms = now;
		all->done += d->state == STATE_DONE;
	}
	return 0;
}

static int take_finished(struct downloads *all, struct err *e)
{
	const CURLMsg *message;
	int left;
	while ((message = curl_multi_info_read(all->r->multi, &left))) {
		struct exchange *x = NULL;
		curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&x);
		if (message->msg == CURLMSG_DONE &&
		    finished(all, download_of(x), message->data.result, e) < 0)
			return -1;
	}
	return 0;
}

static int run(struct downloads *all, struct err *e)
{
	int64_t next_ms;
	int running;
	for (;;) {
		if (start_due(all, &next_ms, e) < 0)
			return -1;
		if (all->done == all->len)
			return 0;
		if (curl_multi_perform(all->r->multi, &running) != CURLM_OK)
			return err_host(e, "libcurl gives up");
		if (take_finished(all, e) < 0)
			return -1;
		int64_t wait = next_ms - monotonic_ms();
		if (wait > 0)
			curl_multi_poll(all->r->multi, NULL, 0, (int)wait, NULL);
	}
}

static int prepare(struct downloads *all, struct registry_blob *blobs, struct err *e)
{
	static const struct sink sink = {sink_begin, sink_bytes};
	for (size_t i = 0; i < all->len; i++) {
		struct download *d = &all->list[i];
		const struct descriptor *what = &blobs[i].what;
		d->blob = &blobs[i];
		d->x.r = all->r;
		d->x.sink = &sink;
		d->x.what = arena_printf(&all->arena, "blob %s of %s", what->digest.text,
					 all->r->ref->repository);
		d->x.path = arena_printf(&all->arena, "/v2/%s/blobs/%s", all->r->ref->repository,
					 what->digest.text);
		d->x.blob = i;
		d->x.expected = what->size;
		d->x.foreign = media_is_foreign(what->type);
		if (take_up(d, e) < 0)
			return err_wrap(e, "%s", d->x.what);
	}
	return 0;
}

static void end(struct downloads *all)
{
	for (size_t i = 0; i < all->len; i++) {
		struct download *d = &all->list[i];
		deactivate(all, d);
		if (d->blob && d->hash.context)
			d->blob->had = d->x.from;
		hash_free(&d->hash);
		free(d->x.url);
	}
	free(all->list);
	arena_free(&all->arena);
}

int registry_blobs(struct registry *r, struct registry_blob *blobs, size_t len, struct err *e)
{
	struct downloads all = {.r = r, .len = len, .list = calloc(len + 1, sizeof(*all.list))};
	if (!all.list)
		return err_host(e, "out of memory");
	int result = prepare(&all, blobs, e);
	if (result == 0)
		result = run(&all, e);
	end(&all);
	return result;
}

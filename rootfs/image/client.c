/* The work of the client, in its jail. */
#include "rootfs/image/client.h"

#include "base/fd.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct work {
	struct client *client;
	struct registry *registry;
	struct registry_blob blobs[LAYERS_MAX + 1];
	size_t blobs_len;
};

static int say(const struct client *c, const struct client_word *w, struct err *e)
{
	return fd_send(c->talk, w, sizeof(*w), NULL, 0) < 0 ? err_sys(e, "the client's socket") : 0;
}

static int on_event(void *context, const struct registry_event *event)
{
	const struct client *c = context;
	struct err ignored = ERR_INIT;
	struct client_word w = {.kind = WORD_EVENT,
				.event = event->kind,
				.blob = event->blob,
				.bytes = event->bytes,
				.size = event->size,
				.wait_ms = event->wait_ms};
	if (event->why)
		snprintf(w.why, sizeof(w.why), "%s", event->why);
	return say(c, &w, &ignored);
}

static int send_document(struct work *w, const struct client_order *o, struct err *e)
{
	const struct client *c = w->client;
	struct registry_document d;
	if (registry_document(w->registry, o->name, o->size, &d, e) < 0)
		return -1;
	const ssize_t n = pwrite(c->document, d.text, d.len, 0);
	const struct client_word word = {.kind = WORD_DOCUMENT, .type = d.type, .size = d.len};
	free(d.text);
	if (n != (ssize_t)word.size)
		return err_sys(e, "hand on the manifest");
	return say(c, &word, e);
}

static int add_blob(struct work *w, const struct client_order *o, int *fd, struct err *e)
{
	if (*fd < 0 || w->blobs_len == LAYERS_MAX + 1)
		return err_bug(e, "a blob without a file for it");
	w->blobs[w->blobs_len++] = (struct registry_blob){o->what, fd_take(fd), o->had};
	return 0;
}

/* 1: there may be more to do; 0: that was all; -1. */
static int obey(struct work *w, struct err *e)
{
	struct client_order o;
	autoclose int fd = -1;
	size_t fds = 1;
	const int got = fd_recv(w->client->talk, &o, sizeof(o), &fd, &fds);
	if (got <= 0)
		return got < 0 ? err_sys(e, "the client's socket") : 0;
	switch (o.kind) {
	case ORDER_DOCUMENT:
		return send_document(w, &o, e) < 0 ? -1 : 1;
	case ORDER_BLOB:
		return add_blob(w, &o, &fd, e) < 0 ? -1 : 1;
	case ORDER_BLOBS:
		return registry_blobs(w->registry, w->blobs, w->blobs_len, e);
	}
	return err_bug(e, "the client does not know what it is asked for");
}

int client_run(int root, void *client, struct err *e)
{
	static struct credentials credentials;
	struct client *c = client;
	struct work *w = calloc(1, sizeof(*w));
	(void)root;
	if (!w)
		return err_host(e, "out of memory");
	/* One heap for all threads: those that look up names would have 64 MiB of addresses each. */
	mallopt(M_ARENA_MAX, 1);
	w->client = c;
	c->o.progress = on_event;
	c->o.progress_context = c;
	c->o.credentials = c->credentials >= 0 ? &credentials : NULL;
	int rc = c->credentials < 0 ? 0 : credentials_receive(&credentials, c->credentials, e);
	if (rc == 0)
		rc = registry_open(&w->registry, c->ref, &c->o, e);
	if (rc == 0)
		while ((rc = obey(w, e)) > 0)
			;
	registry_close(w->registry);
	free(w);
	return rc;
}

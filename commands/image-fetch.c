#include "commands/image-fetch.h"

#include "base/fd.h"
#include "rootfs/image/store.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	LOOK_MS = 200,	     /* so often the files are looked at */
	READER_SECONDS = 60, /* of processor time, for 4 MiB of JSON */
};

/* ---- credentials ---- */

struct lookup {
	const struct reference *ref;
	const char *path;
	int file, to;
};

/* In a jail without a network, for the sake of the other registries' credentials in that file. */
static int look_up(int root, void *arg, struct err *e)
{
	static struct credentials found;
	const struct lookup *l = arg;
	(void)root;
	if (credentials_read(&found, l->file, l->path, l->ref, e) < 0)
		return -1;
	return credentials_send(&found, l->to, e);
}

/* The end of a pipe that has them; -1 and e->kind ERR_NONE: no file was given. */
static int find_credentials(const struct fetch *f, struct err *e)
{
	const char *path = f->o->registry.auth_file;
	int ends[2];
	if (!path)
		return -1;
	autoclose int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (file < 0 && !(errno == ENOENT && f->o->auth_file_missing))
		return err_sys(e, "open %s", path);
	if (pipe2(ends, O_CLOEXEC) < 0)
		return err_sys(e, "pipe");
	autoclose int from = ends[0];
	autoclose int to = ends[1];
	struct lookup l = {f->client.ref, path, file, to};
	const struct jail jail = {.root = -1,
				  .fds = (const int[]){file, to},
				  .fds_len = 2,
				  .cpu_seconds = READER_SECONDS,
				  .run = look_up,
				  .arg = &l};
	return jail_run(&jail, e) < 0 ? -1 : fd_take(&from);
}

/* ---- begin and end ---- */

/* Its size is fixed: whoever writes there uses up no more memory than that. */
static int make_document(struct err *e)
{
	autoclose int fd = memfd_create("document", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0 || ftruncate(fd, JSON_BYTES_MAX) < 0 ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) < 0)
		return err_sys(e, "a place for the manifest");
	return fd_take(&fd);
}

static int start(struct fetch *f, int talk, int credentials, struct err *e)
{
	const int fds[] = {talk, f->document, credentials};
	f->client.talk = talk;
	f->client.document = f->document;
	f->client.credentials = credentials;
	f->jail = (struct jail){
		.kind = JAIL_CLIENT,
		.root = -1,
		.fill = client_fill,
		.fds = fds,
		.fds_len = sizeof(fds) / sizeof(*fds),
		.environment = client_environment,
		.cpu_seconds = unpack_seconds(&f->o->limits, f->o->registry.image_bytes_max),
		.file_bytes = f->o->registry.blob_bytes_max > JSON_BYTES_MAX
				      ? f->o->registry.blob_bytes_max
				      : JSON_BYTES_MAX,
		.run = client_run,
		.arg = &f->client,
	};
	return jail_start(&f->child, &f->jail, e);
}

int fetch_begin(struct fetch *f, const struct reference *ref, const struct fetch_options *o,
		struct err *e)
{
	struct err failed = ERR_INIT;
	int ends[2];
	f->o = o;
	f->client = (struct client){.ref = ref, .o = o->registry, .ca_file = o->ca_file};
	autoclose int credentials = find_credentials(f, &failed);
	if (failed.kind != ERR_NONE) {
		*e = failed;
		return -1;
	}
	f->document = make_document(e);
	if (f->document < 0)
		return -1;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return err_sys(e, "socketpair");
	f->talk = ends[0];
	autoclose int talk = ends[1];
	return start(f, talk, credentials, e);
}

void fetch_end(struct fetch *f)
{
	jail_kill(&f->child);
	fd_close(&f->talk);
	fd_close(&f->document);
}

/* ---- talk ---- */

/* The client has closed its end of the socket, which it does by ending: with what it said to that,
 * or how it died. One that goes on without the socket is not waited for. */
static int gone(struct fetch *f, struct err *e)
{
	fd_close(&f->talk);
	if (f->child.pid <= 0)
		return err_bug(e, "the registry's client is gone already");
	jail_stop(&f->child);
	return jail_finish(&f->child, &f->jail, e);
}

/* Before it has done what it is for. */
static int gone_early(struct fetch *f, struct err *e)
{
	return gone(f, e) < 0 ? -1 : err_bug(e, "the registry's client ended before its work did");
}

static int order(struct fetch *f, const struct client_order *o, int fd, struct err *e)
{
	if (fd_send(f->talk, o, sizeof(*o), &fd, fd >= 0) == 0)
		return 0;
	return errno == EPIPE || errno == ECONNRESET || errno == EBADF
		       ? gone_early(f, e)
		       : err_sys(e, "the registry's client");
}

/* Tell the caller, in figures that can be; -1: he has enough of it. */
static int tell(const struct fetch *f, const struct client_word *w, uint64_t size, struct err *e)
{
	const struct registry_options *o = &f->o->registry;
	const struct registry_event event = {.kind = w->event,
					     .blob = w->blob,
					     .bytes = w->bytes < size ? w->bytes : size,
					     .size = size,
					     .why = w->why,
					     .wait_ms = w->wait_ms};
	return !o->progress || o->progress(o->progress_context, &event) == 0
		       ? 0
		       : err_usage(e, "cancelled");
}

/* ---- documents ---- */

struct document {
	struct parse parse;   /* its bytes are free()'s */
	uint64_t size;	      /* what a descriptor said; UINT64_MAX: nobody did */
	struct digest digest; /* of the bytes */
};

/* What the client wrote, copied, so that it stays what it is from here on. */
static char *copy_document(const struct fetch *f, size_t len, struct err *e)
{
	char *text = malloc(len + 1);
	if (!text)
		err_host(e, "out of memory");
	else if (pread(f->document, text, len, 0) != (ssize_t)len) {
		err_sys(e, "read the manifest");
		free(text);
		text = NULL;
	}
	return text;
}

static int wait_document(struct fetch *f, struct client_word *w, struct err *e)
{
	for (;;) {
		const int got = client_hear(f->talk, 0, w, e);
		if (got <= 0)
			return got < 0 ? -1 : gone_early(f, e);
		if (w->kind == WORD_DOCUMENT)
			return 0;
		if (tell(f, w, 0, e) < 0)
			return -1;
	}
}

static int check_bytes(const char *name, struct document *d, struct err *e)
{
	autohash h = HASH_INIT;
	if (hash_init(&h, e) < 0)
		return -1;
	hash_update(&h, d->parse.bytes.text, d->parse.bytes.len);
	hash_final(&h, &d->digest);
	if (strchr(name, ':') && strcmp(name, d->digest.text) != 0)
		return err_host(e, "manifest %s: wrong digest: it is %s", name, d->digest.text);
	if (d->size != UINT64_MAX && d->size != d->parse.bytes.len)
		return err_host(e, "manifest %s: wrong size", name);
	return 0;
}

/* The document of that tag or digest. */
static int get_document(struct fetch *f, const char *name, struct document *d, struct err *e)
{
	struct client_order o = {.kind = ORDER_DOCUMENT, .size = d->size};
	struct client_word w;
	enum media_type *type = &d->parse.type;
	if (strlen(name) >= sizeof(o.name))
		return err_usage(e, "a tag of more than %d bytes", CLIENT_NAME_BYTES);
	memcpy(o.name, name, strlen(name) + 1);
	if (order(f, &o, -1, e) < 0 || wait_document(f, &w, e) < 0)
		return -1;
	char *text = copy_document(f, (size_t)w.size, e);
	if (!text)
		return -1;
	d->parse.bytes = (struct json_bytes){text, (size_t)w.size};
	if (check_bytes(name, d, e) < 0)
		return -1;
	if (w.type != MEDIA_UNKNOWN && *type != MEDIA_UNKNOWN && w.type != *type)
		return err_host(e, "manifest %s: it came as %s, and the index says %s", name,
				media_type_text(w.type), media_type_text(*type));
	*type = w.type != MEDIA_UNKNOWN ? w.type : *type;
	return 0;
}

/* By a process that has never met the registry: what a digest pins is read without its help. */
static int parse_jailed(struct parse *p, struct err *e)
{
	const struct jail jail = {.root = -1,
				  .cpu_seconds = READER_SECONDS,
				  .run = parse_document,
				  .arg = p,
				  .report = &p->parsed,
				  .report_len = sizeof(p->parsed)};
	return jail_run(&jail, e) < 0 ? -1 : parsed_check(&p->parsed, e);
}

static void drop_bytes(struct document *d)
{
	free((char *)(uintptr_t)d->parse.bytes.text);
	d->parse.bytes = (struct json_bytes){NULL, 0};
}

/* From an index to the manifest in it. */
static int follow_index(struct fetch *f, struct document *d, struct err *e)
{
	const struct descriptor chosen = d->parse.parsed.chosen;
	drop_bytes(d);
	d->parse.type = chosen.type;
	d->size = chosen.size;
	if (get_document(f, chosen.digest.text, d, e) < 0 || parse_jailed(&d->parse, e) < 0)
		return -1;
	return d->parse.parsed.role == ROLE_MANIFEST
		       ? 0
		       : err_usage(e, "an index within the index is not followed");
}

static int get_manifest(struct fetch *f, struct document *d, struct digest *named, struct err *e)
{
	const struct reference *ref = f->client.ref;
	if (get_document(f, ref->digest ? ref->digest : ref->tag, d, e) < 0 ||
	    parse_jailed(&d->parse, e) < 0)
		return -1;
	*named = d->digest;
	return d->parse.parsed.role == ROLE_INDEX ? follow_index(f, d, e) : 0;
}

int fetch_manifest(struct fetch *f, const struct platform *platform, struct fetched *m,
		   struct arena *a, struct err *e)
{
	struct document *d = calloc(1, sizeof(*d));
	if (!d)
		return err_host(e, "out of memory");
	d->size = UINT64_MAX;
	d->parse.platform = *platform;
	const int rc = get_manifest(f, d, &m->named, e);
	if (rc == 0) {
		const struct json_bytes bytes = d->parse.bytes;
		m->bytes = (struct json_bytes){arena_strndup(a, bytes.text, bytes.len), bytes.len};
		m->digest = d->digest;
		m->parsed = d->parse.parsed;
	}
	drop_bytes(d);
	free(d);
	return rc;
}

/* ---- blobs ---- */

/* Before anything is asked for. */
static int check_sizes(const struct registry_options *o, const struct registry_blob *blobs,
		       size_t len, uint64_t *total, struct err *e)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < len; i++) {
		uint64_t size = blobs[i].what.size;
		if (size > o->blob_bytes_max)
			return err_usage(e,
					 "%s: %llu bytes, and a blob may have %llu (--limit-bytes)",
					 blobs[i].what.digest.text, (unsigned long long)size,
					 (unsigned long long)o->blob_bytes_max);
		if (size > o->image_bytes_max - sum)
			return err_usage(e,
					 "more than %llu bytes in all, which an image may have (--limit-bytes)",
					 (unsigned long long)o->image_bytes_max);
		sum += size;
	}
	*total = sum;
	return 0;
}

/* The client gets one more descriptor of the file. More than the blob has is not the beginning of it. */
static int hand_over(struct fetch *f, struct registry_blob *b, struct err *e)
{
	struct stat st;
	if (fstat(b->fd, &st) < 0)
		return err_sys(e, "stat a partial download");
	if ((uint64_t)st.st_size > b->what.size) {
		if (ftruncate(b->fd, 0) < 0)
			return err_sys(e, "cut a partial download");
		b->had = 0;
	}
	const struct client_order o = {.kind = ORDER_BLOB, .what = b->what, .had = b->had};
	return order(f, &o, b->fd, e);
}

static int order_blobs(struct fetch *f, struct registry_blob *blobs, size_t len, uint64_t total,
		       struct err *e)
{
	const struct client_order all = {.kind = ORDER_BLOBS};
	uint64_t largest = JSON_BYTES_MAX;
	for (size_t i = 0; i < len; i++)
		largest = blobs[i].what.size > largest ? blobs[i].what.size : largest;
	if (jail_limit(&f->child, &f->jail, largest, unpack_seconds(&f->o->limits, total), e) < 0)
		return -1;
	for (size_t i = 0; i < len; i++)
		if (hand_over(f, &blobs[i], e) < 0)
			return -1;
	return order(f, &all, -1, e);
}

/* No client of ours writes more than a blob has: one that does would fill the disk. */
static int look_at_files(const struct registry_blob *blobs, size_t len, struct err *e)
{
	struct stat st;
	for (size_t i = 0; i < len; i++) {
		if (fstat(blobs[i].fd, &st) < 0)
			return err_sys(e, "stat a partial download");
		if ((uint64_t)st.st_size > blobs[i].what.size)
			return err_bug(e, "blob %s: the registry's client wrote more than it has",
				       blobs[i].what.digest.text);
	}
	return 0;
}

/* Until it has gone. */
static int follow_blobs(struct fetch *f, const struct registry_blob *blobs, size_t len, struct err *e)
{
	struct client_word w;
	int got = 1;
	while (got > 0) {
		struct pollfd p = {.fd = f->talk, .events = POLLIN};
		const int ready = poll(&p, 1, LOOK_MS);
		if (ready < 0 && errno != EINTR)
			return err_sys(e, "poll");
		if (look_at_files(blobs, len, e) < 0)
			return -1;
		if (ready <= 0)
			continue;
		got = client_hear(f->talk, len, &w, e);
		const uint64_t size = got > 0 && w.blob != SIZE_MAX ? blobs[w.blob].what.size : 0;
		if (got > 0 && (w.kind != WORD_EVENT ? err_bug(e, "a manifest, for blobs")
						     : tell(f, &w, size, e)) < 0)
			return -1;
	}
	return got < 0 ? -1 : gone(f, e);
}

/* It is dead, so nobody can write there any more: now the bytes are what they are. */
static int check_blobs(const struct registry_blob *blobs, size_t len, struct err *e)
{
	for (size_t i = 0; i < len; i++) {
		if (store_check_blob(blobs[i].fd, &blobs[i].what, e) == 0)
			continue;
		if (ftruncate(blobs[i].fd, 0) < 0)
			return err_sys(e, "cut a partial download");
		return err_wrap(e, "the registry's client is wrong");
	}
	return 0;
}

int fetch_blobs(struct fetch *f, struct registry_blob *blobs, size_t len, struct err *e)
{
	uint64_t total = 0;
	if (check_sizes(&f->o->registry, blobs, len, &total, e) < 0)
		return -1;
	int rc = order_blobs(f, blobs, len, total, e);
	if (rc == 0)
		rc = follow_blobs(f, blobs, len, e);
	fetch_end(f);
	if (rc == 0)
		rc = check_blobs(blobs, len, e);
	for (size_t i = 0; i < len; i++) {
		struct stat st;
		if (fstat(blobs[i].fd, &st) == 0)
			blobs[i].had = (uint64_t)st.st_size;
	}
	return rc;
}

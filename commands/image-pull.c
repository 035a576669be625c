/* pinfold image pull: what a registry has. */
#include "commands/image.h"

#include "base/fd.h"
#include "commands/commands.h"
#include "commands/image-fetch.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct pull {
	struct image_call *call;
	struct fetch_options o;
	struct platform platform;
	struct progress progress;
	struct taken taken;
	struct digest named;			    /* of what the registry has under the name */
	struct registry_blob blobs[LAYERS_MAX + 1]; /* what is missing, by digest, locked */
	uint64_t done[LAYERS_MAX + 1];
	size_t blobs_len;
};

/* ---- progress ---- */

static int on_event(void *context, const struct registry_event *event)
{
	struct pull *p = context;
	uint64_t done = 0;
	if (event->kind == REGISTRY_RETRY)
		complain("image pull: %s; once more in %u ms", event->why ? event->why : "failed",
			 event->wait_ms);
	if (event->blob >= p->blobs_len)
		return 0;
	p->done[event->blob] = event->bytes;
	for (size_t i = 0; i < p->blobs_len; i++)
		done += p->done[i];
	progress_show(&p->progress, done);
	return 0;
}

/* ---- what is missing ---- */

static int by_digest(const void *a, const void *b)
{
	return strcmp(((const struct registry_blob *)a)->what.digest.text,
		      ((const struct registry_blob *)b)->what.digest.text);
}

static void want(struct pull *p, const struct descriptor *d)
{
	if (store_holds_blob(&p->call->store, d))
		return;
	for (size_t i = 0; i < p->blobs_len; i++)
		if (digest_same(&p->blobs[i].what.digest, &d->digest))
			return;
	p->blobs[p->blobs_len++] = (struct registry_blob){.what = *d, .fd = -1};
}

/* In the order of their digests: two pulls that share some would wait for each other for ever. One
 * that another pull has brought meanwhile is missing no more. */
static int lock_partials(struct pull *p, struct err *e)
{
	size_t kept = 0;
	qsort(p->blobs, p->blobs_len, sizeof(*p->blobs), by_digest);
	for (size_t i = 0; i < p->blobs_len; i++) {
		struct registry_blob *b = &p->blobs[i];
		struct stat st;
		autoclose int fd = store_open_partial(&p->call->store, &b->what.digest, e);
		if (fd < 0)
			return -1;
		if (store_holds_blob(&p->call->store, &b->what)) {
			unlinkat(p->call->store.partial, digest_hex(&b->what.digest), 0);
			continue;
		}
		if (fstat(fd, &st) < 0)
			return err_sys(e, "image store: stat a partial download");
		const struct registry_blob locked = {b->what, fd_take(&fd), (uint64_t)st.st_size};
		*b = (struct registry_blob){.fd = -1};
		p->blobs[kept++] = locked;
	}
	p->blobs_len = kept;
	return 0;
}

static void close_partials(struct pull *p)
{
	for (size_t i = 0; i < p->blobs_len; i++)
		fd_close(&p->blobs[i].fd);
}

static int bring_blobs(struct pull *p, struct fetch *f, struct err *e)
{
	uint64_t total = 0;
	for (size_t i = 0; i < p->blobs_len; i++) {
		total += p->blobs[i].what.size;
		p->done[i] = p->blobs[i].had;
	}
	if (p->blobs_len == 0)
		return 0;
	progress_begin(&p->progress, p->progress.report, "pulling", total);
	const int rc = fetch_blobs(f, p->blobs, p->blobs_len, e);
	progress_end(&p->progress);
	if (rc < 0)
		return -1;
	const struct store *s = &p->call->store;
	for (size_t i = 0; i < p->blobs_len; i++) {
		const struct digest *d = &p->blobs[i].what.digest;
		if (store_keep_blob(s, s->partial, digest_hex(d), d, e) < 0)
			return -1;
	}
	return 0;
}

/* ---- the manifest ---- */

static int keep_document(struct pull *p, const struct fetched *m, struct err *e)
{
	autowork w = WORK_INIT;
	const struct store *s = &p->call->store;
	p->taken.document = (struct descriptor){m->parsed.type, m->digest, m->bytes.len};
	if (store_holds_blob(s, &p->taken.document))
		return 0;
	if (work_open(&w, s, e) < 0)
		return -1;
	autoclose int fd = openat(w.dir, "manifest", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0 || fd_write_all(fd, m->bytes.text, m->bytes.len) < 0)
		return err_sys(e, "image store: write the manifest");
	return store_put_blob(s, w.dir, "manifest", &p->taken.document, e);
}

static void take_parsed(struct pull *p, const struct parsed *m)
{
	p->taken.config = m->config;
	p->taken.layers_len = m->layers_len;
	want(p, &m->config);
	for (size_t i = 0; i < m->layers_len; i++) {
		p->taken.layers[i] = m->layers[i];
		want(p, &m->layers[i]);
	}
}

static int bring(struct pull *p, struct fetch *f, struct fetched *got, struct err *e)
{
	if (fetch_manifest(f, &p->platform, got, p->call->arena, e) < 0)
		return -1;
	p->named = got->named;
	if (keep_document(p, got, e) < 0)
		return -1;
	take_parsed(p, &got->parsed);
	int rc = lock_partials(p, e);
	if (rc == 0)
		rc = bring_blobs(p, f, e);
	close_partials(p);
	return rc;
}

/* ---- the verb ---- */

static void find_credentials(struct pull *p, const char *told)
{
	const char *file = getenv("REGISTRY_AUTH_FILE"), *docker = getenv("DOCKER_CONFIG");
	const char *home = getenv("HOME");
	const char **auth_file = &p->o.registry.auth_file;
	*auth_file = told ? told : file && *file ? file : NULL;
	if (*auth_file)
		return;
	p->o.auth_file_missing = true;
	if (docker && *docker)
		*auth_file = arena_printf(p->call->arena, "%s/config.json", docker);
	else if (home && *home == '/')
		*auth_file = arena_printf(p->call->arena, "%s/.docker/config.json", home);
}

/* Processes that are made after it has returned have met no registry. */
static int bring_all(struct pull *p, const struct reference *ref, struct err *e)
{
	autofetch f = FETCH_INIT;
	struct fetched *got = calloc(1, sizeof(*got));
	if (!got)
		return err_host(e, "out of memory");
	int rc = fetch_begin(&f, ref, &p->o, e);
	if (rc == 0)
		rc = bring(p, &f, got, e);
	free(got);
	return rc;
}

static int pull_shared(struct pull *p, const char *text, struct err *e)
{
	struct reference ref;
	if (reference_parse(&ref, text, p->call->arena, e) < 0 || reference_remote(&ref, e) < 0 ||
	    bring_all(p, &ref, e) < 0)
		return -1;
	return image_keep(p->call,
			  &(struct image_keep){.taken = &p->taken,
					       .name = text,
					       .pulled = &p->named,
					       .limits = p->o.limits,
					       .report = p->progress.report},
			  e);
}

static int pull(struct pull *p, const char *text, struct err *e)
{
	struct err ignored = ERR_INIT;
	store_sweep(&p->call->store, &ignored);
	if (store_share(&p->call->store, e) < 0)
		return -1;
	const int rc = pull_shared(p, text, e);
	store_unshare(&p->call->store);
	return rc;
}

int image_pull(struct image_call *c, struct err *e)
{
	const char *platform = NULL, *auth = NULL, *ca = NULL;
	bool insecure = false;
	struct image_taking taking = {0};
	const struct verb_option rows[] = {
		{"platform", &platform, NULL,
		 "OS/ARCH  which one of an index (default: this machine's)"},
		{"auth-file", &auth, NULL, "FILE  credentials, in the form of ~/.docker/config.json"},
		{"ca-file", &ca, NULL, "FILE  certificates to trust instead of this host's"},
		{"insecure-registry", NULL, &insecure, "plain HTTP, to a loopback address alone"},
		IMAGE_TAKING_ROWS(taking),
		{NULL},
	};
	const int done = image_options(c, rows, (struct word_count){1, 1}, e);
	if (done != 0)
		return done < 0 ? -1 : 0;
	struct pull *p = calloc(1, sizeof(*p));
	if (!p)
		return err_host(e, "out of memory");
	*p = (struct pull){.call = c,
			   .o = {.registry = REGISTRY_OPTIONS_INIT, .ca_file = ca},
			   .platform = platform_host()};
	/* For `run --pull missing`, which has no option for it. */
	const char *told = getenv("PINFOLD_INSECURE_REGISTRY");
	struct registry_options *o = &p->o.registry;
	o->insecure = insecure || (told && strcmp(told, "1") == 0);
	o->progress = on_event;
	o->progress_context = p;
	find_credentials(p, auth);
	int rc = image_taking_read(&taking, &p->o.limits, &p->progress.report, e);
	if (rc == 0 && platform)
		rc = platform_parse(&p->platform, platform, c->arena, e);
	o->image_bytes_max = p->o.limits.bytes;
	if (o->image_bytes_max < o->blob_bytes_max)
		o->blob_bytes_max = o->image_bytes_max;
	if (rc == 0)
		rc = pull(p, c->argv[0], e);
	free(p);
	return rc;
}

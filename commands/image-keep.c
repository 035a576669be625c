/* The last part of every way in: blobs that are in the store become a tree, and get a name. */
#include "commands/image.h"

#include "base/fd.h"
#include "commands/commands.h"
#include "rootfs/image/reference.h"
#include "rootfs/image/unpack_image.h"
#include "runtime/jail.h"
#include "spec/parse.h"
#include "spec/writer.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* What a run's map has; see docs/images.md for what becomes of the others. */
enum { OWNERS_KEPT = 65536, TICK_MS = 100 };

int image_taking_read(const struct image_taking *t, struct unpack_limits *limits,
		      enum image_report *report, struct err *e)
{
	struct unpack_limits read = UNPACK_LIMITS_DEFAULT;
	uint64_t depth = read.depth, ratio = read.ratio;
	if (t->bytes && spec_parse_size(t->bytes, &read.bytes, e) < 0)
		return err_wrap(e, "--limit-bytes");
	if (t->entries && spec_parse_count(t->entries, &read.entries, e) < 0)
		return err_wrap(e, "--limit-entries");
	if (t->depth && spec_parse_count(t->depth, &depth, e) < 0)
		return err_wrap(e, "--limit-depth");
	if (t->ratio && spec_parse_count(t->ratio, &ratio, e) < 0)
		return err_wrap(e, "--limit-ratio");
	if (t->time && spec_parse_count(t->time, &read.seconds, e) < 0)
		return err_wrap(e, "--limit-time");
	if (t->time && read.seconds < 1)
		return err_usage(e, "--limit-time: at least 1");
	if (depth < 1 || depth > UNPACK_DEPTH_MAX)
		return err_usage(e, "--limit-depth: from 1 to %d", UNPACK_DEPTH_MAX);
	if (ratio < 1)
		return err_usage(e, "--limit-ratio: at least 1");
	read.depth = (uint32_t)depth;
	read.ratio = ratio > UINT32_MAX ? UINT32_MAX : (uint32_t)ratio;
	*limits = read;
	*report = t->json ? REPORT_JSON : REPORT_LINES;
	return 0;
}

int image_archive(struct image_call *c, struct work *w, struct err *e)
{
	if (work_open(w, &c->store, e) < 0)
		return -1;
	autoclose int to = openat(w->dir, "archive", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (to < 0 || unlinkat(w->dir, "archive", 0) < 0)
		return err_sys(e, "image store: make a file for the archive");
	return fd_take(&to);
}

/* What the jailed child is given; the tick needs the progress beside it. */
struct job {
	struct unpack_image unpack; /* first: the child's argument is this */
	struct progress progress;
	int fds[LAYERS_MAX + 1];
	size_t fds_len;
};

static void tick(void *arg)
{
	progress_tick(&((struct job *)arg)->progress);
}

static int run_child(int root, void *arg, struct err *e)
{
	return unpack_image(root, &((struct job *)arg)->unpack, e);
}

static int open_blobs(const struct store *s, const struct taken *t, struct job *j, struct err *e)
{
	for (size_t i = 0; i <= t->layers_len; i++) {
		const struct descriptor *d = i == 0 ? &t->config : &t->layers[i - 1];
		const int fd = store_open_blob(s, &d->digest, e);
		if (fd < 0)
			return -1;
		j->fds[j->fds_len++] = fd;
		if (i == 0)
			continue;
		j->unpack.layers[i - 1] = fd;
		j->unpack.types[i - 1] = d->type;
	}
	j->unpack.config = j->fds[0];
	j->unpack.layers_len = t->layers_len;
	return 0;
}

static void mention_report(const struct layer_report *r)
{
	const struct {
		uint64_t count;
		const char *what;
	} rows[] = {
		{r->devices_skipped, "device nodes and sockets were left out"},
		{r->setid_dropped, "set-id bits were dropped"},
		{r->xattrs_dropped, "attributes that could give power were dropped"},
		{r->xattrs_unkept, "attributes are in the record alone: the file system takes none"},
		{r->owners_squashed, "owners cannot be had here"},
		{r->metadata_skipped, "entries of AUFS were left out"},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (rows[i].count)
			complain("note: %s: %llu", rows[i].what, (unsigned long long)rows[i].count);
}

static int run_jail(const struct work *w, struct job *j, uint64_t seconds, struct err *e)
{
	if (mkdirat(w->dir, "tree", 0700) < 0)
		return err_sys(e, "image store: make a folder for the tree");
	autoclose int root = openat(w->dir, "tree", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (root < 0)
		return err_sys(e, "image store: open the folder for the tree");
	const struct jail jail = {
		.root = root,
		.writable = true,
		.fds = j->fds,
		.fds_len = j->fds_len,
		.cpu_seconds = seconds,
		.run = run_child,
		.arg = j,
		.report = &j->unpack.report,
		.report_len = sizeof(j->unpack.report),
		.tick = tick,
		.tick_ms = TICK_MS,
	};
	return jail_run(&jail, e);
}

/* Unpack into a private folder, and let it be seen when it is whole. Where the image has a tree,
 * that one stays, and this was the proof that these layers, packed otherwise, make the same. */
static int make_tree(struct image_call *c, const struct image_keep *k, struct layer_report *report,
		     struct err *e)
{
	autowork w = WORK_INIT;
	struct job *j = calloc(1, sizeof(*j));
	uint64_t total = 0;
	if (!j)
		return err_host(e, "out of memory");
	j->unpack.id = k->taken->config.digest;
	j->unpack.limits = k->limits;
	j->unpack.owners = (struct record_owners){.kept = geteuid() == 0, .ids = OWNERS_KEPT};
	for (size_t i = 0; i < k->taken->layers_len; i++)
		total += k->taken->layers[i].size;
	int rc = open_blobs(&c->store, k->taken, j, e);
	if (rc == 0)
		rc = work_open(&w, &c->store, e);
	if (rc == 0) {
		progress_begin(&j->progress, k->report, "unpacking", total);
		j->progress.fds = j->fds + 1;
		j->progress.fds_len = j->fds_len - 1;
		rc = run_jail(&w, j, unpack_seconds(&k->limits, total), e);
		progress_end(&j->progress);
	}
	if (rc == 0)
		rc = store_put_tree(&c->store, &w, "tree", &k->taken->config.digest, e);
	*report = j->unpack.report;
	for (size_t i = 0; i < j->fds_len; i++)
		close(j->fds[i]);
	free(j);
	return rc;
}

static void announce(const struct image_keep *k, const char *name)
{
	if (k->report == REPORT_LINES) {
		print_text(name);
		printf(" %s\n", k->taken->config.digest.text);
		return;
	}
	struct json_writer w;
	json_open(&w, false);
	json_begin(&w, NULL, '{');
	json_text(&w, "event", "stored");
	json_text(&w, "name", name);
	json_text(&w, "id", k->taken->config.digest.text);
	json_text(&w, "digest", k->taken->document.digest.text);
	json_end(&w, '{');
	struct err e = ERR_INIT;
	if (image_print(json_finish(&w, true), &e) < 0)
		complain("%s", e.msg);
}

static bool same_layers(const struct manifest *a, const struct manifest *b)
{
	if (a->layers_len != b->layers_len)
		return false;
	for (size_t i = 0; i < a->layers_len; i++)
		if (!digest_same(&a->layers[i].digest, &b->layers[i].digest) ||
		    media_compression(a->layers[i].type) != media_compression(b->layers[i].type))
			return false;
	return true;
}

/* Whether the tree that is there came out of these layers, as one of its names has it; then its
 * figures, too. The id is the config's alone: another manifest may name it beside other layers. */
static bool is_known(struct image_call *c, struct stored_name *n)
{
	struct stored_list list;
	struct debris debris = {0};
	struct err ignored = ERR_INIT;
	if (!store_has_tree(&c->store, &n->id) ||
	    store_list(&c->store, &list, &debris, c->arena, &ignored) < 0)
		return false;
	for (size_t i = 0; i < list.len; i++) {
		const struct stored_name *other = &list.names[i];
		if (!digest_same(&other->id, &n->id) || !same_layers(&other->manifest, &n->manifest))
			continue;
		n->bytes = other->bytes;
		n->entries = other->entries;
		return true;
	}
	return false;
}

static int keep_claimed(struct image_call *c, const struct image_keep *k, const char *name,
			struct err *e)
{
	struct layer_report report = {0};
	struct stored_name n = {
		.name = name,
		.id = k->taken->config.digest,
		.document = k->taken->document,
		.manifest = {.type = k->taken->document.type,
			     .config = k->taken->config,
			     .layers = (struct descriptor *)(uintptr_t)k->taken->layers,
			     .layers_len = k->taken->layers_len},
		.created = (int64_t)time(NULL),
	};
	if (!is_known(c, &n)) {
		if (make_tree(c, k, &report, e) < 0)
			return -1;
		mention_report(&report);
		n.bytes = report.bytes;
		n.entries = report.paths;
	}
	return store_put_name(&c->store, &n, e);
}

const char *image_whole_name(struct image_call *c, const char *name, struct err *e)
{
	struct reference r;
	return reference_parse(&r, name, c->arena, e) < 0 ? NULL : reference_format(&r, c->arena);
}

/* What is pinned to a digest trusts the name alone: nobody may give it to other bytes. */
static int check_pin(const struct digest *pulled, const char *name, struct err *e)
{
	const char *at = strchr(name, '@');
	if (!at || (pulled && strcmp(at + 1, pulled->text) == 0))
		return 0;
	return err_usage(e, "%.150s: only a pull can give a name with a digest; --name gives another",
			 name);
}

int image_check_name(struct image_call *c, const char *name, struct err *e)
{
	const char *whole = image_whole_name(c, name, e);
	return whole ? check_pin(NULL, whole, e) : -1;
}

int image_keep(struct image_call *c, const struct image_keep *k, struct err *e)
{
	const char *name = image_whole_name(c, k->name, e);
	if (!name || check_pin(k->pulled, name, e) < 0)
		return -1;
	int claim = store_claim(&c->store, &k->taken->config.digest, e);
	if (claim < 0)
		return -1;
	const int rc = keep_claimed(c, k, name, e);
	store_unclaim(&c->store, &k->taken->config.digest, &claim);
	if (rc == 0)
		announce(k, name);
	return rc;
}

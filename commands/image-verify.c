/* pinfold image verify. */
#include "commands/image.h"

#include "base/fd.h"
#include "commands/commands.h"
#include "rootfs/image/record.h"
#include "rootfs/image/unpack_image.h"
#include "rootfs/stored.h"
#include "runtime/jail.h"
#include "spec/image.h"
#include "spec/writer.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TEXT_MAX = 1 << 20 };

/* What the jailed child tells: a line a difference, as many as there is room for. */
struct told {
	uint64_t paths, bytes, differences;
	uint32_t len;
	char text[TEXT_MAX]; /* PATH\0WHAT\0 each */
};

struct check {
	struct told *told;
	struct digest id;
	int config; /* -1: it cannot be held against image.json */
};

static int differs(void *arg, const struct record_difference *d, struct err *e)
{
	struct told *t = arg;
	const size_t path = strlen(d->path) + 1, what = strlen(d->what) + 1;
	(void)e;
	if (path + what > sizeof(t->text) - t->len)
		return 0;
	memcpy(t->text + t->len, d->path, path);
	memcpy(t->text + t->len + path, d->what, what);
	t->len += (uint32_t)(path + what);
	return 0;
}

/* The paths of a tree are below rootfs/; this one is beside it. */
static int tell_facts(struct told *t, const char *what, struct err *e)
{
	t->differences++;
	return differs(t, &(struct record_difference){"image.json", what}, e);
}

/* A run takes its environment, command and user from image.json, which is made of the config alone. */
static int compare_facts(int root, const struct check *c, struct err *e)
{
	static char found[IMAGE_FACTS_BYTES_MAX + 1];
	struct err why = ERR_INIT;
	const ssize_t len = stored_read_file(root, "image.json", found, sizeof(found), &why);
	if (len < 0)
		return tell_facts(c->told, why.msg, e);
	char *made = image_facts_of(&c->id, c->config, e);
	if (!made)
		return -1;
	const bool same = strlen(made) == (size_t)len && memcmp(made, found, (size_t)len) == 0;
	free(made);
	return same ? 0 : tell_facts(c->told, "beside the tree: not what the image's config says", e);
}

static int compare(int root, void *arg, struct err *e)
{
	const struct check *check = arg;
	struct told *t = check->told;
	struct record_compare c = {.differs = differs, .arg = t};
	autoclose int record = stored_open_file(root, "record", e);
	if (record < 0)
		return -1;
	autoclose int tree = openat(root, "rootfs", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (tree < 0)
		return err_sys(e, "open the tree");
	if (record_compare(&c, tree, record, e) < 0)
		return -1;
	t->paths = c.paths;
	t->bytes = c.bytes;
	t->differences += c.differences;
	return check->config < 0 ? 0 : compare_facts(root, check, e);
}

/* One more line of what differs, which is no path of the tree. */
static void add_blob(struct told *t, const struct descriptor *d, const struct err *why)
{
	struct err ignored = ERR_INIT;
	t->differences++;
	differs(t, &(struct record_difference){d->digest.text, why->msg}, &ignored);
}

/* The config of an image, if it is what it was; else that is told, and -1. */
static int open_config(struct image_call *c, const struct stored_name *n, struct told *t)
{
	struct err why = ERR_INIT;
	const struct descriptor config = {.digest = n->id, .size = n->manifest.config.size};
	autoclose int fd = store_open_blob(&c->store, &n->id, &why);
	if (fd >= 0 && store_check_blob(fd, &config, &why) == 0)
		return fd_take(&fd);
	add_blob(t, &config, &why);
	return -1;
}

static int compare_tree(struct image_call *c, const struct stored_name *n, struct told *t,
			struct err *e)
{
	autoclose int root = store_open_tree(&c->store, &n->id, e);
	if (root < 0)
		return -1;
	autoclose int config = open_config(c, n, t);
	struct check check = {.told = t, .id = n->id, .config = config};
	const struct jail jail = {.root = root,
				  .fds = &config,
				  .fds_len = 1,
				  .run = compare,
				  .arg = &check,
				  .report = t,
				  .report_len = sizeof(*t)};
	if (jail_run(&jail, e) < 0)
		return -1;
	if (t->len > sizeof(t->text) || (t->len > 0 && t->text[t->len - 1]))
		return err_bug(e, "the jail says what cannot be");
	return 0;
}

static void check_blobs(struct image_call *c, const struct stored_name *n, struct told *t)
{
	for (size_t i = 0; i < n->manifest.layers_len + 1; i++) {
		const struct descriptor *d = i == 0 ? &n->document : &n->manifest.layers[i - 1];
		struct err e = ERR_INIT;
		autoclose int fd = store_open_blob(&c->store, &d->digest, &e);
		if (fd < 0 || store_check_blob(fd, d, &e) < 0)
			add_blob(t, d, &e);
	}
}

static void print_lines(const struct told *t)
{
	for (uint32_t at = 0; at < t->len;) {
		const char *path = t->text + at, *what = path + strlen(path) + 1;
		print_text(*path ? path : ".");
		printf(": ");
		print_text(what);
		printf("\n");
		at += (uint32_t)(strlen(path) + strlen(what) + 2);
		if (what >= t->text + t->len)
			break;
	}
}

static void print_json(const struct stored_name *n, const struct told *t)
{
	struct json_writer w;
	json_open(&w, true);
	json_begin(&w, NULL, '{');
	json_text(&w, "name", n->name);
	json_text(&w, "id", n->id.text);
	json_number(&w, "paths", (int64_t)t->paths);
	json_number(&w, "bytes", (int64_t)t->bytes);
	json_number(&w, "differences", (int64_t)t->differences);
	json_begin(&w, "shown", '[');
	for (uint32_t at = 0; at < t->len;) {
		const char *path = t->text + at, *what = path + strlen(path) + 1;
		if (what >= t->text + t->len)
			break;
		json_begin(&w, NULL, '{');
		json_text(&w, "path", path);
		json_text(&w, "what", what);
		json_end(&w, '{');
		at += (uint32_t)(strlen(path) + strlen(what) + 2);
	}
	json_end(&w, '[');
	json_end(&w, '{');
	struct err e = ERR_INIT;
	if (image_print(json_finish(&w, true), &e) < 0)
		complain("%s", e.msg);
}

static int verify_one(struct image_call *c, const char *name, bool json, struct err *e)
{
	struct stored_name n;
	if (image_find(c, name, &n, e) < 0)
		return -1;
	struct told *t = calloc(1, sizeof(*t));
	if (!t)
		return err_host(e, "out of memory");
	int rc = compare_tree(c, &n, t, e);
	if (rc == 0) {
		check_blobs(c, &n, t);
		rc = t->differences > 0;
		if (json)
			print_json(&n, t);
		else
			print_lines(t);
		if (!json && rc == 0) {
			print_text(n.name);
			printf(": %llu paths as they were unpacked\n", (unsigned long long)t->paths);
		}
	}
	free(t);
	return rc;
}

int image_verify(struct image_call *c, struct err *e)
{
	bool json = false;
	int code = 0;
	const struct verb_option rows[] = {{"json", NULL, &json, "as JSON documents"}, {NULL}};
	const int done = image_options(c, rows, (struct word_count){1, -1}, e);
	if (done != 0)
		return done < 0 ? -1 : 0;
	if (store_share(&c->store, e) < 0)
		return -1;
	for (int i = 0; i < c->argc; i++) {
		const int rc = verify_one(c, c->argv[i], json, e);
		if (rc < 0)
			return -1;
		code |= rc;
	}
	return code;
}

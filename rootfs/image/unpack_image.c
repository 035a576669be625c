#include "rootfs/image/unpack_image.h"

#include "base/fd.h"
#include "spec/image.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int read_all(int fd, struct json_bytes *bytes, struct arena *a, struct err *e)
{
	struct stat st;
	if (fstat(fd, &st) < 0)
		return err_sys(e, "read the config");
	if (st.st_size > JSON_BYTES_MAX)
		return err_usage(e, "the config is larger than 4 MiB");
	char *text = arena_alloc(a, (size_t)st.st_size + 1);
	const ssize_t n = pread(fd, text, (size_t)st.st_size, 0);
	if (n != st.st_size)
		return err_sys(e, "read the config");
	*bytes = (struct json_bytes){text, (size_t)n};
	return 0;
}

/* A name that is gone at once: not every file system has O_TMPFILE. */
static int scratch_file(int root, struct err *e)
{
	const int fd = openat(root, "scratch", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0 || unlinkat(root, "scratch", 0) < 0)
		return err_sys(e, "make a file for the unpacker");
	return fd;
}

static int apply_layers(struct unpack *u, int tree, const struct unpack_image *x,
			const struct image_config *c, struct err *e)
{
	for (size_t i = 0; i < x->layers_len; i++) {
		struct digest found;
		if (layer_apply(tree, x->layers[i], u, e) < 0)
			return err_wrap(e, "layer %zu", i + 1);
		if (layer_compression(u) != (int)media_compression(x->types[i]))
			return err_usage(e, "layer %zu: it is not what the manifest says, %s",
					 i + 1, media_type_text(x->types[i]));
		layer_diff_id(u, &found);
		if (!digest_same(&found, &c->diff_ids[i]))
			return err_usage(e, "layer %zu: its diff_id is %s, the config says %s",
					 i + 1, found.text, c->diff_ids[i].text);
	}
	return 0;
}

static int unpack_layers(int root, int tree, struct unpack_image *x, const struct image_config *c,
			 struct err *e)
{
	autoclose int journal = scratch_file(root, e);
	autoclose int sorted = journal < 0 ? -1 : scratch_file(root, e);
	autoclose int record = openat(root, "record", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	struct unpack *u = NULL;
	if (sorted < 0)
		return -1;
	if (record < 0)
		return err_sys(e, "make the record");
	const struct unpack_options o = {.limits = x->limits,
					 .owners = x->owners,
					 .filters = SOURCE_LAYER,
					 .journal = journal,
					 .sorted = sorted};
	int rc = unpack_begin(&u, tree, &o, e);
	if (rc == 0)
		rc = apply_layers(u, tree, x, c, e);
	if (rc == 0)
		rc = unpack_finish(u, record, e);
	if (rc == 0)
		x->report = *unpack_report(u);
	unpack_free(&u);
	return rc;
}

static char *facts_text(const struct digest *id, const struct image_config *c, struct err *e)
{
	static const char *none[] = {NULL};
	const struct image_facts f = {
		.id = id->text,
		.env = c->env.list ? c->env.list : none,
		.workdir = c->workdir ? c->workdir : "",
		.entrypoint = c->entrypoint.list ? c->entrypoint.list : none,
		.cmd = c->cmd.list ? c->cmd.list : none,
		.user = c->user ? c->user : "",
	};
	char *text = image_facts_write(&f);
	if (!text)
		err_host(e, "out of memory");
	return text;
}

char *image_facts_of(const struct digest *id, int config, struct err *e)
{
	autoarena arena = ARENA_INIT;
	struct json_bytes bytes = {0};
	struct image_config c;
	if (read_all(config, &bytes, &arena, e) < 0 || config_read(&c, bytes, &arena, e) < 0)
		return NULL;
	return facts_text(id, &c, e);
}

static int write_facts(int root, const struct unpack_image *x, const struct image_config *c,
		       struct err *e)
{
	char *text = facts_text(&x->id, c, e);
	if (!text)
		return -1;
	autoclose int fd = openat(root, "image.json", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	const int rc = fd < 0 || fd_write_all(fd, text, strlen(text)) < 0
			       ? err_sys(e, "write image.json")
			       : 0;
	free(text);
	return rc;
}

int unpack_image(int root, void *arg, struct err *e)
{
	struct unpack_image *x = arg;
	autoarena arena = ARENA_INIT;
	struct json_bytes bytes = {0};
	struct image_config c;
	if (read_all(x->config, &bytes, &arena, e) < 0 || config_read(&c, bytes, &arena, e) < 0)
		return -1;
	if (c.diff_ids_len != x->layers_len)
		return err_usage(e, "the config speaks of %zu layers, the manifest of %zu",
				 c.diff_ids_len, x->layers_len);
	if (mkdirat(root, "rootfs", 0755) < 0)
		return err_sys(e, "make the tree");
	autoclose int tree = openat(root, "rootfs", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (tree < 0)
		return err_sys(e, "open the tree");
	if (unpack_layers(root, tree, x, &c, e) < 0)
		return -1;
	return write_facts(root, x, &c, e);
}

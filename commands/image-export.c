/* pinfold image export: the tree as a tar, with the owners of its record; or the image as it came. */
#include "commands/image.h"

#include "base/fd.h"
#include "commands/commands.h"
#include "rootfs/image/tar_out.h"
#include "runtime/jail.h"
#include "spec/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int export_tree(struct image_call *c, const struct stored_name *n, int out, struct err *e)
{
	autoclose int root = store_open_tree(&c->store, &n->id, e);
	struct tree_out o = {.fd = out};
	if (root < 0)
		return -1;
	const struct jail jail = {.root = root,
				  .fds = &out,
				  .fds_len = 1,
				  .run = tree_export,
				  .arg = &o};
	return jail_run(&jail, e);
}

/* ---- the image as an OCI layout ---- */

static int put_text(struct tar_out *tar, const char *name, const char *text, struct err *e)
{
	static struct record_entry r;
	r = (struct record_entry){.path = name, .type = 'f', .mode = 0644, .size = strlen(text)};
	return tar_member(tar, &r, NULL, e) < 0 ? -1 : tar_data(tar, text, strlen(text), e);
}

static int put_blob(struct image_call *c, struct tar_out *tar, const struct descriptor *d,
		    struct err *e)
{
	static struct record_entry r;
	char name[96];
	struct stat st;
	autoclose int fd = store_open_blob(&c->store, &d->digest, e);
	if (fd < 0)
		return -1;
	if (fstat(fd, &st) < 0 || (uint64_t)st.st_size != d->size)
		return err_host(e, "image store: blob %s has another size", d->digest.text);
	snprintf(name, sizeof(name), "blobs/sha256/%s", digest_hex(&d->digest));
	r = (struct record_entry){.path = name, .type = 'f', .mode = 0644, .size = d->size};
	return tar_member(tar, &r, NULL, e) < 0 ? -1 : tar_file(tar, fd, name, e);
}

static char *index_text(const struct stored_name *n)
{
	struct json_writer w;
	json_open(&w, false);
	json_begin(&w, NULL, '{');
	json_number(&w, "schemaVersion", 2);
	json_text(&w, "mediaType", media_type_text(MEDIA_OCI_INDEX));
	json_begin(&w, "manifests", '[');
	json_begin(&w, NULL, '{');
	json_text(&w, "mediaType", media_type_text(n->document.type));
	json_text(&w, "digest", n->document.digest.text);
	json_number(&w, "size", (int64_t)n->document.size);
	json_begin(&w, "annotations", '{');
	json_text(&w, "org.opencontainers.image.ref.name", n->name);
	json_end(&w, '{');
	json_end(&w, '{');
	json_end(&w, '[');
	json_end(&w, '{');
	return json_finish(&w, false);
}

static bool came_before(const struct stored_name *n, size_t layer)
{
	for (size_t i = 0; i < layer; i++)
		if (digest_same(&n->manifest.layers[i].digest, &n->manifest.layers[layer].digest))
			return true;
	return false;
}

static int put_blobs(struct image_call *c, struct tar_out *tar, const struct stored_name *n,
		     struct err *e)
{
	if (put_blob(c, tar, &n->document, e) < 0 || put_blob(c, tar, &n->manifest.config, e) < 0)
		return -1;
	for (size_t i = 0; i < n->manifest.layers_len; i++)
		if (!came_before(n, i) && put_blob(c, tar, &n->manifest.layers[i], e) < 0)
			return -1;
	return 0;
}

static int export_layout(struct image_call *c, const struct stored_name *n, int out, struct err *e)
{
	static struct tar_out tar;
	char *index = index_text(n);
	if (!index)
		return err_host(e, "out of memory");
	tar_open(&tar, out);
	int rc = put_text(&tar, "oci-layout", "{\"imageLayoutVersion\":\"1.0.0\"}", e);
	if (rc == 0)
		rc = put_text(&tar, "index.json", index, e);
	free(index);
	if (rc < 0 || put_blobs(c, &tar, n, e) < 0)
		return -1;
	return tar_close(&tar, e);
}

int image_export(struct image_call *c, struct err *e)
{
	const char *file = NULL, *format = "tar";
	struct stored_name n;
	const struct verb_option rows[] = {
		{"output", &file, NULL, "FILE  where it goes (default: stdout)"},
		{"format", &format, NULL,
		 "tar|oci  tar: the tree; oci: a layout of the blobs as they came"},
		{NULL},
	};
	const int done = image_options(c, rows, (struct word_count){1, 1}, e);
	if (done != 0)
		return done < 0 ? -1 : 0;
	const bool layout = strcmp(format, "oci") == 0;
	if (!layout && strcmp(format, "tar") != 0)
		return err_usage(e, "--format is tar or oci");
	if (store_share(&c->store, e) < 0)
		return -1;
	if (image_find(c, c->argv[0], &n, e) < 0)
		return -1;
	autoclose int out = image_output(file, e);
	if (out < 0)
		return -1;
	return layout ? export_layout(c, &n, out, e) : export_tree(c, &n, out, e);
}

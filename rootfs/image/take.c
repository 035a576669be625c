/* From members to one image, by the documents of three forms. */
#include "rootfs/image/take.h"

#include "base/fd.h"
#include "rootfs/image/path.h"
#include "spec/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void blob_member(char name[96], const struct digest *d)
{
	snprintf(name, 96, "blobs/sha256/%s", digest_hex(d));
}

/* ---- OCI layouts ---- */

/* These bytes are used, and perhaps not kept (an index), or read once more to be kept: they are
 * held against their digest here. */
static int read_blob(struct taker *t, const struct descriptor *d, struct json_bytes *bytes,
		     struct err *e)
{
	char name[96];
	struct digest found;
	blob_member(name, &d->digest);
	if (member_read(t, name, bytes, e) < 0)
		return -1;
	hash_restart(&t->hash);
	hash_update(&t->hash, bytes->text, bytes->len);
	hash_final(&t->hash, &found);
	if (bytes->len != d->size)
		return err_usage(e, "blob %s has %zu bytes, and should have %" PRIu64,
				 d->digest.text, bytes->len, d->size);
	return digest_same(&found, &d->digest)
		       ? 0
		       : err_usage(e, "blob %s is another one: its digest is %s", d->digest.text,
				   found.text);
}

static bool fits_ref(const struct taker *t, const struct index_entry *entry)
{
	return !t->take->ref || index_entry_is(entry, t->take->ref);
}

static const char *own_name(const struct index_entry *entry)
{
	return entry->full ? index_familiar(entry->full) : entry->name;
}

static int refuse_ref(const struct taker *t, const struct index *x, struct err *e)
{
	char said[SHOWN_BYTES], has[SHOWN_BYTES];
	const char *name = NULL;
	for (size_t i = 0; i < x->entries_len && !name; i++)
		name = own_name(&x->entries[i]);
	if (!name)
		return err_usage(e, "no image in it has a name, so leave --ref %.60s out",
				 path_shown(said, t->take->ref));
	return err_usage(e, "there is no image of the name %.60s in it, but one of the name %.60s",
			 path_shown(said, t->take->ref), path_shown(has, name));
}

/* Two that have names of their own are two images. */
static int check_single(const struct taker *t, const struct index *x, const char **name,
			struct err *e)
{
	char said[SHOWN_BYTES], other[SHOWN_BYTES];
	bool any = !t->take->ref;
	*name = NULL;
	for (size_t i = 0; i < x->entries_len; i++) {
		const char *own = own_name(&x->entries[i]);
		any |= fits_ref(t, &x->entries[i]);
		if (!fits_ref(t, &x->entries[i]) || !own)
			continue;
		if (*name && strcmp(*name, own) != 0)
			return err_usage(e,
					 "there are several images in it, %.60s and %.60s among them; "
					 "--ref NAME says which",
					 path_shown(said, *name), path_shown(other, own));
		*name = own;
	}
	return any ? 0 : refuse_ref(t, x, e);
}

/* index.json leads to a manifest, or to the index of one image for several platforms. */
static int choose_manifest(struct taker *t, struct descriptor *d, const char **name, struct err *e)
{
	struct json_bytes bytes;
	struct index x;
	if (member_read(t, "index.json", &bytes, e) < 0 ||
	    index_read(&x, MEDIA_UNKNOWN, bytes, t->arena, e) < 0 || check_single(t, &x, name, e) < 0)
		return -1;
	const struct index_entry *nested = NULL;
	size_t manifests = 0;
	for (size_t i = 0; i < x.entries_len; i++) {
		const enum media_role role = media_role(x.entries[i].what.type);
		if (!fits_ref(t, &x.entries[i]))
			continue;
		manifests += role == ROLE_MANIFEST;
		nested = role == ROLE_INDEX && !nested ? &x.entries[i] : nested;
	}
	if (manifests > 0 || !nested)
		return index_choose(&x, &t->take->platform, t->take->ref, d, e);
	if (read_blob(t, &nested->what, &bytes, e) < 0 ||
	    index_read(&x, nested->what.type, bytes, t->arena, e) < 0)
		return -1;
	return index_choose(&x, &t->take->platform, NULL, d, e);
}

static int keep_blob(struct taker *t, const struct descriptor *d, struct err *e)
{
	char name[96];
	blob_member(name, &d->digest);
	return member_keep(t, name, &d->digest, e);
}

static int keep_all(struct taker *t, const struct taken *out, struct err *e)
{
	if (keep_blob(t, &out->document, e) < 0 || keep_blob(t, &out->config, e) < 0)
		return -1;
	for (size_t i = 0; i < out->layers_len; i++)
		if (keep_blob(t, &out->layers[i], e) < 0)
			return -1;
	return 0;
}

static void set_manifest(struct taken *out, const struct manifest *m)
{
	out->config = m->config;
	out->layers_len = (uint32_t)m->layers_len;
	memcpy(out->layers, m->layers, m->layers_len * sizeof(*m->layers));
}

int take_layout(struct taker *t, struct taken *out, struct err *e)
{
	struct json_bytes bytes;
	struct manifest m;
	const char *name = NULL;
	if (choose_manifest(t, &out->document, &name, e) < 0 ||
	    read_blob(t, &out->document, &bytes, e) < 0 ||
	    manifest_read(&m, out->document.type, bytes, t->arena, e) < 0)
		return -1;
	out->document.type = m.type;
	set_manifest(out, &m);
	if (name && strlen(name) < sizeof(out->name))
		memcpy(out->name, name, strlen(name) + 1);
	return keep_all(t, out, e);
}

/* ---- docker-archive ---- */

static void write_descriptor(struct json_writer *w, const char *key, const struct descriptor *d)
{
	json_begin(w, key, '{');
	json_text(w, "mediaType", media_type_text(d->type));
	json_text(w, "digest", d->digest.text);
	json_number(w, "size", (int64_t)d->size);
	json_end(w, '{');
}

/* The manifest that the form does not have. */
static int make_manifest(struct taker *t, struct taken *out, struct err *e)
{
	struct json_writer w;
	out->document.type = MEDIA_OCI_MANIFEST;
	json_open(&w, false);
	json_begin(&w, NULL, '{');
	json_number(&w, "schemaVersion", 2);
	json_text(&w, "mediaType", media_type_text(out->document.type));
	write_descriptor(&w, "config", &out->config);
	json_begin(&w, "layers", '[');
	for (size_t i = 0; i < out->layers_len; i++)
		write_descriptor(&w, NULL, &out->layers[i]);
	json_end(&w, '[');
	json_end(&w, '{');
	char *text = json_finish(&w, false);
	if (!text)
		return err_host(e, "out of memory");
	const int rc = blob_write(t, text, strlen(text), &out->document, e);
	free(text);
	return rc;
}

static int hash_member(struct taker *t, const char *name, struct descriptor *d, struct err *e)
{
	static char block[128 * 1024];
	char said[SHOWN_BYTES];
	autoclose int fd = member_open(t, name, &d->size, e);
	ssize_t n = 0;
	bool first = true;
	if (fd < 0)
		return -1;
	hash_restart(&t->hash);
	while ((n = read(fd, block, sizeof(block))) > 0) {
		if (first && n >= 4)
			d->type = memcmp(block, "\x1f\x8b", 2) == 0	      ? MEDIA_OCI_TAR_GZIP
				  : memcmp(block, "\x28\xb5\x2f\xfd", 4) == 0 ? MEDIA_OCI_TAR_ZSTD
									      : MEDIA_OCI_TAR;
		first = false;
		hash_update(&t->hash, block, (size_t)n);
	}
	hash_final(&t->hash, &d->digest);
	return n < 0 ? err_sys(e, "read %.100s", path_shown(said, name)) : 0;
}

/* All are hashed before the first is moved: one may be there twice. */
static int keep_docker(struct taker *t, struct taken *out, const char *config,
		       const struct json_texts *layers, struct err *e)
{
	out->config.type = MEDIA_OCI_CONFIG;
	if (layers->len > LAYERS_MAX)
		return err_usage(e, "manifest.json: more than %d layers", LAYERS_MAX);
	if (hash_member(t, config, &out->config, e) < 0)
		return -1;
	out->config.type = MEDIA_OCI_CONFIG;
	for (size_t i = 0; i < layers->len; i++) {
		out->layers[i].type = MEDIA_OCI_TAR;
		if (hash_member(t, layers->list[i], &out->layers[i], e) < 0)
			return -1;
	}
	out->layers_len = (uint32_t)layers->len;
	if (member_keep(t, config, &out->config.digest, e) < 0)
		return -1;
	for (size_t i = 0; i < layers->len; i++)
		if (member_keep(t, layers->list[i], &out->layers[i].digest, e) < 0)
			return -1;
	return make_manifest(t, out, e);
}

static bool has_tag(const struct json_texts *tags, const char *ref)
{
	for (size_t i = 0; i < tags->len; i++)
		if (strcmp(tags->list[i], ref) == 0)
			return true;
	return false;
}

/* The entry of manifest.json that is wanted: the one with the tag, or the only one. */
static int choose_entry(struct taker *t, json_t *images, json_t **chosen, struct json_texts *tags,
			struct err *e)
{
	const size_t len = json_array_size(images);
	if (!t->take->ref && len > 1)
		return err_usage(e, "there are %zu images in it; --ref NAME:TAG says which", len);
	for (size_t i = 0; i < len; i++) {
		json_t *image = json_array_get(images, i);
		if (!json_is_object(image))
			return err_usage(e, "manifest.json: an image is an object");
		if (json_member_texts(image, "RepoTags", t->arena, tags, e) < 0)
			return -1;
		if (!t->take->ref || has_tag(tags, t->take->ref)) {
			*chosen = image;
			return 0;
		}
	}
	return err_usage(e, "there is no image of that name in it");
}

int take_docker(struct taker *t, struct taken *out, struct err *e)
{
	struct json_bytes bytes;
	json_t *images, *image = NULL;
	struct json_texts tags = {0}, layers = {0};
	const char *config;
	if (member_read(t, "manifest.json", &bytes, e) < 0)
		return -1;
	/* The reader takes objects alone. */
	char *text = arena_printf(t->arena, "{\"images\":%.*s}", (int)bytes.len, bytes.text);
	autojson *root = json_read("manifest.json", (struct json_bytes){text, strlen(text)}, e);
	if (!root || json_member(root, "images", JSON_ARRAY, &images, e) < 0)
		return -1;
	if (!images)
		return err_usage(e, "manifest.json: no image");
	if (choose_entry(t, images, &image, &tags, e) < 0 ||
	    json_member_text(image, "Config", &config, e) < 0 ||
	    json_member_texts(image, "Layers", t->arena, &layers, e) < 0)
		return -1;
	if (!config || layers.len == 0)
		return err_usage(e, "manifest.json: an image without Config or Layers");
	const char *name = t->take->ref ? t->take->ref : tags.len > 0 ? tags.list[0] : "";
	if (strlen(name) < sizeof(out->name))
		memcpy(out->name, name, strlen(name) + 1);
	return keep_docker(t, out, config, &layers, e);
}

/* ---- a tar of a tree ---- */

/* What is packed as a layer may not be is unpacked into one. Its diff_id comes from the same reading. */
static int copy_stream(struct taker *t, int to, struct digest *diff_id, struct err *e)
{
	const struct source_options o = {SOURCE_ANY, t->take->limits.ratio};
	struct source *s = NULL;
	const void *bytes;
	ssize_t n = 0;
	uint64_t total = 0;
	if (lseek(t->take->input, 0, SEEK_SET) < 0)
		return err_sys(e, "read the archive again");
	int rc = source_open(&s, t->take->input, &o, e);
	while (rc == 0 && (n = source_next(s, &bytes, e)) > 0) {
		total += (uint64_t)n;
		if (total > t->take->limits.bytes)
			rc = err_usage(e, "the archive holds more than the limit of %llu bytes",
				       (unsigned long long)t->take->limits.bytes);
		else if (to >= 0 && fd_write_all(to, bytes, (size_t)n) < 0)
			rc = err_sys(e, "write to the store");
	}
	rc = rc < 0 || n < 0 ? -1 : 0;
	if (rc == 0)
		source_digest(s, diff_id);
	source_close(&s);
	return rc;
}

static int keep_layer(struct taker *t, int compression, struct descriptor *layer,
		      struct digest *diff_id, struct err *e)
{
	static const enum media_type types[] = {
		[COMPRESSION_NONE] = MEDIA_OCI_TAR,
		[COMPRESSION_GZIP] = MEDIA_OCI_TAR_GZIP,
		[COMPRESSION_ZSTD] = MEDIA_OCI_TAR_ZSTD,
	};
	char name[96];
	layer->type = compression < 0 ? MEDIA_OCI_TAR : types[compression];
	if (compression < 0) {
		struct stat st;
		autoclose int to = openat(t->root, "layer", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
					  0600);
		if (to < 0 || copy_stream(t, to, diff_id, e) < 0 || fstat(to, &st) < 0)
			return to < 0 ? err_sys(e, "make a blob") : -1;
		layer->digest = *diff_id;
		layer->size = (uint64_t)st.st_size;
	} else {
		if (compression != COMPRESSION_NONE && copy_stream(t, -1, diff_id, e) < 0)
			return -1;
		if (lseek(t->take->input, 0, SEEK_SET) < 0)
			return err_sys(e, "read the archive again");
		if (blob_copy(t, t->take->input, "layer", layer, e) < 0)
			return -1;
		if (compression == COMPRESSION_NONE)
			*diff_id = layer->digest;
	}
	snprintf(name, sizeof(name), "blobs/%s", digest_hex(&layer->digest));
	return renameat(t->root, "layer", t->root, name) < 0 ? err_sys(e, "keep the layer") : 0;
}

/* The config that a bare tree does not have: nothing but what it is for. */
static int make_config(struct taker *t, const struct digest *diff_id, struct taken *out,
		       struct err *e)
{
	struct json_writer w;
	out->config.type = MEDIA_OCI_CONFIG;
	json_open(&w, false);
	json_begin(&w, NULL, '{');
	json_text(&w, "architecture", t->take->platform.architecture);
	json_text(&w, "os", t->take->platform.os);
	json_begin(&w, "config", '{');
	json_end(&w, '{');
	json_begin(&w, "rootfs", '{');
	json_text(&w, "type", "layers");
	json_begin(&w, "diff_ids", '[');
	json_text(&w, NULL, diff_id->text);
	json_end(&w, '[');
	json_end(&w, '{');
	json_end(&w, '{');
	char *text = json_finish(&w, false);
	if (!text)
		return err_host(e, "out of memory");
	const int rc = blob_write(t, text, strlen(text), &out->config, e);
	free(text);
	return rc;
}

int take_tree(struct taker *t, int compression, struct taken *out, struct err *e)
{
	struct digest diff_id;
	out->layers_len = 1;
	if (t->take->ref)
		return err_usage(e, "it is a tar of a tree, which has no names for --ref");
	if (keep_layer(t, compression, &out->layers[0], &diff_id, e) < 0 ||
	    make_config(t, &diff_id, out, e) < 0)
		return -1;
	return make_manifest(t, out, e);
}

/* ---- the jail's side and the caller's ---- */

static bool has_member(const struct taker *t, const char *name)
{
	for (size_t i = 0; i < t->members_len; i++)
		if (strcmp(t->members[i].name, name) == 0)
			return true;
	return false;
}

static int take_form(struct taker *t, struct taken *out, struct err *e)
{
	enum taken_form form = TAKEN_ARCHIVE;
	int compression = -1;
	const enum take_as as = t->take->as;
	if (t->take->blobs)
		return take_layout(t, out, e);
	if (archive_take(t, &form, &compression, e) < 0)
		return -1;
	if (form == TAKEN_TREE)
		return take_tree(t, compression, out, e);
	if (as == TAKE_LAYOUT || (as == TAKE_ANY && has_member(t, "index.json")))
		return take_layout(t, out, e);
	if (as == TAKE_DOCKER || has_member(t, "manifest.json"))
		return take_docker(t, out, e);
	return err_usage(e,
			 "the archive has neither index.json nor manifest.json; --as says what it is");
}

int take_in(int root, void *arg, struct err *e)
{
	const struct take *take = arg;
	autoarena arena = ARENA_INIT;
	struct taker t = {.take = take, .root = root, .arena = &arena, .hash = HASH_INIT};
	t.members = arena_alloc(&arena, MEMBERS_MAX * sizeof(*t.members));
	if (hash_init(&t.hash, e) < 0)
		return -1;
	if (mkdirat(root, "blobs", 0700) < 0 || mkdirat(root, "m", 0700) < 0)
		return err_sys(e, "make a folder for blobs");
	const int rc = take_form(&t, take->taken, e);
	hash_free(&t.hash);
	return rc;
}

int taken_check(const struct taken *t, struct err *e)
{
	if (t->layers_len > LAYERS_MAX || !memchr(t->name, '\0', sizeof(t->name)))
		return err_bug(e, "the jail says what cannot be");
	if (descriptor_check(&t->document, ROLE_MANIFEST, e) < 0 ||
	    descriptor_check(&t->config, ROLE_CONFIG, e) < 0)
		return -1;
	for (size_t i = 0; i < t->layers_len; i++)
		if (descriptor_check(&t->layers[i], ROLE_LAYER, e) < 0)
			return -1;
	return 0;
}

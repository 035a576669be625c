#include "rootfs/image/manifest.h"

#include "rootfs/image/path.h"

#include <string.h>
#include <sys/utsname.h>

/* ---- media types ---- */

#define OCI    "application/vnd.oci.image."
#define DOCKER "application/vnd.docker."

static const struct {
	const char *text;
	enum media_role role;
	enum media_compression compression;
	bool foreign;
} media[MEDIA_TYPE_COUNT] = {
	[MEDIA_OCI_INDEX] = {OCI "index.v1+json", ROLE_INDEX},
	[MEDIA_OCI_MANIFEST] = {OCI "manifest.v1+json", ROLE_MANIFEST},
	[MEDIA_OCI_CONFIG] = {OCI "config.v1+json", ROLE_CONFIG},
	[MEDIA_OCI_TAR] = {OCI "layer.v1.tar", ROLE_LAYER},
	[MEDIA_OCI_TAR_GZIP] = {OCI "layer.v1.tar+gzip", ROLE_LAYER, COMPRESSION_GZIP},
	[MEDIA_OCI_TAR_ZSTD] = {OCI "layer.v1.tar+zstd", ROLE_LAYER, COMPRESSION_ZSTD},
	[MEDIA_OCI_FOREIGN_TAR] = {OCI "layer.nondistributable.v1.tar", ROLE_LAYER,
				   COMPRESSION_NONE, true},
	[MEDIA_OCI_FOREIGN_TAR_GZIP] = {OCI "layer.nondistributable.v1.tar+gzip", ROLE_LAYER,
					COMPRESSION_GZIP, true},
	[MEDIA_OCI_FOREIGN_TAR_ZSTD] = {OCI "layer.nondistributable.v1.tar+zstd", ROLE_LAYER,
					COMPRESSION_ZSTD, true},
	[MEDIA_DOCKER_INDEX] = {DOCKER "distribution.manifest.list.v2+json", ROLE_INDEX},
	[MEDIA_DOCKER_MANIFEST] = {DOCKER "distribution.manifest.v2+json", ROLE_MANIFEST},
	[MEDIA_DOCKER_CONFIG] = {DOCKER "container.image.v1+json", ROLE_CONFIG},
	[MEDIA_DOCKER_TAR] = {DOCKER "image.rootfs.diff.tar", ROLE_LAYER},
	[MEDIA_DOCKER_TAR_GZIP] = {DOCKER "image.rootfs.diff.tar.gzip", ROLE_LAYER, COMPRESSION_GZIP},
	[MEDIA_DOCKER_TAR_ZSTD] = {DOCKER "image.rootfs.diff.tar.zstd", ROLE_LAYER, COMPRESSION_ZSTD},
	[MEDIA_DOCKER_FOREIGN_TAR_GZIP] = {DOCKER "image.rootfs.foreign.diff.tar.gzip", ROLE_LAYER,
					   COMPRESSION_GZIP, true},
};

enum media_type media_type_parse(const char *text)
{
	size_t len = strcspn(text, "; \t");
	for (enum media_type type = MEDIA_UNKNOWN + 1; type < MEDIA_TYPE_COUNT; type++) {
		if (strlen(media[type].text) == len && memcmp(media[type].text, text, len) == 0)
			return type;
	}
	return MEDIA_UNKNOWN;
}

const char *media_type_text(enum media_type type)
{
	return media[type].text ? media[type].text : "unknown";
}

enum media_role media_role(enum media_type type)
{
	return media[type].role;
}

enum media_compression media_compression(enum media_type type)
{
	return media[type].compression;
}

bool media_is_foreign(enum media_type type)
{
	return media[type].foreign;
}

int descriptor_check(const struct descriptor *d, enum media_role role, struct err *e)
{
	struct digest copy;
	struct err ignored = ERR_INIT;
	if (!memchr(d->digest.text, '\0', sizeof(d->digest.text)) ||
	    digest_parse(&copy, d->digest.text, &ignored) < 0 || d->type <= MEDIA_UNKNOWN ||
	    d->type >= MEDIA_TYPE_COUNT || media_role(d->type) != role)
		return err_bug(e, "the jail speaks of a blob that is none");
	return 0;
}

/* ---- parts that the documents share ---- */

static int read_descriptor(json_t *object, struct descriptor *d, struct err *e)
{
	const char *type, *digest;
	if (!json_is_object(object))
		return err_usage(e, "an object belongs there");
	if (json_member_text(object, "mediaType", &type, e) < 0 ||
	    json_member_text(object, "digest", &digest, e) < 0 ||
	    json_member_size(object, "size", &d->size, e) < 0)
		return -1;
	if (!type || !digest)
		return err_usage(e, "a descriptor without %s", type ? "digest" : "mediaType");
	d->type = media_type_parse(type);
	return digest_parse(&d->digest, digest, e);
}

/* The document's own word on what it is, against what others said of it: they name one type, and
 * have the members of that one alone. (What is a manifest to one reader and an index to the next
 * passes a check as the one and is used as the other.) */
static int check_type(json_t *root, enum media_role role, enum media_type *type, struct err *e)
{
	const char *text;
	uint64_t version;
	bool index = role == ROLE_INDEX;
	if (json_member_size(root, "schemaVersion", &version, e) < 0 ||
	    json_member_text(root, "mediaType", &text, e) < 0)
		return -1;
	if (version != 2)
		return err_usage(e, "schema version 1, which Docker gave up; 2 belongs there");
	enum media_type own = text ? media_type_parse(text) : *type;
	if (own != MEDIA_UNKNOWN && *type != MEDIA_UNKNOWN && own != *type)
		return err_usage(e, "it says that it is %s and came as %s", media_type_text(own),
				 media_type_text(*type));
	if (text ? media_role(own) != role : own != MEDIA_UNKNOWN && media_role(own) != role)
		return err_usage(e, "not the media type of %s", index ? "an index" : "a manifest");
	if (index ? json_object_get(root, "layers") || json_object_get(root, "config")
		  : json_object_get(root, "manifests") != NULL)
		return err_usage(e, "manifest and index in one");
	if (json_object_get(root, "fsLayers"))
		return err_usage(e, "parts of schema version 1");
	*type = own != MEDIA_UNKNOWN ? own : index ? MEDIA_OCI_INDEX : MEDIA_OCI_MANIFEST;
	return 0;
}

/* ---- manifest ---- */

static int read_layers(struct manifest *m, json_t *array, struct arena *a, struct err *e)
{
	json_t *value;
	size_t i;
	uint64_t total = 0;
	m->layers_len = json_array_size(array);
	if (m->layers_len > LAYERS_MAX)
		return err_usage(e, "more than %d layers", LAYERS_MAX);
	m->layers = arena_alloc(a, (m->layers_len + 1) * sizeof(*m->layers));
	json_array_foreach(array, i, value)
	{
		struct descriptor *layer = &m->layers[i];
		if (read_descriptor(value, layer, e) < 0)
			return err_wrap(e, "layer %zu", i);
		if (media_role(layer->type) != ROLE_LAYER)
			return err_usage(e, "layer %zu: not the media type of a layer", i);
		total += layer->size;
		if (total > INT64_MAX)
			return err_usage(e, "layer %zu: sizes beyond all reason", i);
	}
	return 0;
}

static int read_manifest(struct manifest *m, json_t *root, struct arena *a, struct err *e)
{
	json_t *config, *layers;
	if (check_type(root, ROLE_MANIFEST, &m->type, e) < 0 ||
	    json_member(root, "config", JSON_OBJECT, &config, e) < 0 ||
	    json_member(root, "layers", JSON_ARRAY, &layers, e) < 0)
		return -1;
	if (!config || !layers)
		return err_usage(e, "no %s", config ? "layers" : "config");
	if (read_descriptor(config, &m->config, e) < 0)
		return err_wrap(e, "config");
	if (media_role(m->config.type) != ROLE_CONFIG)
		return err_usage(e, "config: not an image's: this is something else in a registry");
	if (m->config.size > JSON_BYTES_MAX)
		return err_usage(e, "config: larger than %d bytes", JSON_BYTES_MAX);
	return read_layers(m, layers, a, e);
}

int manifest_read(struct manifest *m, enum media_type type, struct json_bytes bytes,
		  struct arena *a, struct err *e)
{
	struct manifest got = {.type = type};
	autojson *root = json_read("manifest", bytes, e);
	if (!root)
		return -1;
	if (read_manifest(&got, root, a, e) < 0)
		return err_wrap(e, "manifest");
	*m = got;
	return 0;
}

/* ---- index ---- */

static int copy_text(json_t *object, const char *key, struct arena *a, const char **copy,
		     struct err *e)
{
	const char *text;
	if (json_member_text(object, key, &text, e) < 0)
		return -1;
	*copy = text && *text ? arena_strdup(a, text) : NULL;
	return 0;
}

static int read_platform(json_t *object, struct platform *p, struct arena *a, struct err *e)
{
	return copy_text(object, "os", a, &p->os, e) < 0 ||
			       copy_text(object, "architecture", a, &p->architecture, e) < 0
		       ? -1
		       : copy_text(object, "variant", a, &p->variant, e);
}

static int read_entry(struct index_entry *entry, json_t *object, struct arena *a, struct err *e)
{
	json_t *platform, *annotations;
	if (read_descriptor(object, &entry->what, e) < 0 ||
	    json_member(object, "platform", JSON_OBJECT, &platform, e) < 0 ||
	    json_member(object, "annotations", JSON_OBJECT, &annotations, e) < 0)
		return -1;
	if (platform && read_platform(platform, &entry->platform, a, e) < 0)
		return -1;
	if (!annotations)
		return 0;
	return copy_text(annotations, "org.opencontainers.image.ref.name", a, &entry->name, e) < 0
		       ? -1
		       : copy_text(annotations, "io.containerd.image.name", a, &entry->full, e);
}

static int read_index(struct index *x, json_t *root, struct arena *a, struct err *e)
{
	json_t *array, *value;
	size_t i;
	if (check_type(root, ROLE_INDEX, &x->type, e) < 0 ||
	    json_member(root, "manifests", JSON_ARRAY, &array, e) < 0)
		return -1;
	if (!array)
		return err_usage(e, "no manifests");
	x->entries_len = json_array_size(array);
	if (x->entries_len > INDEX_ENTRIES_MAX)
		return err_usage(e, "more than %d manifests", INDEX_ENTRIES_MAX);
	x->entries = arena_alloc(a, (x->entries_len + 1) * sizeof(*x->entries));
	json_array_foreach(array, i, value)
	{
		if (read_entry(&x->entries[i], value, a, e) < 0)
			return err_wrap(e, "manifest %zu", i);
	}
	return 0;
}

int index_read(struct index *x, enum media_type type, struct json_bytes bytes, struct arena *a,
	       struct err *e)
{
	struct index got = {.type = type};
	autojson *root = json_read("index", bytes, e);
	if (!root)
		return -1;
	if (read_index(&got, root, a, e) < 0)
		return err_wrap(e, "index");
	*x = got;
	return 0;
}

static bool same(const char *a, const char *b)
{
	return a && b && strcmp(a, b) == 0;
}

const char *index_familiar(const char *text)
{
	static const char registry[] = "docker.io/", folder[] = "library/";
	if (strncmp(text, registry, sizeof(registry) - 1) != 0)
		return text;
	text += sizeof(registry) - 1;
	return strncmp(text, folder, sizeof(folder) - 1) == 0 ? text + sizeof(folder) - 1 : text;
}

bool index_entry_is(const struct index_entry *entry, const char *name)
{
	return same(entry->name, name) || same(entry->full, name) ||
	       (entry->full && same(index_familiar(entry->full), name));
}

/* How well it fits: 0 not at all. armv8 is what arm64 means when it says no more. */
static int fitness(const struct platform *has, const struct platform *wanted)
{
	if (!same(has->os, wanted->os) || !same(has->architecture, wanted->architecture))
		return 0;
	if (same(has->variant, wanted->variant) || (!has->variant && !wanted->variant))
		return 3;
	if (!has->variant || (!wanted->variant && same(has->variant, "v8")))
		return 2;
	return wanted->variant ? 0 : 1;
}

/* What there is for another platform says what --platform may be. */
static int refuse_platform(const struct index *x, const struct platform *p, const char *name,
			   struct err *e)
{
	char os[SHOWN_BYTES], architecture[SHOWN_BYTES];
	bool nested = false;
	for (size_t i = 0; i < x->entries_len; i++) {
		const struct index_entry *entry = &x->entries[i];
		const struct platform *has = &entry->platform;
		if (name && !index_entry_is(entry, name))
			continue;
		nested |= media_role(entry->what.type) == ROLE_INDEX;
		if (media_role(entry->what.type) == ROLE_MANIFEST && has->os && has->architecture)
			return err_usage(e,
					 "index: no manifest for %s/%s, but one for %.30s/%.30s: "
					 "--platform says which",
					 p->os, p->architecture, path_shown(os, has->os),
					 path_shown(architecture, has->architecture));
	}
	return err_usage(e, "index: no manifest for %s/%s%s", p->os, p->architecture,
			 nested ? "; an index within the index is not followed" : "");
}

int index_choose(const struct index *x, const struct platform *p, const char *name,
		 struct descriptor *chosen, struct err *e)
{
	const struct index_entry *best = NULL, *silent = NULL;
	int best_fitness = 0;
	size_t silent_count = 0;
	for (size_t i = 0; i < x->entries_len; i++) {
		const struct index_entry *entry = &x->entries[i];
		enum media_role role = media_role(entry->what.type);
		if (name && !index_entry_is(entry, name))
			continue;
		if (role != ROLE_MANIFEST)
			continue;
		int fits = fitness(&entry->platform, p);
		if (!entry->platform.os && !entry->platform.architecture) {
			silent = entry;
			silent_count++;
		} else if (fits > best_fitness) {
			best = entry;
			best_fitness = fits;
		}
	}
	if (!best && silent_count == 1)
		best = silent;
	if (!best && silent_count > 1)
		return err_usage(e, "index: %zu manifests, and none says for which platform",
				 silent_count);
	if (!best)
		return refuse_platform(x, p, name, e);
	*chosen = best->what;
	return 0;
}

int manifest_role(enum media_type type, struct json_bytes bytes, enum media_role *role, struct err *e)
{
	autojson *root = json_read("manifest", bytes, e);
	const char *text;
	if (!root)
		return -1;
	if (json_member_text(root, "mediaType", &text, e) < 0)
		return err_wrap(e, "manifest");
	enum media_type said = type != MEDIA_UNKNOWN ? type : text ? media_type_parse(text) : type;
	if (said == MEDIA_UNKNOWN && !text)
		said = json_object_get(root, "manifests") ? MEDIA_OCI_INDEX : MEDIA_OCI_MANIFEST;
	if (media_role(said) != ROLE_INDEX && media_role(said) != ROLE_MANIFEST)
		return err_usage(e,
				 "manifest: a media type that is neither an image's nor an index's");
	*role = media_role(said);
	return 0;
}

/* ---- platforms ---- */

struct platform platform_host(void)
{
	/* the names of Go, which images use, for those of uname(2) */
	static const struct {
		const char *machine;
		struct platform platform;
	} rows[] = {
		{"x86_64", {"linux", "amd64", NULL}},	 {"aarch64", {"linux", "arm64", "v8"}},
		{"armv7l", {"linux", "arm", "v7"}},	 {"i686", {"linux", "386", NULL}},
		{"riscv64", {"linux", "riscv64", NULL}}, {"ppc64le", {"linux", "ppc64le", NULL}},
		{"s390x", {"linux", "s390x", NULL}},
	};
	struct utsname name;
	if (uname(&name) < 0)
		return (struct platform){"linux", "unknown", NULL};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (strcmp(rows[i].machine, name.machine) == 0)
			return rows[i].platform;
	}
	return (struct platform){"linux", "unknown", NULL};
}

int platform_parse(struct platform *p, const char *text, struct arena *a, struct err *e)
{
	size_t len = strlen(text);
	char *os = arena_strdup(a, text);
	char *architecture = strchr(os, '/');
	char *variant = architecture ? strchr(architecture + 1, '/') : NULL;
	if (architecture)
		*architecture++ = '\0';
	if (variant)
		*variant++ = '\0';
	if (len > 64 || strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789/_-.") != len || !*os ||
	    !architecture || !*architecture || (variant && (!*variant || strchr(variant, '/'))))
		return err_usage(e, "not a platform: OS/ARCHITECTURE[/VARIANT], as in linux/amd64");
	*p = (struct platform){os, architecture, variant};
	return 0;
}

/* Any bytes as manifest, index and image config. Either they are refused, in words that a terminal
 * may see, or what was read keeps its bounds. */
#include "rootfs/image/manifest.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int holds)
{
	if (!holds)
		abort();
}

static void check_refusal(const struct err *e)
{
	must(e->kind == ERR_USAGE && e->msg[0]);
	for (const char *c = e->msg; *c; c++)
		must(*c >= 0x20 && *c < 0x7f);
}

static void check_descriptor(const struct descriptor *d, enum media_role role)
{
	must(strlen(d->digest.text) == DIGEST_TEXT - 1 && !strchr(d->digest.text, '/'));
	must(d->size <= INT64_MAX);
	must(role == ROLE_NONE || media_role(d->type) == role);
}

static void check_texts(const struct json_texts *texts)
{
	must(texts->len <= JSON_TEXTS_MAX);
	must(!texts->list || !texts->list[texts->len]);
	for (size_t i = 0; texts->list && i < texts->len; i++)
		must(strlen(texts->list[i]) <= IMAGE_TEXT_MAX);
}

static void as_manifest(struct json_bytes bytes, struct arena *a)
{
	struct err e = ERR_INIT;
	struct manifest m;
	if (manifest_read(&m, MEDIA_UNKNOWN, bytes, a, &e) < 0) {
		check_refusal(&e);
		return;
	}
	must(m.layers_len <= LAYERS_MAX && media_role(m.type) == ROLE_MANIFEST);
	check_descriptor(&m.config, ROLE_CONFIG);
	for (size_t i = 0; i < m.layers_len; i++)
		check_descriptor(&m.layers[i], ROLE_LAYER);
}

static void as_index(struct json_bytes bytes, struct arena *a)
{
	static const struct platform linux_amd64 = {"linux", "amd64", NULL};
	struct err e = ERR_INIT;
	struct index x;
	struct descriptor chosen;
	if (index_read(&x, MEDIA_UNKNOWN, bytes, a, &e) < 0) {
		check_refusal(&e);
		return;
	}
	must(x.entries_len <= INDEX_ENTRIES_MAX && media_role(x.type) == ROLE_INDEX);
	for (size_t i = 0; i < x.entries_len; i++)
		check_descriptor(&x.entries[i].what, ROLE_NONE);
	if (index_choose(&x, &linux_amd64, NULL, &chosen, &e) < 0)
		check_refusal(&e);
	else
		check_descriptor(&chosen, ROLE_MANIFEST);
}

static void as_config(struct json_bytes bytes, struct arena *a)
{
	struct err e = ERR_INIT;
	struct image_config c;
	if (config_read(&c, bytes, a, &e) < 0) {
		check_refusal(&e);
		return;
	}
	must(c.diff_ids_len <= LAYERS_MAX);
	check_texts(&c.env);
	check_texts(&c.entrypoint);
	check_texts(&c.cmd);
	must(!c.workdir || c.workdir[0] == '/');
	must(!c.workdir || (!strstr(c.workdir, "/../") && !strstr(c.workdir, "//")));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	autoarena a = ARENA_INIT;
	const struct json_bytes bytes = {(const char *)data, size};
	struct err e = ERR_INIT;
	enum media_role role;
	as_manifest(bytes, &a);
	as_index(bytes, &a);
	as_config(bytes, &a);
	if (manifest_role(MEDIA_UNKNOWN, bytes, &role, &e) < 0)
		check_refusal(&e);
	return 0;
}

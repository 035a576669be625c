/* A registry's document as values, and values that came out of a jail. */
#include "rootfs/image/parsed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define HEX    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define OCI    "application/vnd.oci.image."
#define CONFIG "{\"mediaType\":\"" OCI "config.v1+json\",\"digest\":\"sha256:" HEX "\",\"size\":7}"
#define LAYER \
	"{\"mediaType\":\"" OCI "layer.v1.tar+gzip\",\"digest\":\"sha256:" HEX "\",\"size\":9}"
#define MANIFEST "{\"schemaVersion\":2,\"config\":" CONFIG ",\"layers\":[" LAYER "," LAYER "]}"
#define ENTRY(arch, size)                                                                         \
	"{\"mediaType\":\"" OCI "manifest.v1+json\",\"digest\":\"sha256:" HEX "\",\"size\":" size \
	",\"platform\":{\"os\":\"linux\",\"architecture\":\"" arch "\"}}"
#define INDEX \
	"{\"schemaVersion\":2,\"manifests\":[" ENTRY("arm64", "1") "," ENTRY("amd64", "2") "]}"

static struct parse parse;

static int read_document(const char *text, enum media_type type, struct err *e)
{
	parse = (struct parse){.bytes = {text, strlen(text)},
			       .type = type,
			       .platform = {"linux", "amd64", NULL}};
	return parse_document(-1, &parse, e);
}

static void a_manifest_gives_its_parts(void **state)
{
	(void)state;
	struct err e = ERR_INIT;
	assert_int_equal(read_document(MANIFEST, MEDIA_UNKNOWN, &e), 0);
	assert_int_equal(parse.parsed.role, ROLE_MANIFEST);
	assert_int_equal(parse.parsed.type, MEDIA_OCI_MANIFEST);
	assert_int_equal(parse.parsed.config.size, 7);
	assert_int_equal(parse.parsed.layers_len, 2);
	assert_int_equal(parse.parsed.layers[1].type, MEDIA_OCI_TAR_GZIP);
	assert_string_equal(parse.parsed.layers[1].digest.text, "sha256:" HEX);
	assert_int_equal(parsed_check(&parse.parsed, &e), 0);
}

static void an_index_gives_the_platforms_manifest(void **state)
{
	(void)state;
	struct err e = ERR_INIT;
	assert_int_equal(read_document(INDEX, MEDIA_OCI_INDEX, &e), 0);
	assert_int_equal(parse.parsed.role, ROLE_INDEX);
	assert_int_equal(parse.parsed.chosen.size, 2);
	assert_int_equal(parsed_check(&parse.parsed, &e), 0);
	assert_int_equal(read_document(INDEX, MEDIA_OCI_MANIFEST, &e), -1);
	assert_int_equal(e.kind, ERR_USAGE);
	assert_int_equal(read_document("[]", MEDIA_UNKNOWN, &e), -1);
	assert_int_equal(e.kind, ERR_USAGE);
}

/* What each of these does to the values of a good manifest. */
static void no_role(struct parsed *p)
{
	memset(&p->role, 77, sizeof(p->role));
}

static void too_many(struct parsed *p)
{
	p->layers_len = LAYERS_MAX + 1;
}

static void no_type(struct parsed *p)
{
	memset(&p->type, 77, sizeof(p->type));
}

static void type_of_an_index(struct parsed *p)
{
	p->type = MEDIA_OCI_INDEX;
}

static void large_config(struct parsed *p)
{
	p->config.size = JSON_BYTES_MAX + UINT64_C(1);
}

static void layer_for_config(struct parsed *p)
{
	p->config.type = MEDIA_OCI_TAR;
}

static void no_layer_type(struct parsed *p)
{
	memset(&p->layers[1].type, 0xff, sizeof(p->layers[1].type));
}

static void path_for_digest(struct parsed *p)
{
	memcpy(p->layers[1].digest.text, "sha256:../", sizeof("sha256:../"));
}

static void endless_digest(struct parsed *p)
{
	memset(p->layers[1].digest.text, 'a', sizeof(p->layers[1].digest.text));
}

static void index_without_manifest(struct parsed *p)
{
	p->role = ROLE_INDEX;
}

static void what_a_jail_says_is_checked(void **state)
{
	(void)state;
	static void (*const lies[])(struct parsed *) = {
		no_role,	too_many,
		no_type,	type_of_an_index,
		large_config,	layer_for_config,
		no_layer_type,	path_for_digest,
		endless_digest, index_without_manifest,
	};
	struct err e = ERR_INIT;
	for (size_t i = 0; i < sizeof(lies) / sizeof(*lies); i++) {
		assert_int_equal(read_document(MANIFEST, MEDIA_UNKNOWN, &e), 0);
		lies[i](&parse.parsed);
		assert_int_equal(parsed_check(&parse.parsed, &e), -1);
		assert_int_equal(e.kind, ERR_BUG);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_manifest_gives_its_parts),
		cmocka_unit_test(an_index_gives_the_platforms_manifest),
		cmocka_unit_test(what_a_jail_says_is_checked),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

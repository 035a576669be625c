/* Manifest, index and config: what registries really serve, and what an attacker would. */
#include "rootfs/image/manifest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))
#define HEX	      "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define DIGEST	      "\"digest\":\"sha256:" HEX "\""
#define OCI	      "application/vnd.oci.image."
#define DOCKER	      "application/vnd.docker."
#define CONFIG	      "\"config\":{\"mediaType\":\"" OCI "config.v1+json\"," DIGEST ",\"size\":7}"
#define LAYER	      "{\"mediaType\":\"" OCI "layer.v1.tar+gzip\"," DIGEST ",\"size\":9}"
#define LAYERS	      "\"layers\":[" LAYER "]"
#define V2	      "\"schemaVersion\":2,"
#define ENTRY(more)   "{\"mediaType\":\"" OCI "manifest.v1+json\"," DIGEST ",\"size\":5" more "}"

static struct json_bytes bytes(const char *text)
{
	return (struct json_bytes){text, strlen(text)};
}

static void must_refuse(int got, const struct err *e, const char *text)
{
	if (got == 0)
		fail_msg("taken: %.200s", text);
	assert_int_equal(e->kind, ERR_USAGE);
	for (const char *c = e->msg; *c; c++)
		assert_in_range(*c, 0x20, 0x7e);
}

static void refuse_manifest(const char *text)
{
	autoarena a = ARENA_INIT;
	struct err e = ERR_INIT;
	struct manifest m;
	must_refuse(manifest_read(&m, MEDIA_UNKNOWN, bytes(text), &a, &e), &e, text);
}

static void refuse_index(const char *text)
{
	autoarena a = ARENA_INIT;
	struct err e = ERR_INIT;
	struct index x;
	must_refuse(index_read(&x, MEDIA_UNKNOWN, bytes(text), &a, &e), &e, text);
}

static void refuse_config(const char *text)
{
	autoarena a = ARENA_INIT;
	struct err e = ERR_INIT;
	struct image_config c;
	must_refuse(config_read(&c, bytes(text), &a, &e), &e, text);
}

static char *repeated(const char *front, const char *unit, size_t count, const char *back)
{
	size_t unit_len = strlen(unit), len = strlen(front);
	char *text = malloc(len + unit_len * count + strlen(back) + 1);
	assert_non_null(text);
	memcpy(text, front, len);
	for (size_t i = 0; i < count; i++, len += unit_len)
		memcpy(text + len, unit, unit_len);
	memcpy(text + len, back, strlen(back) + 1);
	return text;
}

/* ---- manifests ---- */

static void oci_manifest(void **state)
{
	(void)state;
	autoarena a = ARENA_INIT;
	struct err e = ERR_INIT;
	struct manifest m;
	const char *text = "{" V2 CONFIG ",\"layers\":[" LAYER ",{\"mediaType\":\"" OCI
			   "layer.v1.tar+zstd\"," DIGEST ",\"size\":0},{\"mediaType\":\"" OCI
			   "layer.v1.tar\"," DIGEST
			   ",\"size\":11,\"urls\":[\"http://192.0.2.1/x\"]}],"
			   "\"annotations\":{\"a\":\"b\"}}";
	assert_int_equal(manifest_read(&m, MEDIA_UNKNOWN, bytes(text), &a, &e), 0);
	assert_int_equal(m.type, MEDIA_OCI_MANIFEST);
	assert_string_equal(m.config.digest.text, "sha256:" HEX);
	assert_int_equal(m.config.size, 7);
	assert_int_equal(m.layers_len, 3);
	assert_int_equal(media_compression(m.layers[0].type), COMPRESSION_GZIP);
	assert_int_equal(media_compression(m.layers[1].type), COMPRESSION_ZSTD);
	assert_int_equal(media_compression(m.layers[2].type), COMPRESSION_NONE);
	assert_int_equal(m.layers[2].size, 11);
	assert_int_equal(manifest_read(&m, MEDIA_OCI_MANIFEST, bytes(text), &a, &e), 0);
	assert_int_equal(manifest_read(&m, MEDIA_DOCKER_INDEX, bytes(text), &a, &e), -1);
}

static void docker_manifest(void **state)
{
	(void)state;
	autoarena a = ARENA_INIT;
	struct err e = ERR_INIT;
	struct manifest m;
	const char *text = "{" V2 "\"mediaType\":\"" DOCKER "distribution.manifest.v2+json\","
			   "\"config\":{\"mediaType\":\"" DOCKER "container.image.v1+json\"," DIGEST
			   ",\"size\":1},\"layers\":[{\"mediaType\":\"" DOCKER
			   "image.rootfs.diff.tar.gzip\"," DIGEST
			   ",\"size\":2},{\"mediaType\":\"" DOCKER
			   "image.rootfs.foreign.diff.tar.gzip\"," DIGEST ",\"size\":3}]}";
	assert_int_equal(manifest_read(&m, MEDIA_DOCKER_MANIFEST, bytes(text), &a, &e), 0);
	assert_int_equal(m.type, MEDIA_DOCKER_MANIFEST);
	assert_false(media_is_foreign(m.layers[0].type));
	assert_true(media_is_foreign(m.layers[1].type));
	/* IM10: the header of the answer and the document disagree */
	assert_int_equal(manifest_read(&m, MEDIA_OCI_MANIFEST, bytes(text), &a, &e), -1);
	assert_int_equal(manifest_read(&m, MEDIA_DOCKER_INDEX, bytes(text), &a, &e), -1);
}

static void hostile_manifests(void **state)
{
	(void)state;
	static const char *const rows[] = {
		"",
		" ",
		"x",
		"[]",
		"7",
		"{}",
		"{" V2 CONFIG "," LAYERS,
		"{" V2 CONFIG "," LAYERS "}x",
		"{" V2 CONFIG "}",
		"{" V2 LAYERS "}",
		"{" CONFIG "," LAYERS "}",
		"{\"schemaVersion\":1," CONFIG "," LAYERS "}",
		"{\"schemaVersion\":\"2\"," CONFIG "," LAYERS "}",
		"{\"schemaVersion\":2.0," CONFIG "," LAYERS "}",
		"{" V2 "\"schemaVersion\":2," CONFIG "," LAYERS "}",
		"{" V2 CONFIG "," CONFIG "," LAYERS "}",
		"{" V2 CONFIG "," LAYERS ",\"Layers\":[]}",
		"{" V2 CONFIG "," LAYERS ",\"LAYERS\":[]}",
		"{" V2 CONFIG "," LAYERS ",\"Config\":{}}",
		"{" V2 CONFIG "," LAYERS ",\"manifests\":[]}",
		"{" V2 CONFIG "," LAYERS ",\"manifests\":null}",
		"{" V2 CONFIG "," LAYERS ",\"fsLayers\":[]}",
		"{" V2 CONFIG "," LAYERS ",\"mediaType\":\"" OCI "index.v1+json\"}",
		"{" V2 CONFIG "," LAYERS ",\"mediaType\":\"" OCI "layer.v1.tar\"}",
		"{" V2 CONFIG "," LAYERS ",\"mediaType\":\"text/html\"}",
		"{" V2 CONFIG "," LAYERS ",\"mediaType\":7}",
		"{" V2 CONFIG ",\"layers\":{}}",
		"{" V2 CONFIG ",\"layers\":null}",
		"{" V2 CONFIG ",\"layers\":[7]}",
		"{" V2 CONFIG ",\"layers\":[null]}",
		"{" V2 CONFIG ",\"layers\":[[" LAYER "]]}",
		"{" V2 CONFIG ",\"layers\":[{" DIGEST ",\"size\":9}]}",
		"{" V2 CONFIG ",\"layers\":[{\"mediaType\":\"" OCI "config.v1+json\"," DIGEST
		",\"size\":9}]}",
		"{" V2 CONFIG ",\"layers\":[{\"mediaType\":\"x\"," DIGEST ",\"size\":9}]}",
		"{" V2 "\"config\":[]," LAYERS "}",
		"{" V2 "\"config\":{\"mediaType\":\"" OCI "empty.v1+json\"," DIGEST
		",\"size\":2}," LAYERS "}",
		"{" V2 "\"config\":{\"mediaType\":\"" OCI "config.v1+json\"," DIGEST
		",\"size\":4194305}," LAYERS "}",
		"{" V2 CONFIG "," LAYERS ",\"a\":\"\\u0000\"}",
		"{" V2 CONFIG "," LAYERS ",\"a\\u0000b\":1}",
		"{" V2 CONFIG "," LAYERS ",\"a\":\"\xff\"}",
	};
	refuse_manifest("{" V2 CONFIG "," LAYERS ",\"a\":99999999999999999999}");
	for (size_t i = 0; i < LENGTH(rows); i++)
		refuse_manifest(rows[i]);
}

/* IM09: nothing but the one spelling of the one algorithm. Sizes as well. */
static void hostile_descriptors(void **state)
{
	(void)state;
	static const char *const digests[] = {
		"\"sha256:../../x\"",
		"\"sha256:" HEX "/../x\"",
		"\"SHA256:" HEX "\"",
		"\"sha256:0123456789ABCDEF0123456789abcdef0123456789abcdef0123456789abcdef\"",
		"\"sha512:" HEX HEX "\"",
		"\"sha256+b64u:" HEX "\"",
		"\"md5:0123\"",
		"\"" HEX "\"",
		"\"sha256:\"",
		"\"sha256:" HEX "0\"",
		"\" sha256:" HEX "\"",
		"\"sha256:" HEX "\\n\"",
		"\"\"",
		"null",
		"7",
		"[\"sha256:" HEX "\"]",
	};
	static const char *const sizes[] = {
		"-1",	"9.5", "9.0", "1e3", "\"9\"", "null", "true", "9223372036854775808",
		"-0.0", "[9]",
	};
	char text[1024];
	for (size_t i = 0; i < LENGTH(digests); i++) {
		snprintf(text, sizeof(text),
			 "{" V2 CONFIG ",\"layers\":[{\"mediaType\":\"" OCI
			 "layer.v1.tar\",\"size\":1,\"digest\":%s}]}",
			 digests[i]);
		refuse_manifest(text);
	}
	for (size_t i = 0; i < LENGTH(sizes); i++) {
		snprintf(text, sizeof(text),
			 "{" V2 CONFIG ",\"layers\":[{\"mediaType\":\"" OCI "layer.v1.tar\"," DIGEST
			 ",\"size\":%s}]}",
			 sizes[i]);
		refuse_manifest(text);
	}
	/* each fits, their sum does not */
	refuse_manifest("{" V2 CONFIG ",\"layers\":[" LAYER ",{\"mediaType\":\"" OCI
			"layer.v1.tar\"," DIGEST ",\"size\":9223372036854775807}]}");
}

static void bounds(void **state)
{
	(void)state;
	autoarena a = ARENA_INIT;
	struct err e = ERR_INIT;
	struct manifest m;
	struct index x;
	char *text = repeated("{" V2 CONFIG ",\"layers\":[", LAYER ",", LAYERS_MAX - 1, LAYER "]}");
	assert_int_equal(manifest_read(&m, MEDIA_UNKNOWN, bytes(text), &a, &e), 0);
	assert_int_equal(m.layers_len, LAYERS_MAX);
	free(text);
	text = repeated("{" V2 CONFIG ",\"layers\":[", LAYER ",", LAYERS_MAX, LAYER "]}");
	refuse_manifest(text);
	free(text);
	text = repeated("{" V2 "\"manifests\":[", ENTRY("") ",", INDEX_ENTRIES_MAX, ENTRY("") "]}");
	assert_int_equal(index_read(&x, MEDIA_UNKNOWN, bytes(text), &a, &e), -1);
	free(text);
	/* depth: 32 with the document itself */
	for (size_t over = 0; over < 2; over++) {
		char *open = repeated("{" V2 CONFIG "," LAYERS ",\"a\":", "[", 31 + over, "");
		text = repeated(open, "]", 31 + over, "}");
		assert_int_equal(manifest_read(&m, MEDIA_UNKNOWN, bytes(text), &a, &e),
				 over ? -1 : 0);
		free(open);
		free(text);
	}
	text = repeated("", "[", 3 << 20, "");
	refuse_manifest(text);
	free(text);
	text = repeated("", "{\"a\":", 100000, "");
	refuse_manifest(text);
	free(text);
	/* a small text that would be a large tree */
	text = repeated("{" V2 CONFIG "," LAYERS ",\"a\":[", "0,", 1 << 20, "0]}");
	refuse_manifest(text);
	free(text);
	/* 4 MiB, and one more */
	size_t len = strlen("{" V2 CONFIG "," LAYERS "}");
	text = repeated("{" V2 CONFIG "," LAYERS "}", " ", JSON_BYTES_MAX - len, "");
	assert_int_equal(manifest_read(&m, MEDIA_UNKNOWN, bytes(text), &a, &e), 0);
	free(text);
	text = repeated("{" V2 CONFIG "," LAYERS "}", " ", JSON_BYTES_MAX - len + 1, "");
	refuse_manifest(text);
	free(text);
}

/* ---- indexes ---- */

#define PLATFORM(os, arch) ",\"platform\":{\"os\":\"" os "\",\"architecture\":\"" arch "\"}"
#define VARIANT(os, arch, variant) \
	",\"platform\":{\"os\":\"" os "\",\"architecture\":\"" arch "\",\"variant\":\"" variant "\"}"
#define NAMED(name) ",\"annotations\":{\"org.opencontainers.image.ref.name\":\"" name "\"}"

/* Entries tell each other apart by their size here. */
#define SIZED(size, more) \
	"{\"mediaType\":\"" OCI "manifest.v1+json\"," DIGEST ",\"size\":" size more "}"
#define NESTED(more) "{\"mediaType\":\"" OCI "index.v1+json\"," DIGEST ",\"size\":99" more "}"

/* The size of the entry that is chosen, -1 if none is. */
static int choose(const char *entries, struct platform p, const char *name, struct err *e)
{
	autoarena a = ARENA_INIT;
	struct index x;
	struct descriptor chosen;
	char *text = arena_printf(&a, "{" V2 "\"manifests\":[%s]}", entries);
	if (index_read(&x, MEDIA_UNKNOWN, bytes(text), &a, e) < 0)
		fail_msg("%s: %s", text, e->msg);
	return index_choose(&x, &p, name, &chosen, e) < 0 ? -1 : (int)chosen.size;
}

static void platforms(void **state)
{
	(void)state;
	static const struct platform amd64 = {"linux", "amd64", NULL},
				     arm64 = {"linux", "arm64", NULL}, v6 = {"linux", "arm", "v6"},
				     v8 = {"linux", "arm64", "v8"};
	static const struct {
		const char *entries;
		const struct platform *wanted;
		const char *name;
		int chosen;
	} rows[] = {
		{SIZED("1", PLATFORM("linux", "arm64")) "," SIZED("2", PLATFORM("linux", "amd64")),
		 &amd64, NULL, 2},
		{SIZED("1", PLATFORM("windows", "amd64")) "," SIZED("2", PLATFORM("linux", "amd64")),
		 &amd64, NULL, 2},
		{SIZED("1", PLATFORM("linux", "arm64")), &amd64, NULL, -1},
		{"", &amd64, NULL, -1},
		{SIZED("1", VARIANT("linux", "amd64", "v3")) "," SIZED("2",
								       PLATFORM("linux", "amd64")),
		 &amd64, NULL, 2},
		{SIZED("1", VARIANT("linux", "arm", "v7")) "," SIZED("2",
								     VARIANT("linux", "arm", "v6")),
		 &v6, NULL, 2},
		{SIZED("1", VARIANT("linux", "arm", "v7")), &v6, NULL, -1},
		{SIZED("1", VARIANT("linux", "arm64", "v8")), &arm64, NULL, 1},
		{SIZED("1", PLATFORM("linux", "arm64")), &v8, NULL, 1},
		/* attestations: another platform, no image */
		{SIZED("1", PLATFORM("unknown", "unknown")) "," SIZED("2", PLATFORM("linux", "amd64")),
		 &amd64, NULL, 2},
		/* layouts name no platform */
		{SIZED("1", NAMED("a")), &amd64, NULL, 1},
		{SIZED("1", NAMED("a")) "," SIZED("2", NAMED("b")), &amd64, NULL, -1},
		{SIZED("1", NAMED("a")) "," SIZED("2", NAMED("b")), &amd64, "b", 2},
		{SIZED("1", NAMED("a")), &amd64, "c", -1},
		/* IM10: an index within, which may come back to itself by its name */
		{NESTED(""), &amd64, NULL, -1},
		{NESTED(PLATFORM("linux", "amd64")), &amd64, NULL, -1},
		{NESTED("") "," SIZED("2", PLATFORM("linux", "amd64")), &amd64, NULL, 2},
		/* neither */
		{"{\"mediaType\":\"text/plain\"," DIGEST ",\"size\":1}", &amd64, NULL, -1},
	};
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct err e = ERR_INIT;
		int got = choose(rows[i].entries, *rows[i].wanted, rows[i].name, &e);
		if (got != rows[i].chosen)
			fail_msg("row %zu: %d: %s", i, got, e.msg);
	}
	struct err e = ERR_INIT;
	assert_int_equal(choose(NESTED(""), amd64, NULL, &e), -1);
	assert_non_null(strstr(e.msg, "index within"));
}

static void hostile_indexes(void **state)
{
	(void)state;
	static const char *const rows[] = {
		"{" V2 "}",
		"{" V2 "\"manifests\":{}}",
		"{" V2 "\"manifests\":[7]}",
		"{" V2 "\"manifests\":[" ENTRY("") "]," CONFIG "}",
		"{" V2 "\"manifests\":[" ENTRY("") "]," LAYERS "}",
		"{" V2 "\"manifests\":[" ENTRY("") "],\"Manifests\":[]}",
		"{" V2 "\"manifests\":[" ENTRY("") "],\"manifests\":[]}",
		"{" V2 "\"manifests\":[" ENTRY("") "],\"mediaType\":\"" OCI "manifest.v1+json\"}",
		"{" V2 "\"manifests\":[" ENTRY(",\"platform\":[]") "]}",
		"{" V2 "\"manifests\":[" ENTRY(",\"platform\":{\"os\":7}") "]}",
		"{" V2 "\"manifests\":[" ENTRY(",\"platform\":{\"os\":\"linux\",\"OS\":\"x\"}") "]}",
		"{" V2 "\"manifests\":[" ENTRY(",\"size\":5") "]}",
		"{" V2 "\"manifests\":[{\"mediaType\":\"" OCI
		"manifest.v1+json\",\"digest\":\"sha256:../../x\",\"size\":5}]}",
	};
	for (size_t i = 0; i < LENGTH(rows); i++)
		refuse_index(rows[i]);
}

static void roles(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		enum media_type said;
		enum media_role role; /* ROLE_NONE: refused */
	} rows[] = {
		{"{}", MEDIA_UNKNOWN, ROLE_MANIFEST},
		{"{\"manifests\":[]}", MEDIA_UNKNOWN, ROLE_INDEX},
		{"{\"mediaType\":\"" OCI "index.v1+json\"}", MEDIA_UNKNOWN, ROLE_INDEX},
		{"{}", MEDIA_DOCKER_INDEX, ROLE_INDEX},
		{"{\"manifests\":[]}", MEDIA_OCI_MANIFEST, ROLE_MANIFEST},
		{"{}", MEDIA_OCI_TAR, ROLE_NONE},
		{"{\"mediaType\":\"text/html\"}", MEDIA_UNKNOWN, ROLE_NONE},
		{"<html>", MEDIA_UNKNOWN, ROLE_NONE},
	};
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct err e = ERR_INIT;
		enum media_role role = ROLE_NONE;
		manifest_role(rows[i].said, bytes(rows[i].text), &role, &e);
		assert_int_equal(role, rows[i].role);
	}
}

static void media_types(void **state)
{
	(void)state;
	for (enum media_type type = MEDIA_UNKNOWN + 1; type < MEDIA_TYPE_COUNT; type++)
		assert_int_equal(media_type_parse(media_type_text(type)), type);
	assert_int_equal(media_type_parse(OCI "index.v1+json; charset=utf-8"), MEDIA_OCI_INDEX);
	assert_int_equal(media_type_parse(OCI "index.v1+jsonx"), MEDIA_UNKNOWN);
	assert_int_equal(media_type_parse(OCI "index.v1"), MEDIA_UNKNOWN);
	assert_int_equal(media_type_parse(""), MEDIA_UNKNOWN);
}

static void platform_words(void **state)
{
	(void)state;
	autoarena a = ARENA_INIT;
	struct err e = ERR_INIT;
	struct platform p;
	assert_int_equal(platform_parse(&p, "linux/arm/v7", &a, &e), 0);
	assert_string_equal(p.variant, "v7");
	assert_int_equal(platform_parse(&p, "linux/amd64", &a, &e), 0);
	assert_null(p.variant);
	static const char *const rows[] = {"",	   "linux",   "linux/", "/amd64",
					   "a/b/", "a/b/c/d", "A/b",	"a /b"};
	for (size_t i = 0; i < LENGTH(rows); i++)
		must_refuse(platform_parse(&p, rows[i], &a, &e), &e, rows[i]);
	assert_string_equal(platform_host().os, "linux");
}

/* ---- configs ---- */

#define HEAD	     "\"os\":\"linux\",\"architecture\":\"amd64\","
#define ROOTFS	     "\"rootfs\":{\"type\":\"layers\",\"diff_ids\":[\"sha256:" HEX "\"]}"
#define RUN(members) "{" HEAD "\"config\":{" members "}," ROOTFS "}"

static void config(void **state)
{
	(void)state;
	autoarena a = ARENA_INIT;
	struct err e = ERR_INIT;
	struct image_config c;
	const char *text = RUN(
		"\"Env\":[\"PATH=/bin\",\"E=\"],\"Entrypoint\":[\"/e\"],\"Cmd\":[\"a\",\"\"],"
		"\"WorkingDir\":\"/srv/x\",\"User\":\"web:33\",\"Volumes\":{\"/v\":{}}");
	assert_int_equal(config_read(&c, bytes(text), &a, &e), 0);
	assert_string_equal(c.os, "linux");
	assert_string_equal(c.architecture, "amd64");
	assert_int_equal(c.env.len, 2);
	assert_string_equal(c.env.list[1], "E=");
	assert_null(c.env.list[2]);
	assert_string_equal(c.entrypoint.list[0], "/e");
	assert_int_equal(c.cmd.len, 2);
	assert_string_equal(c.workdir, "/srv/x");
	assert_string_equal(c.user, "web:33");
	assert_int_equal(c.diff_ids_len, 1);
	/* nothing is set, and null is nothing */
	assert_int_equal(config_read(&c, bytes("{" HEAD ROOTFS "}"), &a, &e), 0);
	assert_null(c.cmd.list);
	text = RUN("\"Env\":null,\"Entrypoint\":null,\"Cmd\":null,\"WorkingDir\":\"\",\"User\":\"\"");
	assert_int_equal(config_read(&c, bytes(text), &a, &e), 0);
	assert_null(c.entrypoint.list);
	assert_null(c.workdir);
	assert_null(c.user);
	struct manifest m = {.layers_len = 1};
	assert_int_equal(config_fits(&c, &m, &e), 0);
	m.layers_len = 2;
	assert_int_equal(config_fits(&c, &m, &e), -1);
}

static void workdirs(void **state)
{
	(void)state;
	static const char *const rows[][2] = {
		{"/", "/"},
		{"//", "/"},
		{"/a/b/", "/a/b"},
		{"a", "/a"},
		{"/a/../b", "/b"},
		{"/../../etc", "/etc"},
		{"..", "/"},
		{"/a/./b//c", "/a/b/c"},
		{"/a/b/../..", "/"},
		{"/..a/.b", "/..a/.b"},
		{"/a/.../b", "/a/.../b"},
	};
	for (size_t i = 0; i < LENGTH(rows); i++) {
		autoarena a = ARENA_INIT;
		struct err e = ERR_INIT;
		struct image_config c;
		char *text = arena_printf(&a, RUN("\"WorkingDir\":\"%s\""), rows[i][0]);
		assert_int_equal(config_read(&c, bytes(text), &a, &e), 0);
		assert_string_equal(c.workdir, rows[i][1]);
	}
}

/* IM17 */
static void hostile_configs(void **state)
{
	(void)state;
	static const char *const rows[] = {
		"{}",
		"{\"os\":\"linux\"," ROOTFS "}",
		"{\"architecture\":\"amd64\"," ROOTFS "}",
		"{" HEAD "\"x\":1}",
		"{\"os\":\"li\\nnux\",\"architecture\":\"amd64\"," ROOTFS "}",
		"{\"os\":\"../x\",\"architecture\":\"amd64\"," ROOTFS "}",
		"{" HEAD "\"rootfs\":{\"type\":\"layers\",\"diff_ids\":[\"sha256:../../x\"]}}",
		"{" HEAD "\"rootfs\":{\"type\":\"layers\",\"diff_ids\":[\"sha512:" HEX HEX "\"]}}",
		"{" HEAD "\"rootfs\":{\"type\":\"layers\",\"diff_ids\":[7]}}",
		"{" HEAD "\"rootfs\":{\"type\":\"files\",\"diff_ids\":[]}}",
		"{" HEAD "\"rootfs\":{\"diff_ids\":[]}}",
		"{" HEAD "\"rootfs\":[]}",
		"{" HEAD "\"config\":[]," ROOTFS "}",
		"{" HEAD "\"config\":{},\"Config\":{}," ROOTFS "}",
		RUN("\"Env\":[\"A=\\u0000\"]"),
		RUN("\"Env\":[\"A\"]"),
		RUN("\"Env\":[\"=A\"]"),
		RUN("\"Env\":[\"\"]"),
		RUN("\"Env\":[7]"),
		RUN("\"Env\":\"A=b\""),
		RUN("\"Env\":{\"A\":\"b\"}"),
		RUN("\"Env\":[],\"env\":[\"A=b\"]"),
		RUN("\"Cmd\":\"/bin/sh\""),
		RUN("\"Cmd\":[null]"),
		RUN("\"Cmd\":[[\"a\"]]"),
		RUN("\"Cmd\":[\"a\\u0000b\"]"),
		RUN("\"Entrypoint\":\"/bin/sh\""),
		RUN("\"Entrypoint\":[\"a\"],\"Entrypoint\":[\"b\"]"),
		RUN("\"WorkingDir\":7"),
		RUN("\"WorkingDir\":\"/a\\u0000b\""),
		RUN("\"User\":7"),
		RUN("\"User\":\"a\\u0000b\""),
		RUN("\"User\":\"a:b:c\""),
		RUN("\"User\":\"root\\nx:0:0\""),
		RUN("\"User\":\"../../x\""),
		RUN("\"User\":\"a b\""),
	};
	for (size_t i = 0; i < LENGTH(rows); i++)
		refuse_config(rows[i]);
}

static void huge_configs(void **state)
{
	(void)state;
	static const struct {
		const char *front, *unit;
		size_t count;
		const char *back;
	} rows[] = {
		{"{" HEAD ROOTFS ",\"config\":{\"Env\":[", "\"A=b\",", 1000000, "\"A=b\"]}}"},
		{"{" HEAD ROOTFS ",\"config\":{\"Env\":[", "\"A=b\",", JSON_TEXTS_MAX, "\"A=b\"]}}"},
		{"{" HEAD ROOTFS ",\"config\":{\"Cmd\":[", "\"\",", JSON_TEXTS_MAX, "\"\"]}}"},
		{"{" HEAD ROOTFS ",\"config\":{\"Cmd\":[\"", "a", IMAGE_TEXT_MAX + 1, "\"]}}"},
		{"{" HEAD ROOTFS ",\"config\":{\"Env\":[\"A=", "a", IMAGE_TEXT_MAX - 1, "\"]}}"},
		{"{" HEAD ROOTFS ",\"config\":{\"WorkingDir\":\"", "/a", 2048, "\"}}"},
		{"{" HEAD ROOTFS ",\"config\":{\"User\":\"", "a", 257, "\"}}"},
		{"{" HEAD "\"rootfs\":{\"type\":\"layers\",\"diff_ids\":[", "\"sha256:" HEX "\",",
		 LAYERS_MAX, "\"sha256:" HEX "\"]}}"},
	};
	for (size_t i = 0; i < LENGTH(rows); i++) {
		char *text = repeated(rows[i].front, rows[i].unit, rows[i].count, rows[i].back);
		refuse_config(text);
		free(text);
	}
	/* the most of each */
	autoarena a = ARENA_INIT;
	struct err e = ERR_INIT;
	struct image_config c;
	char *text = repeated(rows[1].front, rows[1].unit, JSON_TEXTS_MAX - 1, rows[1].back);
	assert_int_equal(config_read(&c, bytes(text), &a, &e), 0);
	assert_int_equal(c.env.len, JSON_TEXTS_MAX);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(oci_manifest),
		cmocka_unit_test(docker_manifest),
		cmocka_unit_test(hostile_manifests),
		cmocka_unit_test(hostile_descriptors),
		cmocka_unit_test(bounds),
		cmocka_unit_test(platforms),
		cmocka_unit_test(hostile_indexes),
		cmocka_unit_test(roles),
		cmocka_unit_test(media_types),
		cmocka_unit_test(platform_words),
		cmocka_unit_test(config),
		cmocka_unit_test(workdirs),
		cmocka_unit_test(hostile_configs),
		cmocka_unit_test(huge_configs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

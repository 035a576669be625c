/* pinfold image inspect. */
#include "commands/image.h"

#include "base/fd.h"
#include "commands/commands.h"
#include "rootfs/image/json.h"
#include "runtime/jail.h"
#include "rootfs/stored.h"
#include "spec/image.h"
#include "spec/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- the config as it came: read in a jail, printed as ASCII ---- */

enum { DUMP_MAX = 8 << 20 };

struct dump {
	int config;
	uint32_t len;
	char text[DUMP_MAX];
};

static int keep_text(const char *text, size_t len, void *arg)
{
	struct dump *d = arg;
	if (len > sizeof(d->text) - d->len)
		return -1;
	memcpy(d->text + d->len, text, len);
	d->len += (uint32_t)len;
	return 0;
}

static int dump_config(int root, void *arg, struct err *e)
{
	struct dump *d = arg;
	struct stat st;
	(void)root;
	if (fstat(d->config, &st) < 0 || st.st_size > JSON_BYTES_MAX)
		return err_usage(e, "the config is larger than 4 MiB");
	char *text = malloc((size_t)st.st_size + 1);
	if (!text || pread(d->config, text, (size_t)st.st_size, 0) != st.st_size)
		return err_sys(e, "read the config");
	autojson *config = json_read("config", (struct json_bytes){text, (size_t)st.st_size}, e);
	if (!config)
		return -1;
	return json_dump_callback(config, keep_text, d, JSON_INDENT(2) | JSON_ENSURE_ASCII) == 0
		       ? 0
		       : err_usage(e, "the config is too large to be shown");
}

/* The child may be anybody's by now: what could drive a terminal is no JSON of ours. */
static int check_ascii(const struct dump *d, struct err *e)
{
	for (uint32_t i = 0; i < d->len && i < DUMP_MAX; i++)
		if (d->text[i] != '\n' && (d->text[i] < 0x20 || d->text[i] == 0x7f))
			return err_bug(e, "the jail says what is no JSON");
	return d->len > 0 && d->len <= DUMP_MAX ? 0 : err_bug(e, "the jail says nothing");
}

static int read_config(struct image_call *c, const struct stored_name *n, struct dump *d,
		       struct err *e)
{
	autowork w = WORK_INIT;
	autoclose int fd = store_open_blob(&c->store, &n->id, e);
	if (fd < 0 || work_open(&w, &c->store, e) < 0)
		return -1;
	d->config = fd;
	const struct jail jail = {.root = w.dir,
				  .fds = &fd,
				  .fds_len = 1,
				  .run = dump_config,
				  .arg = d,
				  .report = d,
				  .report_len = sizeof(*d)};
	return jail_run(&jail, e) < 0 ? -1 : check_ascii(d, e);
}

/* ---- both forms ---- */

static void json_descriptor(struct json_writer *w, const char *key, const struct descriptor *d)
{
	json_begin(w, key, '{');
	json_text(w, "digest", d->digest.text);
	json_number(w, "size", (int64_t)d->size);
	json_text(w, "media_type", media_type_text(d->type));
	json_end(w, '{');
}

/* The last member is put in as it stands. */
static int print_json(const struct stored_name *n, const struct dump *d, struct err *e)
{
	struct json_writer w;
	json_open(&w, true);
	json_begin(&w, NULL, '{');
	json_text(&w, "name", n->name);
	json_text(&w, "id", n->id.text);
	json_descriptor(&w, "manifest", &n->document);
	json_begin(&w, "layers", '[');
	for (size_t i = 0; i < n->manifest.layers_len; i++)
		json_descriptor(&w, NULL, &n->manifest.layers[i]);
	json_end(&w, '[');
	json_number(&w, "bytes", (int64_t)n->bytes);
	json_number(&w, "entries", (int64_t)n->entries);
	json_number(&w, "created", n->created);
	json_end(&w, '{');
	char *text = json_finish(&w, false);
	if (!text)
		return err_host(e, "out of memory");
	text[strlen(text) - 2] = '\0'; /* "\n}" */
	printf("%s,\n  \"config\": %.*s\n}\n", text, (int)d->len, d->text);
	free(text);
	return 0;
}

static void print_field(const char *title, const char *text)
{
	printf("%-12s ", title);
	print_text(text);
	printf("\n");
}

static void print_words(const char *title, const char *const *words)
{
	for (; *words; words++) {
		print_field(title, *words);
		title = "";
	}
}

static int print_facts(struct image_call *c, const struct stored_name *n, struct err *e)
{
	struct image_facts f;
	autoclose int tree = store_open_tree(&c->store, &n->id, e);
	char *text = arena_alloc(c->arena, IMAGE_FACTS_BYTES_MAX);
	if (tree < 0)
		return -1;
	const ssize_t len = stored_read_file(tree, "image.json", text, IMAGE_FACTS_BYTES_MAX, e);
	if (len < 0 || image_facts_read(&f, text, (size_t)len, c->arena, e) < 0)
		return -1;
	print_words("env", f.env);
	print_field("workdir", f.workdir);
	print_words("entrypoint", f.entrypoint);
	print_words("cmd", f.cmd);
	print_field("user", f.user);
	return 0;
}

static void print_blob(const char *title, const struct descriptor *d)
{
	char size[32];
	printf("%-12s %s  %9s  %s\n", title, d->digest.text, image_size(d->size, size),
	       media_type_text(d->type));
}

static int print_people(struct image_call *c, const struct stored_name *n, struct err *e)
{
	char size[32], when[32] = "";
	const time_t created = (time_t)n->created;
	struct tm tm;
	if (gmtime_r(&created, &tm))
		strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S UTC", &tm);
	print_field("name", n->name);
	print_field("id", n->id.text);
	print_blob("manifest", &n->document);
	for (size_t i = 0; i < n->manifest.layers_len; i++)
		print_blob(i == 0 ? "layers" : "", &n->manifest.layers[i]);
	printf("%-12s %s in %" PRIu64 " paths\n", "unpacked", image_size(n->bytes, size), n->entries);
	print_field("stored", when);
	return print_facts(c, n, e);
}

int image_inspect(struct image_call *c, struct err *e)
{
	bool json = false;
	struct stored_name n;
	const struct verb_option rows[] = {{"json", NULL, &json,
					    "as one JSON document, with the config as it came"},
					   {NULL}};
	const int done = image_options(c, rows, (struct word_count){1, 1}, e);
	if (done != 0)
		return done < 0 ? -1 : 0;
	if (store_share(&c->store, e) < 0)
		return -1;
	if (image_find(c, c->argv[0], &n, e) < 0)
		return -1;
	if (!json)
		return print_people(c, &n, e);
	struct dump *d = calloc(1, sizeof(*d));
	if (!d)
		return err_host(e, "out of memory");
	const int rc = read_config(c, &n, d, e) < 0 ? -1 : print_json(&n, d, e);
	free(d);
	return rc;
}

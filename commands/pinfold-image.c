/* pinfold-image: images come in, are looked at, and go. Executed by `pinfold image`.
 *
 * A program of its own for the sake of what it links. Nothing that an image's maker or a registry
 * wrote is parsed in this process: registries are spoken with, documents, archives, layers and trees
 * read in jails (runtime/jail.h). It starts no shell, and one program: mmdebstrap, for build-debian.
 */
#include "commands/commands.h"
#include "commands/image.h"
#include "commands/images.h"
#include "rootfs/stored.h"
#include "spec/keys.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct image_verb verbs[] = {
	{"pull", image_pull, "[OPTION...] HOST[:PORT]/NAME[:TAG|@DIGEST]",
	 "take an image out of a registry",
	 "Credentials come from $REGISTRY_AUTH_FILE, else $DOCKER_CONFIG/config.json or ~/.docker/config.json.\n"
	 "A pull that was ended goes on where it stopped.\n"},
	{"load", image_load, "[OPTION...] FILE|FOLDER|-",
	 "take an image out of a layout, a docker-archive or a tar",
	 "Takes an OCI layout (a folder or a tar of it), what `docker save` writes, or a tar of a tree\n"
	 "in any compression that libarchive knows; - is stdin.\n"},
	{"import", image_import, "[OPTION...] FOLDER NAME[:TAG]", "make an image of a folder",
	 "Takes the tree as it is, with its owners; as an ordinary user your own files become root's.\n"},
	{"build-debian", image_build_debian, "[OPTION...] NAME[:TAG]",
	 "make a Debian image with mmdebstrap",
	 "Packages are fetched and installed, which takes a minute or two; what it is at is told on stderr.\n"},
	{"list", image_list, "[--json|--names]", "list what is stored", NULL, true},
	{"inspect", image_inspect, "[--json] NAME", "tell all about an image", NULL},
	{"tag", image_tag, "NAME NEW-NAME", "give an image one more name", NULL},
	{"remove", image_remove, "NAME...", "remove names, and trees that have none any more",
	 "A tree that a run holds is not removed. Blobs stay until `pinfold image gc`.\n"},
	{"gc", image_gc, "[--json]", "remove what no name leads to, and what killed work left", NULL},
	{"verify", image_verify, "[--json] NAME...", "hold blobs and tree against their digests",
	 "Exits with 1 if something differs.\n"},
	{"export", image_export, "[OPTION...] NAME",
	 "write an image's tree, or the image, as a tar", NULL},
};

static void print_usage(void)
{
	printf("Usage: pinfold image VERB [ARGUMENT...]\n\n");
	for (size_t i = 0; i < sizeof(verbs) / sizeof(*verbs); i++)
		printf("  %-13s %s\n", verbs[i].name, verbs[i].help);
	printf("\n`pinfold image VERB --help` tells more. A stored image runs by its name:\n"
	       "  pinfold run NAME [COMMAND...]\n");
}

static const struct image_verb *find_verb(const char *name)
{
	for (size_t i = 0; i < sizeof(verbs) / sizeof(*verbs); i++)
		if (strcmp(verbs[i].name, name) == 0)
			return &verbs[i];
	return NULL;
}

static void complain_verb(const char *name)
{
	unsigned int distance = WORD_NEAR;
	const char *near = NULL;
	for (size_t i = 0; i < sizeof(verbs) / sizeof(*verbs); i++)
		if (word_is_near(name, verbs[i].name, &distance))
			near = verbs[i].name;
	if (near)
		complain("image: %s: no such verb; did you mean %s?", name, near);
	else
		complain("image: %s: no such verb; `pinfold image --help` lists them", name);
}

static void print_verb(const char *name, const struct image_option *rows)
{
	const struct image_verb *v = find_verb(name);
	printf("Usage: pinfold image %s %s\n\n%c%s.\n", v->name, v->usage, v->help[0] - 'a' + 'A',
	       v->help + 1);
	if (v->more)
		printf("%s", v->more);
	printf("\n");
	for (; rows->name; rows++) {
		const char *rest = strstr(rows->help, "  ");
		const int len = rows->text && rest ? (int)(rest - rows->help) : 0;
		char word[64];
		snprintf(word, sizeof(word), "--%s%s%.*s", rows->name, len ? " " : "", len,
			 rows->help);
		printf("  %-26s %s\n", word, len ? rest + 2 : rows->help);
	}
}

static const struct image_option *find_option(const struct image_option *rows, const char *name,
					      size_t len)
{
	for (; rows->name; rows++)
		if (strlen(rows->name) == len && memcmp(rows->name, name, len) == 0)
			return rows;
	return NULL;
}

/* argv[*at] is an option: take it and its value. */
static int take_option(const struct image_call *c, const struct image_option *rows, int *at,
		       struct err *e)
{
	const char *word = c->argv[*at] + 2;
	const size_t len = strcspn(word, "=");
	const struct image_option *row = find_option(rows, word, len);
	if (!row)
		return err_usage(e, "unknown option --%.40s; `pinfold image %s --help` lists them",
				 word, c->verb);
	if (!row->text && word[len])
		return err_usage(e, "--%s takes no value", row->name);
	if (!row->text) {
		*row->flag = true;
		return 0;
	}
	if (!word[len] && *at + 1 == c->argc)
		return err_usage(e, "--%s: a value is missing", row->name);
	*row->text = word[len] ? word + len + 1 : c->argv[++*at];
	return 0;
}

static bool is_help(const char *word)
{
	return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

int image_find(struct image_call *c, const char *name, struct stored_name *n, struct err *e)
{
	const int got = store_get_name(&c->store, name, n, c->arena, e);
	if (got == 0)
		return err_usage(e, "there is no stored image %.100s", name);
	return got < 0 ? -1 : 0;
}

int image_print(char *text, struct err *e)
{
	if (!text)
		return err_host(e, "out of memory");
	fputs(text, stdout);
	free(text);
	return 0;
}

int image_options(struct image_call *c, const struct image_option *rows, struct image_words words,
		  struct err *e)
{
	int rest = 0;
	bool options = true;
	for (int at = 0; at < c->argc; at++) {
		const char *word = c->argv[at];
		if (options && is_help(word)) {
			print_verb(c->verb, rows);
			return 1;
		}
		if (options && strcmp(word, "--") == 0) {
			options = false;
		} else if (options && strncmp(word, "--", 2) == 0) {
			if (take_option(c, rows, &at, e) < 0)
				return -1;
		} else if (options && word[0] == '-' && word[1]) {
			return err_usage(e, "unknown option %.40s", word);
		} else {
			c->argv[rest++] = c->argv[at];
		}
	}
	c->argc = rest;
	if (rest < words.least)
		return err_usage(e, "a word is missing; usage: pinfold image %s %s", c->verb,
				 find_verb(c->verb)->usage);
	if (words.most >= 0 && rest > words.most)
		return err_usage(e, "unexpected \"%.60s\"; usage: pinfold image %s %s",
				 c->argv[words.most], c->verb, find_verb(c->verb)->usage);
	return 0;
}

void image_warn(const struct err *what)
{
	complain("warning: %s", what->msg);
}

static int open_store(struct image_call *c, const char *place, bool looks, struct err *e)
{
	struct stat st;
	if (place[0] == '/' && stored_is_shut(place, e))
		return -1;
	if (looks && place[0] == '/' && stat(place, &st) < 0 && errno == ENOENT)
		return 0;
	return store_open(&c->store, place, e);
}

static int run_verb(const struct image_verb *v, int argc, char **argv, struct err *e)
{
	autoarena arena = ARENA_INIT;
	struct image_call c = {.verb = v->name,
			       .argc = argc,
			       .argv = argv,
			       .arena = &arena,
			       .store = STORE_INIT};
	const char *place = images_store(&arena);
	if (!place)
		return err_usage(e, "neither XDG_DATA_HOME nor HOME says where the store is; "
				    "PINFOLD_STORE may");
	if (!(argc > 0 && is_help(argv[0])) && open_store(&c, place, v->looks, e) < 0)
		return -1;
	const int code = v->run(&c, e);
	store_close(&c.store);
	return code;
}

/* A layout or an image of many layers is as many open files. */
static void raise_file_limit(void)
{
	struct rlimit l;
	if (getrlimit(RLIMIT_NOFILE, &l) == 0) {
		l.rlim_cur = l.rlim_max;
		setrlimit(RLIMIT_NOFILE, &l);
	}
}

int main(int argc, char **argv)
{
	struct err e = ERR_INIT;
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	umask(022);
	raise_file_limit();
	if (argc < 2 || is_help(argv[1])) {
		print_usage();
		return finish_printing(argc < 2 ? EXIT_REFUSED : 0);
	}
	const struct image_verb *v = find_verb(argv[1]);
	if (!v) {
		complain_verb(argv[1]);
		return EXIT_REFUSED;
	}
	int code = run_verb(v, argc - 2, argv + 2, &e);
	if (code < 0)
		complain("image %s: %s", v->name, e.msg);
	return finish_printing(code);
}

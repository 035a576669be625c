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
	{{"pull", "[OPTION...] HOST[:PORT]/NAME[:TAG|@DIGEST]", "take an image out of a registry",
	  "Credentials come from $REGISTRY_AUTH_FILE, else $DOCKER_CONFIG/config.json or ~/.docker/config.json.\n"
	  "A pull that was ended goes on where it stopped.\n"},
	 image_pull},
	{{"load", "[OPTION...] FILE|FOLDER|-",
	  "take an image out of a layout, a docker-archive or a tar",
	  "Takes an OCI layout (a folder or a tar of it), what `docker save` writes, or a tar of a tree\n"
	  "in any compression that libarchive knows; - is stdin.\n"},
	 image_load},
	{{"import", "[OPTION...] FOLDER NAME[:TAG]", "make an image of a folder",
	  "Takes the tree as it is, with its owners; as an ordinary user your own files become root's.\n"},
	 image_import},
	{{"build-debian", "[OPTION...] NAME[:TAG]", "make a Debian image with mmdebstrap",
	  "Packages are fetched and installed, which takes a minute or two; what it is at is told on stderr.\n"},
	 image_build_debian},
	{{"list", "[--json|--names]", "list what is stored"}, image_list, .looks = true},
	{{"inspect", "[--json] NAME", "tell all about an image"}, image_inspect},
	{{"tag", "NAME NEW-NAME", "give an image one more name"}, image_tag},
	{{"remove", "NAME...", "remove names, and trees that have none any more",
	  "A tree that a run holds is not removed. Blobs stay until `pinfold image gc`.\n"},
	 image_remove},
	{{"gc", "[--json]", "remove what no name leads to, and what killed work left"}, image_gc},
	{{"verify", "[--json] NAME...", "hold blobs and tree against their digests",
	  "Exits with 1 if something differs.\n"},
	 image_verify},
	{{"export", "[OPTION...] NAME", "write an image's tree, or the image, as a tar"},
	 image_export},
};

static void print_usage(void)
{
	printf("Usage: pinfold image VERB [ARGUMENT...]\n\n");
	for (size_t i = 0; i < sizeof(verbs) / sizeof(*verbs); i++)
		printf("  %-13s %s\n", verbs[i].manual.name, verbs[i].manual.help);
	printf("\n`pinfold image VERB --help` tells more. A stored image runs by its name:\n"
	       "  pinfold run NAME [COMMAND...]\n");
}

static const struct image_verb *find_verb(const char *name)
{
	for (size_t i = 0; i < sizeof(verbs) / sizeof(*verbs); i++)
		if (strcmp(verbs[i].manual.name, name) == 0)
			return &verbs[i];
	return NULL;
}

static const struct verb_manual *manual_of(size_t i)
{
	return i < sizeof(verbs) / sizeof(*verbs) ? &verbs[i].manual : NULL;
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

int image_options(struct image_call *c, const struct verb_option *rows, struct word_count count,
		  struct err *e)
{
	struct verb_words words = {.argc = c->argc, .argv = c->argv};
	const int done = options_take(&words, rows, &c->manual, count, e);
	c->argc = words.argc;
	return done;
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
	struct image_call c = {.manual = v->manual,
			       .argc = argc,
			       .argv = argv,
			       .arena = &arena,
			       .store = STORE_INIT};
	c.manual.name = arena_printf(&arena, "image %s", v->manual.name);
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
		verb_unknown("image", argv[1], manual_of);
		return EXIT_REFUSED;
	}
	int code = run_verb(v, argc - 2, argv + 2, &e);
	if (code < 0)
		complain("image %s: %s", v->manual.name, e.msg);
	return finish_printing(code);
}

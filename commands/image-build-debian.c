/* pinfold image build-debian: mmdebstrap makes a tree as a tar, and the tar is loaded. */
#include "commands/image.h"

#include "base/fd.h"
#include "commands/commands.h"
#include "runtime/sibling.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char mmdebstrap[] = "/usr/bin/mmdebstrap";

struct debian {
	const char *packages, *suite, *mirror, *components, *variant;
};

/* What would be an option, or a hook of mmdebstrap's that a shell runs, is no name. */
static int check_word(const char *option, const char *word, struct err *e)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				      "+-.,:/_=~[]@";
	if (!*word || word[0] == '-' || strspn(word, allowed) != strlen(word))
		return err_usage(e, "--%s: \"%.60s\" is none", option, word);
	return 0;
}

static int check(const struct debian *d, struct err *e)
{
	if (d->packages && check_word("packages", d->packages, e) < 0)
		return -1;
	if (d->mirror && check_word("mirror", d->mirror, e) < 0)
		return -1;
	if (check_word("suite", d->suite, e) < 0 || check_word("components", d->components, e) < 0)
		return -1;
	return check_word("variant", d->variant, e);
}

/* An ordinary user's mmdebstrap works there as one of the user's subordinate ids. */
static int check_tmpdir(struct err *e)
{
	const char *dir = getenv("TMPDIR");
	struct stat st;
	if (geteuid() == 0 || !dir || stat(dir, &st) < 0 || (st.st_mode & S_IXOTH))
		return 0;
	return err_usage(e,
			 "TMPDIR %.200s may not be entered by others, and mmdebstrap works there as "
			 "one of your subordinate ids; set TMPDIR=/tmp",
			 dir);
}

static int build(struct image_call *c, const struct debian *d, int to, struct err *e)
{
	char tar[] = "-", format[] = "--format=tar", program[] = "mmdebstrap", quiet[] = "--quiet";
	char *argv[10];
	size_t len = 0;
	argv[len++] = program;
	argv[len++] = quiet;
	argv[len++] = format;
	argv[len++] = arena_printf(c->arena, "--variant=%s", d->variant);
	argv[len++] = arena_printf(c->arena, "--components=%s", d->components);
	if (d->packages)
		argv[len++] = arena_printf(c->arena, "--include=%s", d->packages);
	argv[len++] = arena_strdup(c->arena, d->suite);
	argv[len++] = tar;
	if (d->mirror)
		argv[len++] = arena_strdup(c->arena, d->mirror);
	argv[len] = NULL;
	const int code = sibling_run(mmdebstrap, argv, to, e);
	if (code < 0)
		return -1;
	if (code == 127)
		return err_host(e, "%s is not there; install Debian's mmdebstrap", mmdebstrap);
	if (code != 0)
		return err_host(e, "mmdebstrap failed (%d); why is said above", code);
	return lseek(to, 0, SEEK_SET) < 0 ? err_sys(e, "read what mmdebstrap made") : 0;
}

int image_build_debian(struct image_call *c, struct err *e)
{
	bool json = false;
	struct debian d = {.suite = "bookworm", .components = "main", .variant = "minbase"};
	struct image_limits limits = {0};
	struct image_source from = {.as = TAKE_TREE, .platform = platform_host()};
	const struct image_option rows[] = {
		{"packages", &d.packages, NULL, "NAME,...  what is in it besides the variant's"},
		{"suite", &d.suite, NULL, "NAME  of Debian (bookworm)"},
		{"mirror", &d.mirror, NULL,
		 "URI  where packages come from (default: this host's sources)"},
		{"components", &d.components, NULL, "NAME,...  of the archive (main)"},
		{"variant", &d.variant, NULL, "NAME  of mmdebstrap (minbase)"},
		IMAGE_LIMIT_ROWS(limits),
		{"json", NULL, &json, "progress as JSON, one document a line"},
		{NULL},
	};
	const int done = image_options(c, rows, (struct image_words){1, 1}, e);
	if (done != 0)
		return done < 0 ? -1 : 0;
	if (check(&d, e) < 0 || check_tmpdir(e) < 0 ||
	    image_limits_read(&limits, &from.limits, e) < 0 || image_check_name(c, c->argv[0], e) < 0)
		return -1;
	autowork w = WORK_INIT;
	if (work_open(&w, &c->store, e) < 0)
		return -1;
	autoclose int to = openat(w.dir, "archive", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (to < 0 || unlinkat(w.dir, "archive", 0) < 0)
		return err_sys(e, "image store: make a file for the archive");
	if (build(c, &d, to, e) < 0)
		return -1;
	from.input = to;
	from.name = c->argv[0];
	from.report = json ? REPORT_JSON : REPORT_LINES;
	return image_take(c, &from, e);
}

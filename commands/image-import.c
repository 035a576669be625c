/* pinfold image import: a folder becomes an image of one layer. */
#include "commands/image.h"

#include "base/fd.h"
#include "commands/commands.h"
#include "rootfs/image/tar_out.h"
#include "runtime/jail.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int is_root(int fd)
{
	struct stat a, b;
	return fstat(fd, &a) == 0 && stat("/", &b) == 0 && a.st_dev == b.st_dev &&
	       a.st_ino == b.st_ino;
}

static int pack(int folder, int to, struct err *e)
{
	struct tree_out o = {.fd = to};
	const struct jail jail = {.root = folder,
				  .fds = &to,
				  .fds_len = 1,
				  .run = tree_import,
				  .arg = &o,
				  .report = &o,
				  .report_len = sizeof(o)};
	if (jail_run(&jail, e) < 0)
		return -1;
	if (o.skipped)
		complain("note: device nodes and sockets were left out: %llu",
			 (unsigned long long)o.skipped);
	return lseek(to, 0, SEEK_SET) < 0 ? err_sys(e, "read the archive") : 0;
}

int image_import(struct image_call *c, struct err *e)
{
	struct image_taking taking = {0};
	struct image_source from = {.input = -1, .as = TAKE_TREE, .platform = platform_host()};
	const struct verb_option rows[] = {
		IMAGE_TAKING_ROWS(taking),
		{NULL},
	};
	const int done = image_options(c, rows, (struct word_count){2, 2}, e);
	if (done != 0)
		return done < 0 ? -1 : 0;
	if (image_taking_read(&taking, &from.limits, &from.report, e) < 0 ||
	    image_check_name(c, c->argv[1], e) < 0)
		return -1;
	autoclose int folder = open(c->argv[0], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder < 0)
		return err_usage(e, "open the folder %s: %s", c->argv[0], strerrordesc_np(errno));
	if (is_root(folder))
		return err_usage(e, "/ is this host's root, and no image");
	autowork w = WORK_INIT;
	autoclose int to = image_archive(c, &w, e);
	if (to < 0)
		return -1;
	if (pack(folder, to, e) < 0)
		return -1;
	from.input = to;
	from.name = c->argv[1];
	return image_take(c, &from, e);
}

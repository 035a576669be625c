/* Any bytes as two layers. They are refused in words that a terminal may see, or they become a tree
 * that is what its record says; in both cases nothing beside the tree changes.
 *
 * The first byte says where the first layer ends, in 1/256 of the rest. What looks like a header of
 * tar gets its checksum put right, or few inputs would come past it. */
#include "rootfs/image/layer.h"

#include "base/fd.h"
#include "tests/fuzz/tar.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int holds)
{
	if (!holds)
		abort();
}

static int file_of(const void *bytes, size_t size)
{
	const int fd = memfd_create("fuzz", MFD_CLOEXEC);
	must(fd >= 0 && fd_write_all(fd, bytes, size) == 0 && lseek(fd, 0, SEEK_SET) == 0);
	return fd;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)ftw;
	return type == FTW_DP ? rmdir(path) : unlink(path);
}

static int open_up(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)ftw;
	return type == FTW_D || type == FTW_DNR ? chmod(path, 0700) : 0;
}

static int found_difference(void *arg, const struct record_difference *d, struct err *e)
{
	(void)arg;
	(void)d;
	(void)e;
	abort();
}

static int apply(struct unpack *u, int root, const uint8_t *data, size_t size, struct err *e)
{
	char *copy = malloc(size + 1);
	memcpy(copy, data, size);
	put_checksums_right(copy, size);
	const int fd = file_of(copy, size);
	free(copy);
	const int result = layer_apply(root, fd, u, e);
	close(fd);
	return result;
}

/* The tree must have been opened up by nobody: as root all of it can be read. */
static void check_tree(struct unpack *u, int root, struct err *e)
{
	const int record = file_of("", 0);
	struct record_compare c = {.differs = found_difference};
	must(unpack_finish(u, record, e) == 0);
	if (geteuid() == 0)
		must(record_compare(&c, root, record, e) == 0);
	close(record);
}

static void check_refusal(const struct err *e)
{
	must(e->kind == ERR_USAGE || e->sys == ENAMETOOLONG);
	for (const char *c = e->msg; *c; c++)
		must(*c >= ' ' && *c <= '~');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char top[] = "/tmp/pinfold-fuzz.XXXXXX";
	struct stat before, after;
	struct err e = ERR_INIT;
	if (size < 1)
		return 0;
	must(mkdtemp(top) != NULL);
	const int dir = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	must(mkdirat(dir, "root", 0700) == 0 && mkdirat(dir, "outside", 0700) == 0);
	const int root = openat(dir, "root", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct unpack_options o = {
		.limits = {.bytes = 1 << 20, .entries = 1000, .depth = 30, .ratio = 100},
		.owners = {.kept = geteuid() == 0, .ids = 65536},
		.journal = file_of("", 0),
		.sorted = file_of("", 0),
	};
	struct unpack *u = NULL;
	must(unpack_begin(&u, root, &o, &e) == 0 && fstatat(dir, "outside", &before, 0) == 0);
	const size_t first = (size - 1) * data[0] / 255;
	if (apply(u, root, data + 1, first, &e) < 0 ||
	    apply(u, root, data + 1 + first, size - 1 - first, &e) < 0)
		check_refusal(&e);
	else
		check_tree(u, root, &e);
	unpack_free(&u);
	must(fstatat(dir, "outside", &after, 0) == 0 &&
	     after.st_mtim.tv_nsec == before.st_mtim.tv_nsec);
	for (int i = 0; i < 40 && nftw(top, open_up, 20, FTW_PHYS) != 0; i++)
		;
	must(nftw(top, remove_one, 20, FTW_PHYS | FTW_DEPTH) == 0);
	close(o.journal);
	close(o.sorted);
	close(root);
	close(dir);
	return 0;
}

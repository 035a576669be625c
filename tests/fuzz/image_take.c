/* Any bytes as an archive of an image, or of a tree. It is refused in words that a terminal may
 * see, or what it is made of is in range and there. The manifest has the digest that is said of it,
 * and so has all else but what a layout names: that is the store's to hold against its digest.
 *
 * The first byte says what it is taken for, and which of its images. What looks like a header of
 * tar gets its checksum put right (tar.h). */
#include "rootfs/image/take.h"

#include "base/fd.h"
#include "tests/fuzz/tar.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
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

static int archive_of(const uint8_t *data, size_t size)
{
	char *copy = malloc(size + 1);
	memcpy(copy, data, size);
	put_checksums_right(copy, size);
	const int fd = memfd_create("fuzz", MFD_CLOEXEC);
	must(fd >= 0 && fd_write_all(fd, copy, size) == 0 && lseek(fd, 0, SEEK_SET) == 0);
	free(copy);
	return fd;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)ftw;
	return type == FTW_DP ? rmdir(path) : unlink(path);
}

static void check_blob(int root, const struct descriptor *d, struct hash *h, bool named)
{
	static char block[1 << 16];
	char name[sizeof("blobs/") + DIGEST_HEX];
	struct digest found;
	uint64_t len = 0;
	ssize_t n;
	snprintf(name, sizeof(name), "blobs/%s", digest_hex(&d->digest));
	const int fd = openat(root, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	must(fd >= 0);
	for (hash_restart(h); (n = read(fd, block, sizeof(block))) > 0; len += (uint64_t)n)
		hash_update(h, block, (size_t)n);
	hash_final(h, &found);
	must(n == 0 && (named || (len == d->size && digest_same(&found, &d->digest))));
	close(fd);
}

static void check_taken(int root, const struct taken *t, enum take_as as)
{
	const bool named = as == TAKE_ANY || as == TAKE_LAYOUT;
	autohash h = HASH_INIT;
	struct err e = ERR_INIT;
	must(taken_check(t, &e) == 0 && hash_init(&h, &e) == 0);
	check_blob(root, &t->document, &h, false);
	check_blob(root, &t->config, &h, named);
	for (size_t i = 0; i < t->layers_len; i++)
		check_blob(root, &t->layers[i], &h, named);
}

static void check_refusal(const struct err *e)
{
	must(e->kind == ERR_USAGE && e->msg[0]);
	for (const char *c = e->msg; *c; c++)
		must(*c >= ' ' && *c <= '~');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char top[] = "/tmp/pinfold-fuzz.XXXXXX";
	struct err e = ERR_INIT;
	static struct taken taken;
	if (size < 1)
		return 0;
	memset(&taken, 0, sizeof(taken));
	const struct take take = {
		.input = archive_of(data + 1, size - 1),
		.as = (enum take_as)(data[0] % (TAKE_DOCKER + 1)),
		.ref = data[0] & 0x80 ? "a:1" : NULL,
		.platform = {"linux", "amd64", NULL},
		.limits = {.bytes = 1 << 20, .entries = 1000, .depth = 30, .ratio = 100},
		.taken = &taken,
	};
	must(mkdtemp(top) != NULL);
	const int root = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (take_in(root, (void *)(uintptr_t)&take, &e) < 0)
		check_refusal(&e);
	else
		check_taken(root, &taken, take.as);
	must(nftw(top, remove_one, 20, FTW_PHYS | FTW_DEPTH) == 0);
	close(root);
	close(take.input);
	return 0;
}

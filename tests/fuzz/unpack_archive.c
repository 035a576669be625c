/* Any bytes as an archive; and what the unpacker says of them, which always makes sense to who
 * holds it against its range. And any bytes as an unpacker's words.
 *
 * What looks like a header of tar gets its checksum put right (tar.h). */
#include "transfer/relay.h"
#include "transfer/unpack/unpack.h"

#include "base/fd.h"
#include "tests/fuzz/tar.h"
#include "transfer/stream.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
	if (!holds)
		abort();
}

static void check_refusal(const struct err *e)
{
	must(e->msg[0]);
	for (const char *c = e->msg; *c; c++)
		must(*c >= 0x20 && *c < 0x7f);
}

static int memory(const uint8_t *data, size_t size)
{
	const int fd = memfd_create("bytes", MFD_CLOEXEC);
	must(fd >= 0 && fd_write_all(fd, data, size) == 0 && lseek(fd, 0, SEEK_SET) == 0);
	return fd;
}

static int archive_of(const uint8_t *data, size_t size)
{
	char *copy = malloc(size + 1);
	memcpy(copy, data, size);
	put_checksums_right(copy, size);
	const int fd = memory((const uint8_t *)copy, size);
	free(copy);
	return fd;
}

static int relayed(int from, struct err *e)
{
	static char in[STREAM_BUFFER], out[STREAM_BUFFER];
	const struct input archive = {.source = "a", .target = "a", .unpack = true};
	struct input_budget left = {16 << 20, 1000, 16 << 20, 1000};
	autoclose int to = open("/dev/null", O_WRONLY | O_CLOEXEC);
	const struct relay w =
		{.from = from, .to = to, .input = &archive, .left = &left, .in = in, .out = out};
	return relay_archive(&w, e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct err e = ERR_INIT;
	char clean[PATH_MAX], name[PATH_MAX];
	const size_t len = size < sizeof(name) ? size : sizeof(name) - 1;
	autoclose int archive = archive_of(data, size);
	autoclose int words = memory(NULL, 0);
	autoclose int wild = memory(data, size);
	must(unpack_prepare(archive, &e) == 0 && unpack_run(archive, words) == 0);
	must(lseek(words, 0, SEEK_SET) == 0);
	if (relayed(words, &e) < 0)
		check_refusal(&e);
	/* All of it: a name in the archive may have any words. */
	must(e.kind != ERR_BUG &&
	     strcmp(e.msg, "input a: its unpacker said what makes no sense") != 0);
	if (relayed(wild, &e) < 0)
		check_refusal(&e);
	memcpy(name, data, len);
	name[len] = '\0';
	must(!unpack_clean(clean, name) || (*clean != '/' && !strstr(clean, "//")));
	return 0;
}

/* pinfold-unpack: reads one archive of a run's inputs, in a jail. Started by runtime/unpack.c,
 * never by hand. See transfer/unpack/unpack.h, docs/in-and-out.md. */
#include "runtime/unpack.h"

#include "base/fd.h"
#include "runtime/confine.h"
#include "transfer/unpack/unpack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	DATA_BYTES = 256 << 20, /* zstd's window is 128 MiB at most */
	FILES = 8,
	/* Many times what the slowest machine needs for what is no attack. */
	SECONDS_LEAST = 300,
	BYTES_A_SECOND = 1 << 20,
};

static int limit_time(struct confine_end *jail, struct err *e)
{
	struct stat st;
	if (fstat(UNPACK_ARCHIVE_FD, &st) < 0)
		return err_sys(e, "stat the archive");
	jail->cpu_seconds = SECONDS_LEAST + (uint64_t)st.st_size / BYTES_A_SECOND;
	return 0;
}

static uint32_t number(const char *text)
{
	return (uint32_t)strtoul(text, NULL, 10);
}

int main(int argc, char **argv)
{
	struct confine_end jail = {.filter = &filter_unpacker,
				   .data_bytes = DATA_BYTES,
				   .files = FILES};
	struct err e = ERR_INIT;
	int keep[] = {UNPACK_ARCHIVE_FD, UNPACK_STREAM_FD};
	if (argc != 4) {
		fprintf(stderr, "pinfold-unpack: a part of pinfold run --input SRC:DST:unpack; see "
				"pinfold-spec(5)\n");
		return 125;
	}
	if (fd_close_others(keep, 2) < 0)
		err_sys(&e, "close what the unpacker does not need");
	else if (unpack_prepare(UNPACK_ARCHIVE_FD, &e) == 0 && limit_time(&jail, &e) == 0 &&
		 confine_begin(number(argv[1]), number(argv[2]), &e) == 0 &&
		 confine_end(&jail, (pid_t)number(argv[3]), &e) == 0)
		_exit(unpack_run(UNPACK_ARCHIVE_FD, UNPACK_STREAM_FD) < 0);
	_exit(unpack_refuse(UNPACK_STREAM_FD, &e) < 0);
}

/* Verbs on files and streams. */
#include "payload.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLOCK = 1 << 16 };

static int write_all(int fd, const char *data, size_t len)
{
	while (len > 0) {
		ssize_t n = write(fd, data, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		data += n;
		len -= (size_t)n;
	}
	return 0;
}

/* Byte i of the stream is 'a' + i % 26, so that a test can tell where it was cut. */
static int spam(int argc, char **argv)
{
	(void)argc;
	int fd = strcmp(argv[0], "stderr") == 0 ? 2 : 1;
	uint64_t left = parse_size(argv[1]), at = 0;
	char block[BLOCK];
	while (left > 0) {
		size_t len = left < BLOCK ? left : BLOCK;
		for (size_t i = 0; i < len; i++)
			block[i] = (char)('a' + (at + i) % 26);
		if (write_all(fd, block, len) < 0)
			return fail("write");
		at += len;
		left -= len;
	}
	return 0;
}

static int all_bytes(int argc, char **argv)
{
	(void)argc, (void)argv;
	char bytes[256];
	for (int i = 0; i < 256; i++)
		bytes[i] = (char)i;
	return write_all(1, bytes, sizeof(bytes)) < 0 ? fail("write") : 0;
}

static int copy(int from)
{
	char block[BLOCK];
	ssize_t n;
	while ((n = read(from, block, sizeof(block))) > 0)
		if (write_all(1, block, (size_t)n) < 0)
			return fail("write");
	return n < 0 ? fail("read") : 0;
}

static int cat(int argc, char **argv)
{
	if (argc == 0)
		return copy(0);
	int fd = open(argv[0], O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return fail("open");
	int code = copy(fd);
	close(fd);
	return code;
}

static int write_file(int argc, char **argv)
{
	int fd = open(argv[0], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0)
		return fail("open");
	const char *text = argc > 1 ? argv[1] : "payload\n";
	int code = write_all(fd, text, strlen(text)) < 0 ? fail("write") : 0;
	close(fd);
	if (code == 0)
		say("wrote %s", argv[0]);
	return code;
}

/* "opened PATH" or the error, for each; nothing is written. */
static int try_open(int argc, char **argv)
{
	int flags = O_CLOEXEC | O_NONBLOCK | O_NOCTTY |
		    (strcmp(argv[0], "w") == 0 ? O_WRONLY : O_RDONLY);
	for (int i = 1; i < argc; i++) {
		int fd = open(argv[i], flags);
		say("open %s %s", argv[i], fd < 0 ? errno_name(errno) : "ok");
		if (fd >= 0)
			close(fd);
	}
	return 0;
}

static int files(int argc, char **argv)
{
	long count = parse_number(argv[0]), done = 0;
	const char *folder = argc > 1 ? argv[1] : ".";
	for (; done < count; done++) {
		char path[PATH_MAX];
		snprintf(path, sizeof(path), "%s/file-%ld", folder, done);
		int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
		if (fd < 0)
			break;
		close(fd);
	}
	say("files %ld %s", done, errno_name(done < count ? errno : 0));
	return done < count ? 1 : 0;
}

static int open_many(int argc, char **argv)
{
	(void)argc;
	long count = parse_number(argv[0]), done = 0;
	for (; done < count; done++)
		if (open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC) < 0)
			break;
	say("opened %ld %s", done, errno_name(done < count ? errno : 0));
	return done < count ? 1 : 0;
}

static int mkdir_deep(int argc, char **argv)
{
	long count = parse_number(argv[0]), done = 0;
	long len = argc > 1 ? parse_number(argv[1]) : 10;
	char name[256] = "";
	memset(name, 'd', (size_t)(len < 255 ? len : 255));
	for (; done < count; done++)
		if (mkdir(name, 0755) < 0 || chdir(name) < 0)
			break;
	say("deep %ld %s", done, errno_name(done < count ? errno : 0));
	return done < count ? 1 : 0;
}

static int do_truncate(int argc, char **argv)
{
	(void)argc;
	int fd = open(argv[1], O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	if (fd < 0)
		return fail("open");
	int code = ftruncate(fd, (off_t)parse_size(argv[0])) < 0 ? fail("ftruncate") : 0;
	close(fd);
	if (code == 0)
		say("truncated");
	return code;
}

static int do_mkdir(int argc, char **argv)
{
	mode_t mode = argc > 1 ? (mode_t)strtol(argv[1], NULL, 8) : 0755;
	if (mkdir(argv[0], 0700) < 0 || chmod(argv[0], mode) < 0)
		return fail("mkdir");
	say("mkdir %s", argv[0]);
	return 0;
}

static int do_chdir(int argc, char **argv)
{
	(void)argc;
	return chdir(argv[0]) < 0 ? fail("chdir") : 0;
}

static int do_close(int argc, char **argv)
{
	for (int i = 0; i < argc; i++)
		close((int)parse_number(argv[i]));
	return 0;
}

static int list(int argc, char **argv)
{
	struct dirent **names;
	const char *folder = argc > 0 ? argv[0] : ".";
	int len = scandir(folder, &names, NULL, alphasort);
	if (len < 0)
		return fail("scandir");
	for (int i = 0; i < len; i++) {
		char path[PATH_MAX];
		struct stat st;
		if (strcmp(names[i]->d_name, ".") == 0 || strcmp(names[i]->d_name, "..") == 0)
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, names[i]->d_name);
		if (lstat(path, &st) < 0)
			say("%s %s", names[i]->d_name, errno_name(errno));
		else
			say("%s %o %u %u %ld", names[i]->d_name, st.st_mode, st.st_uid, st.st_gid,
			    (long)st.st_size);
	}
	return 0;
}

const struct verb verbs_file[] = {
	{"spam", 2, spam, "stdout|stderr BYTES: byte i is 'a' + i % 26"},
	{"all-bytes", 0, all_bytes, "the 256 bytes, to stdout"},
	{"cat", 0, cat, "[FILE]: to stdout"},
	{"write", 1, write_file, "FILE [TEXT]"},
	{"open", 2, try_open, "r|w PATH...: whether each can be opened"},
	{"list", 0, list, "[FOLDER]: name, mode, owner, group, size"},
	{"files", 1, files, "COUNT [FOLDER]: empty files"},
	{"open-many", 1, open_many, "COUNT descriptors"},
	{"mkdir-deep", 1, mkdir_deep, "COUNT [LENGTH]: folders in each other, and go there"},
	{"mkdir", 1, do_mkdir, "FOLDER [MODE]"},
	{"truncate", 2, do_truncate, "BYTES FILE"},
	{"chdir", 1, do_chdir, "FOLDER"},
	{"close", 1, do_close, "FD..."},
	{NULL, 0, NULL, NULL},
};

#include "pipeline/trust.h"

#include "base/fd.h"
#include "spec/parse.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DIGEST_BYTES = 71 };

static int refuse_changed(const char *url, const char *recorded, struct err *e)
{
	return err_usage(e,
			 "%s had %.71s when it was first fetched, and has another digest now; declare the "
			 "new one if it is meant",
			 show(url).text, recorded);
}

/* The digest that is recorded for url, in line; 0: none. -1: a line is none of ours, or cannot be read. */
static int find(FILE *file, const char *url, char **line, size_t *room)
{
	for (;;) {
		errno = 0;
		const ssize_t n = getline(line, room, file);
		if (n < 0)
			return errno || ferror(file) ? -1 : 0;
		/* A last line without an end would have the next one's beginning in it. */
		const size_t len = strcspn(*line, "\n");
		const bool whole = len + 1 == (size_t)n;
		(*line)[len] = '\0';
		if (!whole || n < DIGEST_BYTES + 3 || (*line)[DIGEST_BYTES] != ' ')
			return -1;
		if (strcmp(*line + DIGEST_BYTES + 1, url) == 0)
			return 1;
	}
}

/* At the end, under the lock. What was written in part is taken back: half a line would damage all of it. */
static int record(int fd, const char *url, const char *digest, struct err *e)
{
	char *text = NULL;
	const off_t end = lseek(fd, 0, SEEK_END);
	const int len = asprintf(&text, "%s %s\n", digest, url);
	const int done = len < 0 || end < 0 ? -1 : fd_write_all(fd, text, (size_t)len);
	if (len >= 0)
		free(text);
	if (done == 0 && fsync(fd) == 0)
		return 0;
	err_sys(e, "record the digest of an archive");
	if (end >= 0 && ftruncate(fd, end) < 0)
		return err_wrap(e, "it may be damaged now");
	return -1;
}

int trust_archive(int dir, const char *url, const char *digest, struct err *e)
{
	char *line = NULL;
	size_t room = 0;
	autoclose int fd = openat(dir, "archives",
				  O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
	struct stat st;
	if (fd < 0 || fstat(fd, &st) < 0)
		return err_sys(e, "open the record of archives");
	if (!S_ISREG(st.st_mode))
		return err_host(e, "the record of archives is no file");
	if (flock(fd, LOCK_EX) < 0)
		return err_sys(e, "lock the record of archives");
	const int copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	FILE *file = copy >= 0 ? fdopen(copy, "r") : NULL;
	if (!file) {
		if (copy >= 0)
			close(copy);
		return err_sys(e, "read the record of archives");
	}
	int found = find(file, url, &line, &room);
	if (found < 0)
		found = err_host(e, "the record of archives is damaged");
	else if (found > 0 && strncmp(line, digest, DIGEST_BYTES) != 0)
		found = refuse_changed(url, line, e);
	else if (found == 0 && record(fd, url, digest, e) < 0)
		found = -1;
	free(line);
	fclose(file);
	return found;
}

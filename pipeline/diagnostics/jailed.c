#include "pipeline/diagnostics/diagnostics.h"

#include "runtime/jail.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Four mebibytes of hostile text take a fraction of one. */
enum { CPU_SECONDS = 10 };

struct task {
	struct diagnostics found; /* the report: what comes back */
	enum diagnostics_kind kind;
	int fd;
};

/* Up to size bytes; a file from its begin, whatever its offset, which others may share. */
static ssize_t read_all(int fd, char *to, size_t size)
{
	const int seekable = lseek(fd, 0, SEEK_CUR) >= 0;
	size_t len = 0;
	while (len < size) {
		const ssize_t n = seekable ? pread(fd, to + len, size - len, (off_t)len)
					   : read(fd, to + len, size - len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -1 : (ssize_t)len;
		len += (size_t)n;
	}
	return (ssize_t)len;
}

/* In the jail. */
static int read_there(int root, void *arg, struct err *e)
{
	struct task *t = arg;
	const size_t size = DIAGNOSTICS_BYTES_MAX + 1; /* one more says that there are more */
	(void)root;
	char *bytes = malloc(size);
	if (!bytes)
		return err_host(e, "diagnostics: out of memory");
	const ssize_t len = read_all(t->fd, bytes, size);
	if (len < 0)
		err_sys(e, "diagnostics: read");
	else
		diagnostics_read(&t->found, t->kind, bytes, (size_t)len);
	free(bytes);
	return len < 0 ? -1 : 0;
}

int diagnostics_jailed(struct diagnostics *to, enum diagnostics_kind kind, int fd, struct err *e)
{
	struct task t = {.kind = kind, .fd = fd};
	const struct jail j = {.kind = JAIL_READER,
			       .root = -1,
			       .fds = &fd,
			       .fds_len = 1,
			       .cpu_seconds = CPU_SECONDS,
			       .run = read_there,
			       .arg = &t,
			       .report = &t.found,
			       .report_len = sizeof(t.found)};
	if (jail_run(&j, e) < 0)
		return err_wrap(e, "diagnostics");
	if (diagnostics_check(&t.found, e) < 0)
		return -1;
	*to = t.found;
	return 0;
}

#include "runtime/audit.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static const char syslog_path[] = "/dev/log";

static bool is_syslog(const struct audit_place *p)
{
	return strcmp(p->where, "syslog") == 0;
}

/* ---- a file ---- */

static int open_file(const char *where, struct err *e)
{
	struct stat st;
	/* Read too: whether the last line is whole. */
	autoclose int fd =
		fd_open_output(where, O_RDWR | O_APPEND | O_CREAT | O_NOCTTY | O_NONBLOCK, 0600, e);
	if (fd < 0)
		return -1;
	if (fstat(fd, &st) < 0)
		return err_sys(e, "stat %s", where);
	if (!S_ISREG(st.st_mode))
		return err_usage(e, "%s is not a regular file", where);
	return fd_take(&fd);
}

/* logrotate gave its name to another file, or to none. */
static bool is_moved(const struct audit_place *p)
{
	struct stat named, ours;
	return stat(p->where, &named) < 0 || fstat(p->fd, &ours) < 0 ||
	       named.st_dev != ours.st_dev || named.st_ino != ours.st_ino;
}

/* A record that a full disk cut must not spoil the next one. Where another writer's newline comes
 * in between, there is an empty line, which readers pass over. */
static bool is_torn(int fd)
{
	struct stat st;
	char last;
	return fstat(fd, &st) == 0 && st.st_size > 0 && pread(fd, &last, 1, st.st_size - 1) == 1 &&
	       last != '\n';
}

static int write_file(struct audit_place *p, const char *line, struct err *e)
{
	if (is_moved(p)) {
		fd_close(&p->fd);
		p->fd = open_file(p->where, e);
		if (p->fd < 0)
			return -1;
	}
	const size_t torn = is_torn(p->fd), len = strlen(line);
	char newline[] = "\n";
	const struct iovec parts[] = {{newline, torn}, {(void *)(uintptr_t)line, len}};
	ssize_t n;
	do
		n = writev(p->fd, parts, 2);
	while (n < 0 && errno == EINTR);
	if (n == (ssize_t)(torn + len))
		return 0;
	if (n >= 0)
		errno = ENOSPC; /* a regular file takes less than all only where there is no more room */
	return err_sys(e, "write to %s", p->where);
}

/* ---- syslog ---- */

static int open_syslog(struct err *e)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	snprintf(to.sun_path, sizeof(to.sun_path), "%s", syslog_path);
	autoclose int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || connect(fd, (const struct sockaddr *)&to, sizeof(to)) < 0)
		return err_sys(e, "syslog: connect to %s", syslog_path);
	return fd_take(&fd);
}

/* RFC 3164, as everything that listens there takes it: authpriv (10), notice (5) or warning (4). */
static char *frame(const struct audit_record *r, const char *json)
{
	enum { AUTHPRIV = 10 << 3, WARNING = 4, NOTICE = 5 };
	const bool grave = r->event == AUDIT_DENIED || r->event == AUDIT_LIMIT;
	const time_t now = time(NULL);
	struct tm at;
	char stamp[32] = "", *text = NULL;
	if (localtime_r(&now, &at))
		strftime(stamp, sizeof(stamp), "%b %e %H:%M:%S", &at);
	const int len = asprintf(&text, "<%d>%s pinfold[%d]: %.*s",
				 AUTHPRIV | (grave ? WARNING : NOTICE), stamp, getpid(),
				 (int)strcspn(json, "\n"), json);
	return len < 0 ? NULL : text;
}

static int send_within(int fd, const char *text, int patience_ms)
{
	struct pollfd p = {.fd = fd, .events = POLLOUT};
	ssize_t n = send(fd, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT);
	if (n < 0 && errno == EAGAIN && patience_ms > 0 && poll(&p, 1, patience_ms) == 1)
		n = send(fd, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT);
	return n < 0 ? -1 : 0;
}

static int write_syslog(struct audit_place *p, const char *text, int patience_ms, struct err *e)
{
	if (send_within(p->fd, text, patience_ms) == 0)
		return 0;
	if (errno == EAGAIN)
		return err_sys(e, "syslog: %s", syslog_path);
	/* The daemon was started anew. */
	fd_close(&p->fd);
	p->fd = open_syslog(e);
	if (p->fd < 0)
		return -1;
	return send_within(p->fd, text, patience_ms) < 0 ? err_sys(e, "syslog: %s", syslog_path) : 0;
}

/* ---- both ---- */

/* What su and sudo do not change; 4294967295 is nobody (audit's pam_loginuid(8)). */
static int64_t login_uid(void)
{
	char text[32], *end;
	if (fd_read_small(AT_FDCWD, "/proc/self/loginuid", text, sizeof(text)) <= 0)
		return NUM_UNKNOWN;
	const unsigned long n = strtoul(text, &end, 10);
	return end == text || n >= UINT32_MAX ? NUM_UNKNOWN : (int64_t)n;
}

int audit_open(struct audit *a, const char *where, struct err *e)
{
	for (size_t i = 0; i < a->len; i++)
		if (strcmp(a->places[i].where, where) == 0)
			return 0;
	if (a->len == AUDIT_PLACES)
		return err_bug(e, "audit: a place too many");
	struct audit_place *p = &a->places[a->len];
	*p = (struct audit_place){.where = where};
	p->fd = is_syslog(p) ? open_syslog(e) : open_file(where, e);
	if (p->fd < 0)
		return err_wrap(e, "audit");
	if (a->len++ == 0)
		a->who = (struct audit_who){getuid(), getgid(), login_uid(), getpid(), getppid()};
	return 0;
}

static void stamp(char time[AUDIT_TIME_BYTES])
{
	struct timespec now;
	struct tm at = {0};
	char seconds[24] = "";
	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &at);
	strftime(seconds, sizeof(seconds), "%Y-%m-%dT%H:%M:%S", &at);
	snprintf(time, AUDIT_TIME_BYTES, "%s.%06ldZ", seconds, now.tv_nsec / 1000);
}

static int write_place(struct audit_place *p, const struct audit_record *r, const char *line,
		       int patience_ms, struct err *e)
{
	if (p->fd < 0) /* it failed before, and may be there again */
		p->fd = is_syslog(p) ? open_syslog(e) : open_file(p->where, e);
	if (p->fd < 0)
		return -1;
	if (!is_syslog(p))
		return write_file(p, line, e);
	char *text = frame(r, line);
	if (!text)
		return err_host(e, "out of memory");
	const int sent = write_syslog(p, text, patience_ms, e);
	free(text);
	return sent;
}

int audit_write(struct audit *a, struct audit_record *record, int patience_ms, struct err *e)
{
	int failed = 0;
	record->who = a->who;
	stamp(record->time);
	char *line = audit_write_json(record);
	if (!line)
		return err_host(e, "audit: out of memory");
	for (size_t i = 0; i < a->len; i++)
		if (write_place(&a->places[i], record, line, patience_ms, e) < 0)
			failed = err_wrap(e, "audit");
	free(line);
	return failed;
}

void audit_close(struct audit *a)
{
	for (size_t i = 0; i < a->len; i++)
		fd_close(&a->places[i].fd);
	a->len = 0;
}

#include "base/fd.h"
#include "base/text.h"
#include "commands/commands.h"
#include "spec/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { STDERR_MS = 1000 }; /* what whoever reads our stderr may take, once */

/* What we say may quote what a hostile image or spec says: nothing in it may drive a terminal or
 * look like a line of ours. The bytes of the character at p if it is text, neither a control (C0,
 * DEL, C1) nor one that reorders text; else 0. */
static size_t harmless(const unsigned char *p)
{
	uint32_t c = 0;
	const size_t len = utf8_next(p, &c);
	const bool control = c < 0x20 || (c >= 0x7f && c < 0xa0);
	const bool reorders = (c >= 0x200e && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
			      (c >= 0x2066 && c <= 0x2069);
	return len > 0 && !control && !reorders ? len : 0;
}

void print_text(const char *text)
{
	for (const unsigned char *p = (const unsigned char *)text; *p;) {
		const size_t len = harmless(p);
		if (len > 0)
			printf("%.*s", (int)len, (const char *)p);
		else
			printf("\\x%02x", *p);
		p += len > 0 ? len : 1;
	}
}

size_t text_columns(const char *text, size_t len)
{
	size_t columns = 0;
	for (const unsigned char *p = (const unsigned char *)text; *p && len > 0;) {
		const size_t bytes = harmless(p);
		const size_t step = bytes > 0 ? bytes : 1;
		columns += bytes > 0 ? 1 : 4;
		p += step;
		len -= step < len ? step : len;
	}
	return columns;
}

void complain(const char *fmt, ...)
{
	char whole[8192], text[1024], safe[4 * sizeof(text) + 16];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(whole, sizeof(whole), fmt, ap);
	va_end(ap);
	text_fit(text, sizeof(text), whole);
	size_t used = (size_t)snprintf(safe, sizeof(safe), "pinfold: ");
	for (const unsigned char *p = (const unsigned char *)text; *p;) {
		const size_t len = harmless(p);
		if (len > 0)
			memcpy(safe + used, p, len);
		used += len > 0 ? len
				: (size_t)snprintf(safe + used, sizeof(safe) - used, "\\x%02x", *p);
		p += len > 0 ? len : 1;
	}
	safe[used++] = '\n';
	/* There is nobody to tell of a failure. */
	static bool deaf;
	if (!deaf && fd_write_within(STDERR_FILENO, safe, used, STDERR_MS) < 0 && errno == ETIMEDOUT)
		deaf = true;
}

void complain_of_end(const struct result *r)
{
	const char *stage = r->cause.stage, *message = r->cause.message;
	const size_t len = strlen(stage);
	if (len > 0 && strncmp(message, stage, len) == 0 && strncmp(message + len, ": ", 2) == 0)
		message += len + 2;
	complain("%s%s%s%s%s", run_status_name(r->status), len > 0 ? " in " : "", stage,
		 message[0] ? ": " : "", message);
}

/* A pipe without a reader, a socket whose other end is closed; a full disk is neither. */
static bool nobody_reads(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLOUT};
	return poll(&p, 1, 0) == 1 && (p.revents & (POLLERR | POLLHUP));
}

int finish_printing(int code)
{
	const int error = fflush(stdout) != 0 ? errno : 0;
	if (!error && !ferror(stdout))
		return code < 0 ? EXIT_REFUSED : code;
	if (nobody_reads(STDOUT_FILENO))
		return code < 0 ? EXIT_REFUSED : code;
	complain("write to stdout: %s",
		 error ? strerrordesc_np(error) : "not all of it could be written");
	return EXIT_REFUSED;
}

/* Siblings live in ../libexec/pinfold beside bin/; a sealed copy of us has no place, so it is told. */
static const char *find_libexec(struct arena *a)
{
	char path[1024];
	const char *told = getenv("PINFOLD_EXEC_PATH");
	if (told && *told == '/')
		return arena_strdup(a, told);
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	if (n <= 0 || n == sizeof(path) - 1 || path[0] != '/')
		return NULL;
	path[n] = '\0';
	for (int up = 0; up < 2; up++) {
		char *slash = strrchr(path, '/');
		if (!slash)
			return NULL;
		*slash = '\0';
	}
	const char *found = arena_printf(a, "%s/libexec/pinfold", path);
	if (setenv("PINFOLD_EXEC_PATH", found, 1) < 0)
		return NULL;
	return found;
}

static const char *find_cache(struct arena *a)
{
	const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	if (geteuid() == 0)
		return "/var/cache/pinfold";
	if (base && *base == '/')
		return arena_printf(a, "%s/pinfold", base);
	if (home && *home == '/')
		return arena_printf(a, "%s/.cache/pinfold", home);
	return NULL;
}

/* As in PATH. text is cut. */
static const char *const *split_paths(char *text, struct arena *a)
{
	size_t len = 2;
	char *at;
	for (const char *c = text; *c; c++)
		len += *c == ':';
	const char **list = arena_alloc(a, len * sizeof(*list));
	len = 0;
	for (char *word = strtok_r(text, ":", &at); word; word = strtok_r(NULL, ":", &at))
		list[len++] = word;
	return list;
}

/* As the login made it; see systemd's pam_systemd(8) and the XDG base directories. */
static const char *find_runtime_dir(struct arena *a)
{
	const char *told = getenv("XDG_RUNTIME_DIR");
	if (geteuid() == 0)
		return "/run";
	if (told && *told == '/')
		return arena_strdup(a, told);
	const char *usual = arena_printf(a, "/run/user/%u", geteuid());
	return access(usual, X_OK) == 0 ? usual : NULL;
}

static void tell_queued(unsigned position)
{
	complain("waiting for a slot: position %u in the line", position);
}

void options_from_environment(struct sandbox_options *o, struct arena *a)
{
	o->libexec = find_libexec(a);
	o->cache_dir = find_cache(a);
	o->id_range = getenv("PINFOLD_ID_RANGE");
	const char *home = getenv("HOME"), *base = getenv("PINFOLD_INPUT_BASE");
	const char *own = getenv("PINFOLD_SENSITIVE");
	o->home = home ? arena_strdup(a, home) : NULL;
	o->input_base = base ? arena_strdup(a, base) : NULL;
	o->sensitive = own && *own ? split_paths(arena_strdup(a, own), a) : NULL;
	o->runtime_dir = find_runtime_dir(a);
	o->queued = tell_queued;
	o->queued_again = isatty(STDERR_FILENO);
}

bool has_result(const char *command, const char *verb)
{
	const bool job = command && strcmp(command, "job") == 0;
	const char *word = job ? verb : command;
	return word && strcmp(word, "run") == 0;
}

/* TERM, INT, HUP and QUIT. */
void stop_signals(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGHUP);
	sigaddset(set, SIGQUIT);
}

int read_descriptor(struct arena *a, int fd, const char *name, struct text *text, struct err *e)
{
	char *buf = malloc(SPEC_FILE_BYTES_MAX + 1);
	if (!buf)
		return err_host(e, "out of memory");
	size_t used = 0;
	ssize_t n;
	while (used <= SPEC_FILE_BYTES_MAX &&
	       (n = read(fd, buf + used, SPEC_FILE_BYTES_MAX + 1 - used)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			free(buf);
			return err_usage(e, "read %s: %s", name, strerrordesc_np(errno));
		}
		used += (size_t)n;
	}
	if (used <= SPEC_FILE_BYTES_MAX) {
		text->at = arena_strndup(a, buf, used);
		text->len = used;
	}
	free(buf);
	return used <= SPEC_FILE_BYTES_MAX ? 0 : err_usage(e, "%s is larger than 4 MiB", name);
}

static int read_text(struct arena *a, const char *name, char **text, size_t *len, struct err *e)
{
	autoclose int fd = strcmp(name, "-") == 0 ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
						  : open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return err_usage(e, "open %s: %s", name, strerrordesc_np(errno));
	struct text read = {.at = NULL};
	if (read_descriptor(a, fd, name, &read, e) < 0)
		return -1;
	*text = read.at;
	*len = read.len;
	return 0;
}

int read_file(struct arena *a, const char *name, char **text, size_t *len, struct err *e)
{
	sigset_t stop, before;
	/* What is read may be a terminal or a FIFO, and nothing has begun: whoever waits for us may end us. */
	stop_signals(&stop);
	sigprocmask(SIG_UNBLOCK, &stop, &before);
	const int failed = read_text(a, name, text, len, e);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return failed;
}

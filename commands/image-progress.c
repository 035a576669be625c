#include "commands/commands.h"
#include "commands/image.h"

#include "base/fd.h"
#include "spec/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { BAR = 30 };

const char *image_size(uint64_t bytes, char buf[32])
{
	static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
	size_t unit = 0;
	double value = (double)bytes;
	for (; value >= 1000 && unit + 1 < sizeof(units) / sizeof(*units); unit++)
		value /= 1000;
	snprintf(buf, 32, unit ? "%.1f %s" : "%.0f %s", value, units[unit]);
	return buf;
}

static void event(const struct progress *p, const char *what, uint64_t done)
{
	struct json_writer w;
	json_open(&w, false);
	json_begin(&w, NULL, '{');
	json_text(&w, "event", what);
	json_text(&w, "what", p->what);
	json_number(&w, "bytes", (int64_t)done);
	if (p->total)
		json_number(&w, "total", (int64_t)p->total);
	else
		json_null_value(&w, "total");
	json_end(&w, '{');
	struct err e = ERR_INIT;
	if (image_print(json_finish(&w, true), &e) < 0)
		complain("%s", e.msg);
	fflush(stdout);
}

void progress_begin(struct progress *p, enum image_report report, const char *what, uint64_t total)
{
	char size[32];
	*p = (struct progress){.what = what,
			       .total = total,
			       .report = report,
			       .terminal = report == REPORT_LINES && isatty(STDERR_FILENO)};
	if (report == REPORT_JSON)
		event(p, "begin", 0);
	else if (!p->terminal && total)
		fprintf(stderr, "%s (%s)\n", what, image_size(total, size));
	else if (!p->terminal)
		fprintf(stderr, "%s\n", what);
}

/* Over what was there. A line that wraps could not be written over: it is cut to the terminal. */
static void write_over(const char *text)
{
	struct winsize size = {.ws_col = 0};
	const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
	fprintf(stderr, "\r\033[K%.*s", known ? size.ws_col - 1 : 79, text);
}

void progress_show(const struct progress *p, uint64_t done)
{
	char size[32], bar[BAR + 1], line[160];
	if (p->report == REPORT_JSON) {
		event(p, "progress", done);
		return;
	}
	if (!p->terminal)
		return;
	const uint64_t shown = p->total && done > p->total ? p->total : done;
	const int full = p->total ? (int)(shown * BAR / p->total) : 0;
	memset(bar, '#', (size_t)full);
	memset(bar + full, '.', (size_t)(BAR - full));
	bar[BAR] = '\0';
	image_size(shown, size);
	if (p->total)
		snprintf(line, sizeof(line), "%-12s [%s] %s", p->what, bar, size);
	else
		snprintf(line, sizeof(line), "%s, %s", p->what, size);
	write_over(line);
}

void progress_wait(const struct progress *p, uint64_t seconds)
{
	char line[160];
	if (!p->terminal)
		return;
	snprintf(line, sizeof(line), "%s, %llu s", p->what, (unsigned long long)seconds);
	write_over(line);
}

void progress_tick(struct progress *p)
{
	uint64_t done = 0;
	/* The child reads through the same descriptions: their offsets are ours. */
	for (size_t i = 0; i < p->fds_len; i++) {
		const off_t at = lseek(p->fds[i], 0, SEEK_CUR);
		done += at > 0 ? (uint64_t)at : 0;
	}
	progress_show(p, done);
}

void progress_end(const struct progress *p)
{
	if (p->terminal)
		fprintf(stderr, "\r\033[K");
	if (p->report == REPORT_JSON)
		event(p, "end", p->total);
}

int image_output(const char *file, struct err *e)
{
	if (file && strcmp(file, "-") != 0)
		return fd_open_output(file, O_WRONLY | O_CREAT | O_TRUNC, 0666, e);
	if (isatty(STDOUT_FILENO))
		return err_usage(e, "an archive is no text for a terminal; --output FILE, or a pipe");
	const int fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	return fd < 0 ? err_sys(e, "stdout") : fd;
}

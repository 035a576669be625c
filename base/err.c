#include "base/err.h"

#include "base/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* A path and a sentence: longer than a message, so that what is cut out is chosen (text_fit()). */
enum { LONG_BYTES = 4608 };

/* tail: what comes behind the message, "" nothing. */
__attribute__((format(printf, 3, 0))) static int fill(struct err *e, const char *tail,
						      const char *fmt, va_list ap)
{
	char text[LONG_BYTES];
	const size_t room = sizeof(text) - strlen(tail);
	const int n = vsnprintf(text, room, fmt, ap);
	if (n < 0)
		text[0] = '\0';
	else if ((size_t)n >= room) /* longer than any path: only its beginning is known */
		memcpy(text + room - 4, "...", 4);
	memcpy(text + strlen(text), tail, strlen(tail) + 1);
	text_fit(e->msg, sizeof(e->msg), text);
	return -1;
}

int err_sys(struct err *e, const char *fmt, ...)
{
	const int sys = errno;
	const char *text = strerrordesc_np(sys);
	char tail[80];
	snprintf(tail, sizeof(tail), ": %s", text ? text : "unknown error");
	va_list ap;
	va_start(ap, fmt);
	fill(e, tail, fmt, ap);
	va_end(ap);
	e->kind = ERR_HOST;
	e->sys = sys;
	return -1;
}

int err_usage(struct err *e, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	fill(e, "", fmt, ap);
	va_end(ap);
	e->kind = ERR_USAGE;
	e->sys = 0;
	return -1;
}

int err_host(struct err *e, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	fill(e, "", fmt, ap);
	va_end(ap);
	e->kind = ERR_HOST;
	e->sys = 0;
	return -1;
}

int err_bug(struct err *e, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	fill(e, "", fmt, ap);
	va_end(ap);
	e->kind = ERR_BUG;
	e->sys = 0;
	return -1;
}

int err_wrap(struct err *e, const char *fmt, ...)
{
	char tail[sizeof(e->msg) + 2];
	snprintf(tail, sizeof(tail), ": %s", e->msg);
	va_list ap;
	va_start(ap, fmt);
	fill(e, tail, fmt, ap);
	va_end(ap);
	return -1;
}

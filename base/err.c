#include "base/err.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

__attribute__((format(printf, 4, 0))) static int fill(struct err *e, enum err_kind kind, int sys,
						      const char *fmt, va_list ap)
{
	e->kind = kind;
	e->sys = sys;
	int n = vsnprintf(e->msg, sizeof(e->msg), fmt, ap);
	if (n < 0)
		e->msg[0] = '\0';
	return -1;
}

int err_sys(struct err *e, const char *fmt, ...)
{
	int sys = errno;
	va_list ap;
	va_start(ap, fmt);
	fill(e, ERR_HOST, sys, fmt, ap);
	va_end(ap);
	size_t at = strlen(e->msg);
	const char *text = strerrordesc_np(sys);
	snprintf(e->msg + at, sizeof(e->msg) - at, ": %s", text ? text : "unknown error");
	return -1;
}

int err_usage(struct err *e, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	fill(e, ERR_USAGE, 0, fmt, ap);
	va_end(ap);
	return -1;
}

int err_host(struct err *e, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	fill(e, ERR_HOST, 0, fmt, ap);
	va_end(ap);
	return -1;
}

int err_bug(struct err *e, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	fill(e, ERR_BUG, 0, fmt, ap);
	va_end(ap);
	return -1;
}

int err_wrap(struct err *e, const char *fmt, ...)
{
	char old[sizeof(e->msg)];
	memcpy(old, e->msg, sizeof(old));
	va_list ap;
	va_start(ap, fmt);
	fill(e, e->kind, e->sys, fmt, ap);
	va_end(ap);
	size_t at = strlen(e->msg);
	snprintf(e->msg + at, sizeof(e->msg) - at, ": %s", old);
	return -1;
}

/* Errors are values: who is to blame, the errno, and one sentence.
 *
 * A struct err holds no pointers, so that it crosses fork() and a socket as it
 * is. Functions that can fail return 0, -1 or an fd and take a struct err * as
 * their last parameter; on success they leave it alone, on failure they fill
 * it and leave every other output untouched. The message names the object and,
 * where there is a known way out, the way out; err_sys() adds strerror(errno). One that is too
 * long loses its middle, visibly (text_fit()).
 */
#ifndef PINFOLD_BASE_ERR_H
#define PINFOLD_BASE_ERR_H

#include <stdarg.h>

enum err_kind {
	ERR_NONE = 0,
	ERR_USAGE, /* the caller asked for something that is wrong: spec, flag, image path */
	ERR_HOST,  /* the host cannot give what was asked: kernel, permissions, resources */
	ERR_BUG,   /* ours */
};

struct err {
	enum err_kind kind;
	int sys;       /* errno at the failure, 0 if none */
	char msg[720]; /* room for all that is said of a guarantee */
};

#define ERR_INIT {.kind = ERR_NONE}

/* All return -1, so that `return err_sys(e, ...)` is the whole error path. They are
 * safe between clone and exec (no allocation, no stdio locks). e may not be NULL. */
int err_sys(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int err_usage(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int err_host(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int err_bug(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Put "prefix: " before the message that is there. Returns -1. */
int err_wrap(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif

/* Where the records of a run go: files, each record one append, and the host's syslog. See docs/audit.md. */
#ifndef PINFOLD_RUNTIME_AUDIT_H
#define PINFOLD_RUNTIME_AUDIT_H

#include "base/err.h"
#include "spec/audit.h"

#include <stdbool.h>
#include <stddef.h>

enum { AUDIT_PLACES = 2 }; /* the caller's and the host's */

struct audit_place {
	const char *where; /* a path, or "syslog"; borrowed */
	int fd;
};

struct audit {
	struct audit_place places[AUDIT_PLACES];
	size_t len; /* 0: nothing is recorded */
	struct audit_who who;
	bool started; /* the start is written */
	bool lost;    /* a record could not be written, which was told */
};
#define AUDIT_INIT {.len = 0}

/* Open one more place, a regular file (made 0600 if it is not there) or "syslog". The same again is
 * one. ERR_USAGE: the caller named it; ERR_HOST. */
int audit_open(struct audit *a, const char *where, struct err *e);

/* Write the record to every place; its time and who are filled in. -1 and *e: at least one could
 * not take it whole. Waits for nobody but, with patience_ms, for syslog. */
int audit_write(struct audit *a, struct audit_record *record, int patience_ms, struct err *e);

void audit_close(struct audit *a);
#define autoaudit __attribute__((cleanup(audit_close))) struct audit

#endif

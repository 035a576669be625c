/* A record of the audit, as plain values, and as one line of JSON (docs/audit.schema.json). Pure. */
#ifndef PINFOLD_SPEC_AUDIT_H
#define PINFOLD_SPEC_AUDIT_H

#include "spec/result.h"

#include <stdint.h>

enum audit_event { AUDIT_START, AUDIT_DENIED, AUDIT_LIMIT, AUDIT_END, AUDIT_EVENT_COUNT };
enum audit_kind { AUDIT_SYSCALL, AUDIT_INPUT, AUDIT_ARTIFACT, AUDIT_EGRESS, AUDIT_KIND_COUNT };

/* No text in a record is longer; what is loses its middle. */
enum { AUDIT_TEXT_BYTES = 512, AUDIT_TIME_BYTES = 32 };

struct audit_who {
	int64_t uid, gid, login_uid, pid, caller_pid; /* login_uid: NUM_UNKNOWN none */
};

struct audit_record {
	enum audit_event event;
	char time[AUDIT_TIME_BYTES]; /* RFC 3339 */
	struct audit_who who;
	const struct result *result; /* the run's id and digests; at the end all of it */
	const char *image;	     /* start, end: as it was given; NULL none */
	enum audit_kind kind;	     /* denied */
	const char *name;	     /* denied, limit */
	const char *reason;	     /* denied; "" or NULL none */
	const char *result_sha256;   /* end; NULL none */
};

/* With a newline at the end; malloc'ed. NULL: memory is out. */
char *audit_write_json(const struct audit_record *a);

#endif

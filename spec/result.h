/* The contract out: what happened, on what evidence, as plain values.
 *
 * A struct result is filled by runtime/ and turned into one JSON document
 * (docs/result.schema.json) by result_write_json(). Numbers that the host could
 * not give stay NUM_UNKNOWN and are written as null. Bytes that came from the
 * sandbox are text if valid UTF-8, else {"encoding":"base64","data":...}.
 */
#ifndef PINFOLD_SPEC_RESULT_H
#define PINFOLD_SPEC_RESULT_H

#include "base/err.h"
#include "spec/address.h"
#include "spec/guarantee.h"
#include "spec/transfer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NUM_UNKNOWN INT64_MIN

enum run_status {
	RUN_LOST, /* the value of a result that nobody filled: ours to explain */
	RUN_EXITED,
	RUN_SIGNALED,
	RUN_WALL_TIMEOUT,
	RUN_CPU_TIMEOUT,
	RUN_IDLE_TIMEOUT,
	RUN_OOM,
	RUN_OUTPUT_LIMIT,
	RUN_EGRESS_LIMIT,
	RUN_FOREIGN_ABI,
	RUN_CANCELLED,
	RUN_EXEC_FAILED,
	RUN_SETUP_FAILED,
	RUN_REFUSED,
	RUN_STATUS_COUNT,
};

/* One fact behind the cause: "memory.events.oom_group_kill" = 1, "signal" = "TERM". */
struct evidence {
	char key[48];
	char text[64];	/* used if not "" */
	int64_t number; /* else this */
};

struct stream_result {
	int64_t bytes;	 /* relayed */
	bool truncated;	 /* the program wrote more than was relayed */
	bool relayed;	 /* false: no such stream (stderr under --tty) */
	char sha256[65]; /* of what was relayed */
};

/* One system call that the filter denied and the notifier counted. */
struct denied_syscall {
	char name[32]; /* or "syscall_N" */
	int64_t count;
};

struct io_result {	 /* one line of io.stat */
	char device[24]; /* "8:0" */
	int64_t rbytes, wbytes, rios, wios;
};

struct pressure_result { /* the "some" and "full" totals of one *.pressure file, microseconds */
	int64_t some_usec, full_usec;
};

/* What became of one kind of attempt to leave, as often as it was made. */
enum egress_verdict {
	EGRESS_ALLOWED, /* a connection was made and relayed */
	EGRESS_DENIED,	/* no rule, or what came did not fit it */
	EGRESS_BROKEN,	/* allowed, but there was no connection to be had */
	EGRESS_VERDICT_COUNT,
};
/* By an address that was dialled, or by a question to the resolver. */
enum egress_route { EGRESS_BY_TCP, EGRESS_BY_UDP, EGRESS_BY_DNS, EGRESS_ROUTE_COUNT };
enum { EGRESS_NAME_BYTES = 256, EGRESS_REASON_BYTES = 384 };

struct egress_row {
	enum egress_verdict verdict;
	enum egress_route route;
	char name[EGRESS_NAME_BYTES]; /* "" is null: an address was dialled */
	const char *rule;	      /* NULL: none */
	bool others;		      /* all that found no row; what they were is not said */
	bool has_address;
	struct address address;
	uint16_t port;			  /* 0 is null */
	char reason[EGRESS_REASON_BYTES]; /* "" is null */
	int sys;			  /* errno of a connection that could not be made, 0 none */
	int64_t count, sent_bytes, received_bytes, duration_usec; /* of all of them */
};

/* Denied ones have a share of their own, so that a flood of them leaves room for the others; and of
 * these so have questions, as among the others have attempts that came to nothing. What finds no
 * room is in one row of each verdict and route, so that nothing is missing from the sums. */
enum {
	EGRESS_OWN_ROWS = 256,
	EGRESS_DENIED_ROWS = 128,
	EGRESS_CHEAP_ROWS = 64,
	EGRESS_ROWS_MAX = EGRESS_OWN_ROWS + EGRESS_VERDICT_COUNT * EGRESS_ROUTE_COUNT,
};

/* What became of one declared artifact. */
enum artifact_status {
	ARTIFACT_KEPT,
	ARTIFACT_REJECTED,
	ARTIFACT_PARTIAL, /* kept, but the run did not end by itself */
	ARTIFACT_STATUS_COUNT,
};

struct artifact_row {
	enum artifact_status status;
	enum artifact_type type;
	bool required;
	const char *path; /* below the scratch; of one that is missing the rule's */
	char reason[240]; /* "" is null */
	int64_t size;	  /* apparent; NUM_UNKNOWN: none was seen */
	char sha256[65];  /* "" is null */
	char file[256];	  /* its name in the artifacts folder, "" is null */
};

/* Those that are rejected have a share of their own, so that a flood of them leaves room for the others. */
enum { ARTIFACT_ROWS_MAX = 1536, ARTIFACT_REJECTED_ROWS = 512 };

enum { EVIDENCE_MAX = 24, DENIED_MAX = 96, WARNINGS_MAX = 16, IO_MAX = 8 };

struct result {
	char id[65];
	enum run_status status;
	int64_t exit_code; /* NUM_UNKNOWN: none */
	int64_t signal;	   /* number; NUM_UNKNOWN: none */

	struct {
		char limit[16];	   /* "memory", "wall", ...; "" is null */
		char stage[24];	   /* the step that failed; "" is null */
		char message[720]; /* "" is null */
		int sys;	   /* errno behind it, 0 none */
		struct evidence evidence[EVIDENCE_MAX];
		size_t evidence_len;
	} cause;

	struct {
		int64_t wall_usec, cpu_user_usec, cpu_system_usec;
		int64_t memory_peak_bytes;
		int64_t anon_bytes, file_bytes, shmem_bytes; /* at the end, before the kill */
		int64_t pids_peak;			     /* pid 1 not counted */
		int64_t scratch_bytes, scratch_inodes;
		struct io_result io[IO_MAX];
		size_t io_len;
		struct pressure_result cpu_pressure, memory_pressure, io_pressure;
	} usage;

	struct guarantee guarantees[G_COUNT];

	struct artifact_row *artifacts; /* ARTIFACT_ROWS_MAX of them; NULL: none was declared */
	size_t artifacts_len, artifacts_rejected;
	int64_t artifacts_more; /* that found no row, all of them rejected */
	bool artifact_missing;	/* a required one was not kept */

	struct egress_row *egress; /* EGRESS_ROWS_MAX of them; NULL: nothing was allowed to leave */
	size_t egress_len;

	struct stream_result out, err;
	struct denied_syscall denied[DENIED_MAX];
	size_t denied_len;
	int64_t denied_more;  /* denied calls counted but not named (table or budget full) */
	bool denied_complete; /* false: after the budget the counting stopped */

	char image_digest[80]; /* "" is null */
	char spec_sha256[65];  /* "" is null (bad usage) */
	char kernel[72];       /* uname release */
	char warnings[WARNINGS_MAX][200];
	size_t warnings_len;
};

/* Every field unknown, status RUN_LOST, every guarantee absent. */
void result_init(struct result *r);

void result_evidence_number(struct result *r, const char *key, int64_t number);
void result_evidence_text(struct result *r, const char *key, const char *text);
void result_warn(struct result *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Status, stage and message of a run that an error ended, with the errno as evidence. The status is
 * the caller's to choose: ERR_USAGE and an ERR_HOST before anything was started are RUN_REFUSED,
 * a later ERR_HOST and ERR_BUG RUN_SETUP_FAILED. */
void result_fail(struct result *r, enum run_status status, const char *stage, const struct err *e);

const char *run_status_name(enum run_status status);
/* exited with code 0, and every required artifact kept. */
bool result_ok(const struct result *r);
/* The exit code of `pinfold run`: the program's; 128+N; 124; 137; 126, 127; 125. exec-failed tells
 * 126 from 127 by cause.sys: ENOENT is 127, everything else 126. */
int result_exit_code(const struct result *r);

/* The document, indented by two, with a final newline; malloc'ed. NULL: memory is out. */
char *result_write_json(const struct result *r);

/* One line of --events, without indentation, with a final newline; malloc'ed. */
enum event_type {
	EVENT_QUEUED,
	EVENT_STARTED,
	EVENT_STAGE,
	EVENT_USAGE,
	EVENT_DENIED,
	EVENT_EGRESS,
	EVENT_ARTIFACT,
	EVENT_LIMIT,
	EVENT_ENDED
};
struct event {
	enum event_type type;
	int64_t at_usec;  /* since the start of pinfold */
	const char *id;	  /* the run's */
	const char *name; /* stage, limit or system call; NULL none */
	int64_t pid;	  /* started: pid 1 of the sandbox on the host; else NUM_UNKNOWN */
	int64_t cpu_usec, memory_bytes, pids; /* usage; NUM_UNKNOWN where it cannot be told */
	int64_t out_bytes, err_bytes;
	int64_t position;		     /* queued: 1 is the first in line */
	const struct egress_row *egress;     /* egress */
	const struct artifact_row *artifact; /* artifact */
	const struct result *result;	     /* ended */
};
char *event_write_json(const struct event *ev);

#endif

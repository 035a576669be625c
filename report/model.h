/* What a page tells: the documents as they were read, nothing judged yet.
 *
 * A text that a document does not tell has at NULL, a number is NUM_UNKNOWN. All memory is the
 * arena's of who reads. A report is a list of stages; that of one run has one, and no job.
 */
#ifndef PINFOLD_REPORT_MODEL_H
#define PINFOLD_REPORT_MODEL_H

#include "base/arena.h"
#include "base/err.h"
#include "report/html.h"
#include "spec/result.h"

struct guarantee_told {
	struct bytes name, requested, state, by, value;
	struct bytes *not_covered;
	size_t not_covered_len;
};

struct denied_told {
	struct bytes name;
	int64_t count;
};

struct egress_told {
	struct bytes name, rule, transport, address, verdict, reason, error;
	int64_t port, count, sent, received, duration_usec;
};

/* What of an artifact can be shown. */
enum preview_kind { PREVIEW_NONE, PREVIEW_TEXT, PREVIEW_IMAGE };
struct preview {
	enum preview_kind kind;
	const char *why_not; /* NULL: nobody asked, or there is one */
	struct bytes data;   /* the head of a text; a whole PNG */
	bool cut;
};

struct artifact_told {
	struct bytes path, status, reason, type, sha256, file;
	int64_t size;
	bool required;
	struct preview preview;
};

/* A name with a text or a number: evidence, and i/o by device (four numbers). */
struct fact_told {
	struct bytes name, text;
	int64_t number, more[3];
};

struct stream_told {
	bool there; /* false: no such stream */
	int64_t bytes;
	bool truncated;
	struct bytes sha256;
};

struct pressure_told {
	int64_t some_usec, full_usec;
};

/* One look of --events at what the run uses, and something that happened. */
enum { USE_CPU_USEC, USE_MEMORY, USE_PIDS, USE_STDOUT, USE_STDERR, USE_COUNT };
struct sample {
	int64_t at_usec;
	int64_t use[USE_COUNT];
};
struct moment {
	int64_t at_usec;
	struct bytes event, name;
};

struct run_told {
	struct bytes id, status;
	bool ok;
	int64_t code, signal;
	struct bytes limit, stage, message;
	struct fact_told *evidence;
	size_t evidence_len;

	int64_t wall_usec, user_usec, system_usec, memory_peak, anon, file, shmem;
	int64_t pids_peak, scratch_bytes, scratch_inodes;
	struct fact_told *io;
	size_t io_len;
	struct pressure_told pressure_cpu, pressure_memory, pressure_io;

	struct guarantee_told *guarantees;
	size_t guarantees_len;
	struct stream_told out, err;
	struct artifact_told *artifacts;
	size_t artifacts_len;
	int64_t artifacts_more;
	struct egress_told *egress;
	size_t egress_len;
	struct denied_told *denied;
	size_t denied_len;
	int64_t denied_more;
	bool denied_complete;
	struct bytes digest, spec_sha256, kernel, version;
	struct bytes *warnings;
	size_t warnings_len;

	/* Of the events. */
	bool has_events;
	struct sample *samples;
	size_t samples_len;
	struct moment *moments;
	size_t moments_len;
	int64_t started_usec;		/* NUM_UNKNOWN: never */
	size_t lines_bad, lines_passed; /* that are no event, and that found no room */
};

/* ---- jobs ---- */

struct value_told {
	struct bytes name, value;
};

struct handed_told {
	struct bytes path, digest;
	int64_t bytes;
};

/* What an analyser found, or a compiler said: tool, detail and waived are an analyser's alone. */
struct finding_told {
	struct bytes severity, code, file, message, detail, tool, waived;
	int64_t line, column;
};

/* Of a run's report: run alone. */
struct stage_told {
	struct bytes name, kind, configuration, state, message;
	struct value_told *set;
	size_t set_len;
	bool ok;
	struct bytes cache, cache_key, cache_reason;
	struct handed_told *outputs;
	size_t outputs_len;
	struct bytes folder; /* of --artifacts-dir */
	bool has_diagnostics;
	struct finding_told *diagnostics;
	size_t diagnostics_len;
	bool has_run; /* false: it was not begun, or there is no result of it */
	struct run_told run;
};

struct source_told {
	bool there;
	struct bytes kind, from, ref, commit, archive_digest, trust, digest;
	int64_t bytes;
};

struct waiver_told {
	struct bytes id, path, reason;
	int64_t used;
};

enum { COUNT_ERROR, COUNT_WARNING, COUNT_NOTE, COUNT_WAIVED, COUNTS };
struct analysis_told {
	bool there, complete;
	struct bytes gate;
	int64_t counts[COUNTS];
	struct finding_told *findings;
	size_t findings_len;
	struct waiver_told *waivers;
	size_t waivers_len;
};

enum { COST_WALL, COST_CPU, COST_MEMORY, COST_SCRATCH, COST_ROWS };
enum { SHARED_CPU, SHARED_WALL, SHARED_MEMORY, SHARED_RUNS, SHARED_ROWS };
/* A number that need not be a whole one. */
struct real_told {
	bool there;
	double value;
};
struct estimate_told {
	int64_t value, low, high;
	struct bytes method;
};
struct point_told {
	struct bytes configuration;
	struct real_told scale;
	int64_t measured[COST_ROWS];
};
struct cost_told {
	bool there, estimated, has_approved, has_measured, has_reserved, has_settled;
	struct real_told scale;
	struct point_told *points;
	size_t points_len;
	struct estimate_told estimate[COST_ROWS];
	int64_t approved[COST_ROWS], measured[COST_ROWS];
	int64_t reserved[SHARED_ROWS], settled[SHARED_ROWS];
	struct bytes by;
	struct bytes *over;
	size_t over_len;
};

struct job_told {
	struct bytes id, name, status, stage, message;
	bool ok;
	struct source_told source;
	struct analysis_told analysis;
	struct cost_told cost;
	int64_t wall_usec, stages_usec;
	struct bytes kernel, version;
	struct bytes *warnings;
	size_t warnings_len;
	bool has_events;
	size_t lines_bad; /* of the events, that are of no stage or no event at all */
};

struct report {
	struct job_told *job; /* NULL: of one run */
	struct stage_told *stages;
	size_t stages_len;
};

#endif

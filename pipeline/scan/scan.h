/* Static analysis before anything runs: findings, what waives them, and whether a gate lets them through.
 *
 * What is promised, and how it can be broken, is docs/scan.md's. In short: a finding is advice, the
 * sandbox is the wall. This header is what a job needs of the scanner: it runs pinfold-scan, reads the
 * SARIF that it or another analyser wrote, and asks the gate. Nothing here knows tree-sitter.
 *
 * Strings of a finding are the arena's. What comes from a stranger is any bytes but NUL, cut to the
 * sizes of wire.h; whoever prints it escapes it.
 */
#ifndef PINFOLD_PIPELINE_SCAN_SCAN_H
#define PINFOLD_PIPELINE_SCAN_SCAN_H

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum scan_severity { SCAN_NOTE, SCAN_WARNING, SCAN_ERROR, SCAN_SEVERITIES };

/* How a gate is named that lets everything through. */
enum { SCAN_GATE_NONE = SCAN_SEVERITIES };

const char *scan_severity_name(enum scan_severity s);
/* "note", "warning", "error". False: none of them. */
bool scan_severity_parse(const char *word, enum scan_severity *s);
/* The same, and "none" for SCAN_GATE_NONE. */
bool scan_gate_parse(const char *word, int *gate);

/* Why a finding does not count: given by whoever runs the job, for all of that id in the paths that
 * the pattern path matches (fnmatch(3); a '*' does not pass a '/'). */
struct scan_waiver {
	const char *id, *path, *reason;
	size_t used; /* how many findings it took out of the gate's sight */
};

struct scan_finding {
	const char *id;	     /* "python.process" */
	const char *path;    /* below the root; a member of an archive: "a.zip!/b/c.py" */
	const char *message; /* what the rule says */
	const char *detail;  /* what was found: "os.system"; "" */
	const char *sandbox; /* what it means for a sandbox; "" */
	const char *source;  /* the line, or the part of it around the place; "" */
	const char *host;    /* that it would connect to, as far as it is written there; "" */
	const char *tool;    /* another analyser's name; NULL: ours */
	enum scan_severity severity;
	/* From 1; 0: the file as a whole. Columns count characters. The end is behind the last one. */
	uint32_t line, column, end_line, end_column;
	uint32_t caret, caret_len; /* of the place, in the bytes of source */
	const struct scan_waiver *waived;
};

enum { SCAN_FINDINGS_MAX = 20000 };

struct scan_findings {
	struct arena *arena; /* borrowed */
	struct scan_finding *at;
	size_t len, room;
	bool cut; /* there were more than SCAN_FINDINGS_MAX */
};

/* A copy of f with its strings. What is over SCAN_FINDINGS_MAX is dropped, and cut is set. */
void scan_add(struct scan_findings *all, const struct scan_finding *f);
/* By path, place and id, with what stands twice taken out: the worst of it stays. */
void scan_sort(struct scan_findings *all);
void scan_free(struct scan_findings *all);

struct scan_waivers {
	struct scan_waiver *at;
	size_t len;
};

enum { SCAN_WAIVERS_MAX = 1000 };

/* [{"id": "...", "path": "...", "reason": "..."}]. All three are required, and none may be empty:
 * a waiver without a reason is refused. ERR_USAGE says where it is wrong. */
int scan_waivers_read(const char *text, size_t len, struct arena *a, struct scan_waivers *w,
		      struct err *e);

struct scan_verdict {
	bool stop;
	size_t counts[SCAN_SEVERITIES]; /* of what is not waived */
	size_t waived;
};

/* Mark what is waived, count the rest; stop: something of at least that severity (an enum
 * scan_severity or SCAN_GATE_NONE) is left, or findings were dropped and there is a gate at all. */
struct scan_verdict scan_gate(struct scan_findings *all, struct scan_waivers *w, int gate);

/* The text of a SARIF 2.1.0 log, malloc'ed; NULL when memory is out. */
struct scan_report {
	const struct scan_findings *findings;
	const struct scan_waivers *waivers;
	const struct scan_verdict *verdict;
	int gate;
};
char *scan_sarif_write(const struct scan_report *r);

enum {
	SARIF_BYTES_MAX = 32 << 20,
	SARIF_DEPTH_MAX = 64,
};

/* The results of every run of a log, ours or another analyser's, added to *to. Levels are
 * severities: error, warning and note; "none" is passed over. Suppressions are not heeded: in
 * source code whoever wrote the code has written them, and a gate's waivers are given to the gate.
 * ERR_USAGE: it is no SARIF, or too large or deep. */
int scan_sarif_read(const char *text, size_t len, struct scan_findings *to, struct err *e);

#endif

/* What a compiler, an interpreter or a shell said, as rows: where, how bad, which rule, what.
 *
 * Pure: bytes in, values out; no system call, no memory of its own. Any bytes give rows or none, in
 * one pass and in time that grows with their number alone; what is read of a line, how many rows
 * there are and how long their texts are is bounded here. Nothing in a row is to be believed: a
 * program may print what its compiler would. Run it in a jail all the same (diagnostics_jailed()),
 * as the bytes are a stranger's; a row is plain values, so that it crosses the pipe.
 */
#ifndef PINFOLD_PIPELINE_DIAGNOSTICS_DIAGNOSTICS_H
#define PINFOLD_PIPELINE_DIAGNOSTICS_DIAGNOSTICS_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	DIAGNOSTICS_MAX = 64,		  /* rows; what comes after them is counted */
	DIAGNOSTICS_BYTES_MAX = 4 << 20,  /* of a stream; the rest is not read */
	DIAGNOSTICS_LINE_MAX = 64 << 10,  /* of a line; the rest of it is passed over */
	DIAGNOSTICS_NUMBER_MAX = 1 << 24, /* a line or column beyond it is none */
};

enum severity { SEVERITY_NOTE, SEVERITY_WARNING, SEVERITY_ERROR, SEVERITIES };

/* "note", "warning", "error": also the levels of SARIF. */
extern const char *const severity_names[SEVERITIES];

/* Whose words. */
enum diagnostics_kind {
	DIAGNOSTICS_GCC,    /* gcc, g++, clang, their linkers */
	DIAGNOSTICS_PYTHON, /* tracebacks, SyntaxError, warnings */
	DIAGNOSTICS_MCS,    /* Mono's C# compiler; unhandled exceptions of Mono */
	DIAGNOSTICS_JAVAC,  /* javac; uncaught exceptions of a JVM */
	DIAGNOSTICS_NODE,   /* node, and tsc in both of its forms */
	DIAGNOSTICS_RUSTC,  /* for people, short, or JSON, cargo's too; panics */
	DIAGNOSTICS_GO,	    /* go build, go vet; panics */
	DIAGNOSTICS_SHELL,  /* bash, dash, busybox: syntax and run time */
	DIAGNOSTICS_KINDS,
};

/* "gcc", "python", "mcs", "javac", "node", "rustc", "go", "shell". */
extern const char *const diagnostics_kind_names[DIAGNOSTICS_KINDS];
/* -1: none of them. */
int diagnostics_kind_of(const char *name);

/* Texts are NUL-terminated, without control characters and escape sequences; other bytes are as
 * they came, UTF-8 or not. What is too long lost its middle (base/text.h). */
struct diagnostic {
	char file[256];	 /* as the tool names it; "": none */
	uint32_t line;	 /* 0: none */
	uint32_t column; /* from 1, in the tool's own units; 0: none */
	enum severity severity;
	char code[64];	   /* "-Wunused-variable", "CS0103", "E0425", "SyntaxError"; "": none */
	char message[512]; /* never empty */
};

struct diagnostics {
	struct diagnostic rows[DIAGNOSTICS_MAX];
	uint32_t len;
	uint32_t seen[SEVERITIES]; /* of each, with those beyond the last row */
	bool cut;		   /* there were more bytes than were read */
};

/* The rows in these bytes. Overwrites *to. */
void diagnostics_read(struct diagnostics *to, enum diagnostics_kind kind, const char *bytes,
		      size_t len);

/* The same in a jailed child (runtime/jail.h), of what can be read from fd to its end, from offset
 * 0 where it is a file. fd is borrowed; nothing is written. On failure -1, *e says how the reader
 * died, *to is untouched. */
int diagnostics_jailed(struct diagnostics *to, enum diagnostics_kind kind, int fd, struct err *e);

/* Whether each value is one, for who has them from a jail. 0, or ERR_BUG. */
int diagnostics_check(const struct diagnostics *d, struct err *e);

#endif

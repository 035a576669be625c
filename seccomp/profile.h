/* A custom filter: an OCI or Docker profile, read, compiled, cached. Internal to this room. */
#ifndef PINFOLD_SECCOMP_PROFILE_H
#define PINFOLD_SECCOMP_PROFILE_H

#include "seccomp/policy.h"
#include "seccomp/seccomp.h"
#include "spec/locate.h"

#include <seccomp.h>
#include <stdbool.h>

enum {
	PROFILE_BYTES_MAX = 4 * 1024 * 1024,
	PROFILE_NAMES_MAX = 16384, /* names in all rows */
	PROFILE_WARNINGS_MAX = 6,  /* of each kind one */
	PROFILE_WARNING_SIZE = 200,
};

/* One row that applies here; the conditions must all hold. */
struct profile_row {
	const char *const *names;
	size_t names_len;
	uint32_t action; /* SCMP_ACT_* */
	struct scmp_arg_cmp args[6];
	unsigned int args_len;
	size_t index; /* in the file's "syscalls" */
};

struct profile_warnings {
	char text[PROFILE_WARNINGS_MAX][PROFILE_WARNING_SIZE];
	size_t len;
};

struct profile {
	const char *name; /* the file, fit for a message */
	struct json_text text;
	uint32_t default_action;
	struct profile_row *rows;
	size_t rows_len;
};

/* What a profile is read and compiled for, and where its warnings go. */
struct profile_context {
	uint32_t arch;		/* AUDIT_ARCH_* */
	char kernel[65];	/* uname's release */
	enum policy_switch off; /* these are off and so forbid a call more */
	struct arena *arena;
	struct profile_warnings warnings;
};

/* BPF that is the profile's: EPERM for a foreign ABI, no listener. */
struct profile_code {
	struct sock_filter *insns; /* the arena's */
	unsigned short len;
};

void profile_warn(struct profile_warnings *w, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* profile_json.c. The caller has set p->name and p->text, which must outlive p; the rows are the
 * arena's. ERR_USAGE: NAME:LINE:COLUMN: what is wrong. */
int profile_read(struct profile *p, struct profile_context *c, struct err *e);

/* profile_reader.c. Where in the file the row begins. */
void profile_row_position(const struct profile *p, const struct profile_row *row, size_t *line,
			  size_t *column);

/* profile_compile.c. */
int profile_compile(struct profile_code *code, const struct profile *p, struct profile_context *c,
		    struct err *e);

/* profile_cache.c. The folder, made with its parents if it is not there: ours alone, or not used
 * (-1). One that cannot be made is no fault of anybody's, and *e stays empty. */
int cache_open(const char *path, struct err *e);
/* 1: *code and *w are there; 0: no entry, or one that is not whole. */
int cache_load(int dir, const char *key, struct profile_code *code, struct arena *a,
	       struct profile_warnings *w);
/* An entry is complete or not there. -1 and errno; the run does not need it. */
int cache_store(int dir, const char *key, const struct profile_code *code,
		const struct profile_warnings *w);

/* What filter_build() does where a profile is given. */
int profile_build(struct filter *f, const struct filter_options *o, struct arena *a,
		  struct result *r, struct err *e);

#endif

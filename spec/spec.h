/* The contract in: what the caller asked for, as one struct.
 *
 * Bytes (flags, JSON) become a struct spec once; from then on it is const. Every
 * string and array belongs to the arena that spec_init() was given. This room is
 * pure: no system call but memory. Sizes are bytes, times nanoseconds, as the
 * names say; LIMIT_NONE means no limit, 0 means zero (and is refused where that
 * makes no sense). Deny by default: what spec_init() leaves is the strictest run.
 */
#ifndef PINFOLD_SPEC_SPEC_H
#define PINFOLD_SPEC_SPEC_H

#include "base/arena.h"
#include "base/err.h"
#include "spec/egress.h"
#include "spec/guarantee.h"
#include "spec/transfer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LIMIT_NONE UINT64_MAX

/* The longest file of --spec. */
enum { SPEC_FILE_BYTES_MAX = 4 << 20 };

enum ids_mode { IDS_AUTO, IDS_SINGLE, IDS_RANGE };
enum proc_mode { PROC_OWN, PROC_OUTER };
enum on_exit_mode { ON_EXIT_KILL, ON_EXIT_WAIT };
enum priority { PRIORITY_NORMAL, PRIORITY_LOW };
enum stdin_kind { STDIN_NULL, STDIN_CALLER, STDIN_FILE };
enum image_kind { IMAGE_NONE, IMAGE_PATH, IMAGE_HOST, IMAGE_NAME };

struct limits {
	uint64_t memory_bytes;
	uint64_t cpus_milli; /* thousandths of a cpu: 1500 is one and a half */
	uint64_t pids;	     /* tasks of the program, pid 1 not counted */
	uint64_t wall_ns;
	uint64_t cpu_time_ns; /* user and system, the whole tree */
	uint64_t idle_ns;     /* no byte on stdin, stdout, stderr for so long */
	uint64_t scratch_bytes;
	uint64_t scratch_inodes;
	uint64_t output_bytes; /* each of stdout and stderr */
	uint64_t nofile;       /* 0: not given, the runtime chooses by the id mode (see keys.c) */
	uint64_t read_bps, write_bps, read_iops, write_iops;
	enum priority priority;
};

/* What leaves the sandbox, and to where. */
struct egress {
	struct egress_list allow; /* empty: nothing does */
	uint64_t bytes;		  /* both ways together, over the whole run */
	uint64_t connections;	  /* at once */
	uint64_t connect_ns;	  /* from the first bytes to a connection, the name included */
	uint64_t idle_ns;	  /* without a byte either way */
};

/* What independent runs of one user share; see docs/slots.md. */
struct slots {
	uint64_t count;	  /* 0: none asked for */
	const char *name; /* whose they are */
};
enum { SLOTS_COUNT_MAX = 512, SLOTS_NAME_MAX = 32 };

/* Whether a name that is not stored is pulled. */
enum pull_mode { PULL_NEVER, PULL_MISSING };

/* What commands/ found out of a stored image; not keys, and no part of the canonical JSON. */
struct stored_image {
	const char *tree;   /* where its tree is; NULL: it is none */
	const char *digest; /* its id */
	const char *user;   /* name of the program's id; NULL: pinfold's own choice */
	bool has_gid;	    /* gid counts; else it is the same number as the uid */
	uint32_t gid;
};

/* Who said what a key is: each has the last word over those before it. */
enum origin { ORIGIN_DEFAULT, ORIGIN_HOST, ORIGIN_USER, ORIGIN_FILE, ORIGIN_FLAG, ORIGIN_COUNT };

/* What the configuration files say beside defaults (config.c, pinfold-config(5)); no keys, and no
 * part of the canonical JSON. */
struct rules {
	const char *host_file;	     /* NULL: there is none */
	const char *user_file;	     /* NULL: there is none */
	const struct spec *ceilings; /* its given keys are the most a run may have; NULL none */
	uint64_t locked;   /* bit set of the rows of spec_keys[] that nobody else may set */
	const char *audit; /* the host's own, beside the run's; NULL none */
	const char *input_bases[2]; /* inputs must lie in each, the host's and the user's;
				       NULL-terminated where there are fewer */
	const char **sensitive; /* no input may come from these, beside the built-in ones; NULL-terminated */
	size_t sensitive_len;
};

struct spec {
	struct arena *arena;

	enum image_kind image_kind;
	const char *image;	    /* as given */
	struct stored_image stored; /* of an IMAGE_NAME that is in the store */
	const char **command;	    /* NULL-terminated, at least one word */
	size_t command_len;

	struct limits limits;
	struct egress egress;

	struct input_list inputs;	/* both kinds, in the order given */
	struct artifact_list artifacts; /* of two that match one file the first counts */
	const char *artifacts_dir;	/* NULL: none */

	enum ids_mode ids;
	uint32_t uid; /* the program's, inside; its gid is the same number, unless a stored image's User says more */
	enum pull_mode pull;
	enum proc_mode proc;
	enum on_exit_mode on_exit;
	struct slots slots;
	uint64_t slots_memory_bytes; /* of all that hold a slot together */
	uint64_t queue_ns;	     /* how long a run waits for its turn */
	uint64_t grace_ns;
	const char *cgroup_parent; /* NULL: the ladder of cgroup/ decides */
	const char *seccomp_file;  /* NULL: the default filter */
	uint64_t require; /* bit set of 1 << enum guarantee_id; REQUIRE_* groups are already resolved */
	uint64_t accept; /* the same; what of these is degraded is not mentioned on stderr */

	const char **env; /* NULL-terminated "K=V", names checked, sorted, each once: the later one won */
	size_t env_len;
	const char *workdir;  /* absolute, inside; "/scratch" by default */
	const char *hostname; /* inside */

	enum stdin_kind stdin_kind;
	const char *stdin_file;
	const char *stdout_file; /* NULL: relayed to the caller's */
	const char *stderr_file;
	bool tty; /* a terminal joined to the caller's; stdin is the caller's then, unless said otherwise */

	const char *result; /* NULL: none; a path, or "fd:N" */
	const char *events;
	const char *audit; /* NULL: none; a path, or "syslog" */
	const char *id;	   /* NULL: chosen at random */

	uint64_t given; /* bit set of the rows of spec_keys[] that were set, for defaults that depend on others */
	struct rules rules;
	enum origin speaking; /* whose words are being read */
	uint8_t origins[64];  /* enum origin of each row: who said so last */
	uint8_t sayers[64];   /* bit set of 1 << enum origin: of a row that adds up all that did */
};

/* Defaults, set by the same parser as everything else. The arena is borrowed and must
 * outlive the spec. */
int spec_init(struct spec *s, struct arena *a, struct err *e);

/* One key of the table with its textual value ("memory", "64M"). A repeatable key appends;
 * any other replaces. ERR_USAGE names the key, the value and what would be right. */
int spec_set(struct spec *s, const char *key, const char *value, struct err *e);

/* The image, classified by its spelling alone; the command, NULL-terminated, at least one word.
 * Words are borrowed for as long as the arena lives. ERR_USAGE as above. */
int spec_set_image(struct spec *s, const char *image, struct err *e);
int spec_set_command(struct spec *s, const char *const *words, size_t len, struct err *e);

/* The same keys as one JSON object (plus "image" and "command"; some are members of an object in it,
 * see keys.h): numbers and booleans where
 * they fit, text in the flags' form otherwise, arrays for repeatable keys. Unknown keys, wrong
 * types, duplicate keys: ERR_USAGE that begins with NAME:LINE:COLUMN. */
int spec_read_json(struct spec *s, const char *name, const char *text, size_t len, struct err *e);

/* A configuration file: {"defaults": {...}} and the rest of struct rules. who is ORIGIN_HOST or
 * ORIGIN_USER, which may say less. The defaults are set, the rules noted. Errors as with spec_read_json(). */
struct config_text {
	enum origin who;
	const char *name, *text; /* borrowed for the call */
	size_t len;
};
int spec_read_config(struct spec *s, const struct config_text *from, struct err *e);

/* The ceilings, once everybody has spoken: what is default, or the host's own, is lowered to them;
 * what anybody else said and is more is refused. */
int spec_apply_ceilings(struct spec *s, struct err *e);

/* "default", "host", "user", "spec", "flag". */
const char *origin_name(enum origin who);

/* The arguments of `run` and `explain` after the subcommand's name:
 * [FLAGS] IMAGE [--] COMMAND [ARG...]. Flags are "--key value", "--key=value" and bare "--tty";
 * they end at IMAGE. A flag overrides the file given by --spec whatever the order, so this calls
 * back for the file's text first. argv is borrowed for good (strings are not copied).
 * help_wanted: --help was there and nothing else counts.
 * On failure s->result, s->events and s->id are nevertheless what the words say, as far as they can
 * be read, so that a result can be written for bad usage too; and so are the other files, which
 * that result must not destroy. */
struct spec_args {
	/* Read the file NAME whole; text is the arena's. NULL where there are no files (tests). */
	int (*read_file)(struct arena *a, const char *name, char **text, size_t *len, struct err *e);
	/* Read the configuration files into the spec. NULL where there are none (tests). */
	int (*configure)(struct spec *s, struct err *e);
	const char *spec_file; /* set: the file of --spec, NULL none */
	bool help_wanted;
};
int spec_read_argv(struct spec *s, struct spec_args *args, int argc, char *const *argv,
		   struct err *e);

/* Whether the key whose field is at offset was set, or has its default. */
bool spec_given(const struct spec *s, size_t offset);

/* The program's group id, inside. */
static inline uint32_t spec_gid(const struct spec *s)
{
	return s->stored.has_gid ? s->stored.gid : s->uid;
}

/* What only the whole can tell: image and command are there, scratch is not larger than
 * memory, --tty does not meet --stdin FILE, and so on. */
int spec_check(const struct spec *s, struct err *e);

/* The spec as canonical JSON: every key, sorted, no white space, what spec_sha256 in the result
 * is taken over; text is malloc'ed. NULL when memory is out. */
char *spec_write_json(const struct spec *s);

/* The same of what was said alone: image, command and the keys that are given. What
 * spec_read_json() makes of it over other defaults is what was asked for. */
char *spec_write_given(const struct spec *s);

/* Sizes "64M", "1.5G" (binary units K M G T, also KiB or kB spellings refused with a hint), times
 * "500ms", "2s", "5m", "1h" -- a bare number is refused for times, bytes for sizes; "none" gives
 * LIMIT_NONE. Overflow, NaN, exponent forms, signs, trailing bytes: ERR_USAGE. */
int spec_parse_size(const char *text, uint64_t *bytes, struct err *e);
int spec_parse_time(const char *text, uint64_t *ns, struct err *e);

#endif

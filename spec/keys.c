#include "spec/keys.h"

#include <string.h>

#define AT(field) offsetof(struct spec, field)
#define KIB	  (1ULL << 10)
#define MIB	  (1ULL << 20)
#define NS_MAX	  ((uint64_t)INT64_MAX)
#define NUM_MAX	  ((uint64_t)INT64_MAX)

static const char *const priority_words[] = {"normal", "low", NULL};
static const char *const ids_words[] = {"auto", "single", "range", NULL};
static const char *const proc_words[] = {"own", "outer", NULL};
static const char *const on_exit_words[] = {"kill", "wait", NULL};
static const char *const pull_words[] = {"never", "missing", NULL};

const char *const key_group_titles[GROUP_COUNT] = {
	[GROUP_LIMITS] = "Limits",
	[GROUP_NETWORK] = "Network",
	[GROUP_INSIDE] = "Inside the sandbox",
	[GROUP_TRANSFER] = "Files in and out",
	[GROUP_STREAMS] = "Input and output",
	[GROUP_RESULT] = "Result",
	[GROUP_RUN] = "Guarantees and end of life",
};

/* The bounds are the kernel's where it has some:
 *  memory	a leaf below 1 MiB cannot even start a program;
 *  cpus	cpu.max takes no quota below 1 ms, and the period is 100 ms;
 *  pids	pids.max takes no more than PID_MAX_LIMIT, pid 1 of the sandbox included;
 *  scratch	tmpfs takes size=0 and nr_inodes=0 for "no limit", so a zero must never reach it,
 *		and its fixed folders want some inodes;
 *  nofile	fds 0 to 2 and one to load a library with; fs.nr_open is 2^20 unless raised;
 *  *-bps	io.max refuses 0.
 */
const struct key spec_keys[] = {
	{"memory", KEY_SIZE, GROUP_LIMITS, AT(limits.memory_bytes), "512M", .min = MIB,
	 .max = NUM_MAX, .placeholder = "SIZE",
	 .help = "memory of the whole sandbox, its files in the scratch included; swap is off"},
	{"cpus", KEY_CPUS, GROUP_LIMITS, AT(limits.cpus_milli), "1", .min = 10, .max = 8192000,
	 .placeholder = "N", .help = "processors it may use; 0.5 is half of one"},
	{"pids", KEY_COUNT, GROUP_LIMITS, AT(limits.pids), "256", .min = 1, .max = 4194303,
	 .placeholder = "N", .help = "processes and threads at once"},
	{"wall", KEY_TIME, GROUP_LIMITS, AT(limits.wall_ns), "60s", .min = 1, .max = NS_MAX,
	 .placeholder = "TIME", .help = "time that may pass until everything is killed"},
	{"cpu-time", KEY_TIME, GROUP_LIMITS, AT(limits.cpu_time_ns), "none", .min = 1,
	 .max = NS_MAX, .placeholder = "TIME", .help = "processor time of all processes together"},
	{"idle", KEY_TIME, GROUP_LIMITS, AT(limits.idle_ns), "none", .min = 1, .max = NS_MAX,
	 .placeholder = "TIME", .help = "time without a byte on stdin, stdout or stderr"},
	{"scratch", KEY_SIZE, GROUP_LIMITS, AT(limits.scratch_bytes), "256M", .min = 64 * KIB,
	 .max = NUM_MAX, .placeholder = "SIZE",
	 .help = "bytes in the one writable place: /scratch, /tmp, /dev/shm, /run (at most the memory)"},
	{"scratch-inodes", KEY_COUNT, GROUP_LIMITS, AT(limits.scratch_inodes), "65536", .min = 16,
	 .max = UINT32_MAX, .placeholder = "N", .help = "files and folders in the writable place"},
	{"output", KEY_SIZE, GROUP_LIMITS, AT(limits.output_bytes), "16M", .min = 0, .max = NUM_MAX,
	 .placeholder = "SIZE", .help = "bytes on stdout and on stderr, each; more ends the run"},
	{"nofile", KEY_COUNT, GROUP_LIMITS, AT(limits.nofile), NULL, .min = 4, .max = 1048576,
	 .no_none = true, .placeholder = "N",
	 .help = "open files of a process (not given: 1024, or 256 with a single id)"},
	{"read-bps", KEY_RATE, GROUP_LIMITS, AT(limits.read_bps), "none", .min = 1, .max = NUM_MAX,
	 .placeholder = "SIZE", .help = "bytes read from disk in a second"},
	{"write-bps", KEY_RATE, GROUP_LIMITS, AT(limits.write_bps), "none", .min = 1,
	 .max = NUM_MAX, .placeholder = "SIZE", .help = "bytes written to disk in a second"},
	{"read-iops", KEY_COUNT, GROUP_LIMITS, AT(limits.read_iops), "none", .min = 1,
	 .max = UINT32_MAX - 1, .placeholder = "N", .help = "reads from disk in a second"},
	{"write-iops", KEY_COUNT, GROUP_LIMITS, AT(limits.write_iops), "none", .min = 1,
	 .max = UINT32_MAX - 1, .placeholder = "N", .help = "writes to disk in a second"},
	{"priority", KEY_ENUM, GROUP_LIMITS, AT(limits.priority), "normal", .words = priority_words,
	 .placeholder = "low|normal", .help = "share of busy processors beside other work"},

	{"allow", KEY_ALLOW, GROUP_NETWORK, AT(egress.allow), NULL, .placeholder = "RULE",
	 .object = "egress", .member = "allow",
	 .help = "what it may connect to: NAME:PORT, *.NAME:PORT, ADDRESS/BITS:PORT; nothing else "
		 "leaves (repeatable)"},
	{"egress-bytes", KEY_SIZE, GROUP_NETWORK, AT(egress.bytes), "none", .min = 1,
	 .max = NUM_MAX, .placeholder = "SIZE", .object = "egress", .member = "bytes",
	 .help = "bytes to and from what is allowed, together; more ends the run"},
	{"egress-connections", KEY_COUNT, GROUP_NETWORK, AT(egress.connections), "64", .min = 1,
	 .max = EGRESS_CONNECTIONS_MAX, .no_none = true, .placeholder = "N", .object = "egress",
	 .member = "connections", .help = "connections at once; 64 more wait for a place"},
	{"egress-connect-timeout", KEY_TIME, GROUP_NETWORK, AT(egress.connect_ns), "10s", .min = 1,
	 .max = NS_MAX, .no_none = true, .placeholder = "TIME", .object = "egress",
	 .member = "connect-timeout",
	 .help = "time to find a name's addresses and be connected to one of them"},
	{"egress-idle", KEY_TIME, GROUP_NETWORK, AT(egress.idle_ns), "5m", .min = 1, .max = NS_MAX,
	 .placeholder = "TIME", .object = "egress", .member = "idle",
	 .help = "time without a byte either way until a connection is cut"},

	{"ids", KEY_ENUM, GROUP_INSIDE, AT(ids), "auto", .words = ids_words,
	 .placeholder = "auto|single|range",
	 .help = "map one user id, or a range of them (newuidmap and /etc/subuid, or root)"},
	{"uid", KEY_UID, GROUP_INSIDE, AT(uid), "1000", .min = 0, .max = 65535, .no_none = true,
	 .placeholder = "N",
	 .help = "user and group id of the program inside; 0 has no powers either"},
	{"hostname", KEY_HOSTNAME, GROUP_INSIDE, AT(hostname), "pinfold", .placeholder = "NAME",
	 .help = "name of the machine that the program sees"},
	{"workdir", KEY_WORKDIR, GROUP_INSIDE, AT(workdir), "/scratch", .placeholder = "DIR",
	 .help = "folder inside that the program starts in"},
	{"env", KEY_ENV, GROUP_INSIDE, AT(env), NULL, .placeholder = "NAME=VALUE",
	 .help = "one environment variable more; nothing is taken over from the caller's (repeatable)"},
	{"proc", KEY_ENUM, GROUP_INSIDE, AT(proc), "own", .words = proc_words,
	 .placeholder = "own|outer",
	 .help = "what /proc is; outer, where the host forbids one of its own, is degraded"},
	{"seccomp", KEY_PATH, GROUP_INSIDE, AT(seccomp_file), NULL, .placeholder = "FILE",
	 .help = "system call filter in the OCI format, instead of the default one"},

	{"input", KEY_INPUT, GROUP_TRANSFER, AT(inputs), NULL, .placeholder = "SRC[:DST[:unpack]]",
	 .object = "inputs", .member = "copy",
	 .help = "file or folder that is copied into /scratch before the program starts; with unpack, what is in an archive (repeatable)"},
	{"input-ro", KEY_INPUT_RO, GROUP_TRANSFER, AT(inputs), NULL,
	 .placeholder = "SRC[:DST[:unpack]]", .object = "inputs", .member = "read-only",
	 .help = "the same into /run/input, where the program cannot change it (repeatable)"},
	{"artifact", KEY_ARTIFACT, GROUP_TRANSFER, AT(artifacts), NULL,
	 .placeholder = "PATH[:max=SIZE][:type=TYPE][:schema=FILE][:files=N][:required]",
	 .object = "artifacts", .member = "collect",
	 .help = "file (or tree) below /scratch that is kept at the end; * ? [...] match names (repeatable)"},
	{"artifacts-dir", KEY_PATH, GROUP_TRANSFER, AT(artifacts_dir), NULL, .placeholder = "DIR",
	 .object = "artifacts", .member = "dir",
	 .help = "folder for what is kept, made with mode 0700 if it is not there"},

	{"stdin", KEY_STDIN, GROUP_STREAMS, AT(stdin_kind), "null", .placeholder = "FILE|-|null",
	 .help = "what the program reads: a file, the caller's stdin, or nothing"},
	{"stdout", KEY_PATH, GROUP_STREAMS, AT(stdout_file), NULL, .placeholder = "FILE",
	 .help = "file for its output, instead of the caller's stdout"},
	{"stderr", KEY_PATH, GROUP_STREAMS, AT(stderr_file), NULL, .placeholder = "FILE",
	 .help = "file for its errors, instead of the caller's stderr"},
	{"tty", KEY_BOOL, GROUP_STREAMS, AT(tty), "false",
	 .help = "a terminal of its own, joined to the caller's"},

	{"result", KEY_SINK, GROUP_RESULT, AT(result), NULL, .placeholder = "FILE|fd:N",
	 .help = "where the result document goes"},
	{"events", KEY_SINK, GROUP_RESULT, AT(events), NULL, .placeholder = "FILE|fd:N",
	 .help = "where events go while it runs, one JSON document a line"},
	{"audit", KEY_PATH, GROUP_RESULT, AT(audit), NULL, .placeholder = "FILE|syslog",
	 .help = "where records of who ran what are appended; where they cannot be, nothing is started"},
	{"id", KEY_ID, GROUP_RESULT, AT(id), NULL, .placeholder = "NAME",
	 .help = "name of the run, for ps, kill and the result (not given: chosen at random)"},

	{"require", KEY_REQUIRE, GROUP_RUN, AT(require), NULL, .placeholder = "NAME[,NAME...]",
	 .help = "guarantees that must be enforced in full, or nothing is started (repeatable)"},
	{"accept", KEY_REQUIRE, GROUP_RUN, AT(accept), NULL, .placeholder = "NAME[,NAME...]",
	 .help = "guarantees that may be degraded without a word on stderr; the result says it all the same (repeatable)"},
	{"pull", KEY_ENUM, GROUP_RUN, AT(pull), "never", .words = pull_words,
	 .placeholder = "never|missing",
	 .help = "what becomes of an image name that is not stored; missing pulls it"},
	{"slots", KEY_SLOTS, GROUP_RUN, AT(slots), "none", .placeholder = "N[:NAME]",
	 .help = "start only as one of N runs of yours that name the same, first come first served"},
	{"slots-memory", KEY_SIZE, GROUP_RUN, AT(slots_memory_bytes), "none", .min = MIB,
	 .max = NUM_MAX, .placeholder = "SIZE",
	 .help = "start only while the memory limits of all that run there fit into this"},
	{"queue", KEY_TIME, GROUP_RUN, AT(queue_ns), "none", .min = 0, .max = NS_MAX,
	 .placeholder = "TIME", .help = "time to wait for a slot; 0s does not wait"},
	{"on-exit", KEY_ENUM, GROUP_RUN, AT(on_exit), "kill", .words = on_exit_words,
	 .placeholder = "kill|wait",
	 .help = "what becomes of background processes when the program ends"},
	{"grace", KEY_TIME, GROUP_RUN, AT(grace_ns), "2s", .min = 0, .max = NS_MAX, .no_none = true,
	 .placeholder = "TIME", .help = "time between a forwarded signal and the kill"},
	{"cgroup-parent", KEY_PATH, GROUP_RUN, AT(cgroup_parent), NULL, .placeholder = "PATH",
	 .help = "cgroup to make the sandbox's in, instead of the first that works"},
};

const size_t spec_keys_len = sizeof(spec_keys) / sizeof(spec_keys[0]);

const struct key *key_find(const char *name)
{
	for (size_t i = 0; i < spec_keys_len; i++) {
		if (strcmp(spec_keys[i].name, name) == 0)
			return &spec_keys[i];
	}
	return NULL;
}

const char *key_member(const struct key *k)
{
	return k->member ? k->member : k->name;
}

const struct key *key_find_member(const char *object, const char *member)
{
	for (size_t i = 0; i < spec_keys_len; i++) {
		const struct key *k = &spec_keys[i];
		if (k->object && strcmp(k->object, object) == 0 &&
		    (!member || strcmp(k->member, member) == 0))
			return k;
	}
	return NULL;
}

bool key_is_early(const struct key *k)
{
	return k->group == GROUP_RESULT || k->type == KEY_STDIN ||
	       (k->type == KEY_PATH && !k->object);
}

bool key_repeatable(const struct key *k)
{
	return k->type == KEY_ENV || k->type == KEY_REQUIRE || k->type == KEY_ALLOW ||
	       k->type == KEY_INPUT || k->type == KEY_INPUT_RO || k->type == KEY_ARTIFACT;
}

enum { NAME_MAX_LEN = 24 };

static unsigned int least(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

/* Edits that turn a into b; two letters in the wrong order count as one. */
static unsigned int edits(const char *a, const char *b)
{
	unsigned int d[NAME_MAX_LEN + 1][NAME_MAX_LEN + 1];
	size_t la = strlen(a), lb = strlen(b);
	if (la > NAME_MAX_LEN || lb > NAME_MAX_LEN)
		return NAME_MAX_LEN;
	for (size_t i = 0; i <= la; i++)
		d[i][0] = (unsigned int)i;
	for (size_t j = 0; j <= lb; j++)
		d[0][j] = (unsigned int)j;
	for (size_t i = 1; i <= la; i++) {
		for (size_t j = 1; j <= lb; j++) {
			unsigned int change = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
			d[i][j] = least(change, least(d[i - 1][j], d[i][j - 1]) + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				d[i][j] = least(d[i][j], d[i - 2][j - 2] + 1);
		}
	}
	return d[la][lb];
}

bool word_is_near(const char *name, const char *word, unsigned int *distance)
{
	const unsigned int d = edits(name, word);
	/* Half of a short word changed is another word. */
	if (d >= *distance || d * 2 >= strlen(word))
		return false;
	*distance = d;
	return true;
}

const char *key_nearest(const char *name)
{
	static const char *const others[] = {"spec", "help", "image", "command"};
	const char *best = NULL;
	unsigned int distance = WORD_NEAR;
	for (size_t i = 0; i < spec_keys_len + sizeof(others) / sizeof(others[0]); i++) {
		const char *n = i < spec_keys_len ? spec_keys[i].name : others[i - spec_keys_len];
		if (word_is_near(name, n, &distance))
			best = n;
	}
	return best;
}

#include "spec/result.h"

#include "base/text.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const status_names[RUN_STATUS_COUNT] = {
	[RUN_LOST] = "lost",
	[RUN_EXITED] = "exited",
	[RUN_SIGNALED] = "signaled",
	[RUN_WALL_TIMEOUT] = "wall-timeout",
	[RUN_CPU_TIMEOUT] = "cpu-timeout",
	[RUN_IDLE_TIMEOUT] = "idle-timeout",
	[RUN_OOM] = "oom",
	[RUN_OUTPUT_LIMIT] = "output-limit",
	[RUN_EGRESS_LIMIT] = "egress-limit",
	[RUN_FOREIGN_ABI] = "foreign-abi",
	[RUN_CANCELLED] = "cancelled",
	[RUN_EXEC_FAILED] = "exec-failed",
	[RUN_SETUP_FAILED] = "setup-failed",
	[RUN_REFUSED] = "refused",
};

/* The exit codes of `pinfold run` that are not the program's; see env(1), timeout(1). */
enum {
	EXIT_OURS = 125,
	EXIT_CANNOT_EXECUTE = 126,
	EXIT_NOT_FOUND = 127,
	EXIT_LIMIT = 124,
	EXIT_OOM = 137
};

void result_init(struct result *r)
{
	*r = (struct result){
		.status = RUN_LOST,
		.exit_code = NUM_UNKNOWN,
		.signal = NUM_UNKNOWN,
		.usage = {.wall_usec = NUM_UNKNOWN,
			  .cpu_user_usec = NUM_UNKNOWN,
			  .cpu_system_usec = NUM_UNKNOWN,
			  .memory_peak_bytes = NUM_UNKNOWN,
			  .anon_bytes = NUM_UNKNOWN,
			  .file_bytes = NUM_UNKNOWN,
			  .shmem_bytes = NUM_UNKNOWN,
			  .pids_peak = NUM_UNKNOWN,
			  .scratch_bytes = NUM_UNKNOWN,
			  .scratch_inodes = NUM_UNKNOWN,
			  .cpu_pressure = {NUM_UNKNOWN, NUM_UNKNOWN},
			  .memory_pressure = {NUM_UNKNOWN, NUM_UNKNOWN},
			  .io_pressure = {NUM_UNKNOWN, NUM_UNKNOWN}},
		.out = {.bytes = NUM_UNKNOWN},
		.err = {.bytes = NUM_UNKNOWN},
	};
	for (int i = 0; i < G_COUNT; i++)
		guarantee_absent(&r->guarantees[i], "", "");
}

/* The same key again replaces the fact; NULL: no room is left. */
static struct evidence *evidence_row(struct result *r, const char *key)
{
	size_t i = 0;
	while (i < r->cause.evidence_len && strcmp(r->cause.evidence[i].key, key) != 0)
		i++;
	if (i == EVIDENCE_MAX)
		return NULL;
	if (i == r->cause.evidence_len)
		r->cause.evidence_len++;
	struct evidence *ev = &r->cause.evidence[i];
	*ev = (struct evidence){.number = NUM_UNKNOWN};
	text_fit(ev->key, sizeof(ev->key), key);
	return ev;
}

void result_evidence_number(struct result *r, const char *key, int64_t number)
{
	struct evidence *ev = evidence_row(r, key);
	if (ev)
		ev->number = number;
}

void result_evidence_text(struct result *r, const char *key, const char *text)
{
	struct evidence *ev = evidence_row(r, key);
	if (ev)
		text_fit(ev->text, sizeof(ev->text), text);
}

void result_warn(struct result *r, const char *fmt, ...)
{
	char text[1024]; /* a message of struct err, and words */
	if (r->warnings_len == WARNINGS_MAX) {
		text_fit(r->warnings[WARNINGS_MAX - 1], sizeof(r->warnings[0]),
			 "and more warnings, for which there is no room");
		return;
	}
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	text_fit(r->warnings[r->warnings_len++], sizeof(r->warnings[0]), text);
}

void result_fail(struct result *r, enum run_status status, const char *stage, const struct err *e)
{
	r->status = status;
	r->cause.limit[0] = '\0'; /* it may have been a limit until this failed */
	text_fit(r->cause.stage, sizeof(r->cause.stage), stage);
	text_fit(r->cause.message, sizeof(r->cause.message), e->msg);
	r->cause.sys = e->sys;
	const char *name = e->sys ? strerrorname_np(e->sys) : NULL;
	if (name)
		result_evidence_text(r, "errno", name);
}

const char *run_status_name(enum run_status status)
{
	return status_names[status];
}

bool result_ok(const struct result *r)
{
	return r->status == RUN_EXITED && r->exit_code == 0 && !r->artifact_missing;
}

static int by_signal(const struct result *r, int usual)
{
	return 128 + (r->signal == NUM_UNKNOWN ? usual : (int)r->signal);
}

int result_exit_code(const struct result *r)
{
	switch (r->status) {
	case RUN_EXITED:
		return r->exit_code == NUM_UNKNOWN ? EXIT_OURS : (int)r->exit_code;
	case RUN_SIGNALED:
		return by_signal(r, SIGKILL);
	case RUN_FOREIGN_ABI:
		return by_signal(r, SIGSYS);
	case RUN_CANCELLED:
		return by_signal(r, SIGTERM); /* never 0, even if the program ended well on it */
	case RUN_OOM:
		return EXIT_OOM;
	case RUN_WALL_TIMEOUT:
	case RUN_CPU_TIMEOUT:
	case RUN_IDLE_TIMEOUT:
	case RUN_OUTPUT_LIMIT:
	case RUN_EGRESS_LIMIT:
		return EXIT_LIMIT;
	case RUN_EXEC_FAILED:
		return r->cause.sys == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_EXECUTE;
	default:
		return EXIT_OURS;
	}
}

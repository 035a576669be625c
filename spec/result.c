#include "spec/result.h"

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

/* A text that filled its field was probably cut; half a character at its end would make all of it
 * base64 in the document. */
static void drop_half_character(char *text, size_t size)
{
	size_t len = strlen(text);
	size_t tail = 0;
	if (len + 1 < size)
		return;
	while (tail < len && tail < 3 && ((unsigned char)text[len - 1 - tail] & 0xc0) == 0x80)
		tail++;
	if (tail == len)
		return;
	unsigned char lead = (unsigned char)text[len - 1 - tail];
	size_t want = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : lead >= 0xc0 ? 1 : 0;
	if (tail < want)
		text[len - 1 - tail] = '\0';
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
	snprintf(ev->key, sizeof(ev->key), "%s", key);
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
	if (!ev)
		return;
	snprintf(ev->text, sizeof(ev->text), "%s", text);
	drop_half_character(ev->text, sizeof(ev->text));
}

void result_warn(struct result *r, const char *fmt, ...)
{
	if (r->warnings_len == WARNINGS_MAX)
		return;
	char *to = r->warnings[r->warnings_len++];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(to, sizeof(r->warnings[0]), fmt, ap);
	va_end(ap);
	drop_half_character(to, sizeof(r->warnings[0]));
}

void result_fail(struct result *r, enum run_status status, const char *stage, const struct err *e)
{
	r->status = status;
	r->cause.limit[0] = '\0'; /* it may have been a limit until this failed */
	snprintf(r->cause.stage, sizeof(r->cause.stage), "%s", stage);
	snprintf(r->cause.message, sizeof(r->cause.message), "%s", e->msg);
	drop_half_character(r->cause.message, sizeof(e->msg));
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
	return r->status == RUN_EXITED && r->exit_code == 0;
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

/* The validator: a child that has one file mapped and answers with one record. */
#include "runtime/collect.h"

#include "base/fd.h"
#include "runtime/confine.h"
#include "runtime/run.h"
#include "transfer/check.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	VALIDATOR_ID = 65532, /* of a slot, for root: nobody inside is it */
	DATA_BYTES = 256 << 20,
	CPU_SECONDS = 20,
	PATIENCE_MS = 60000,
};

struct answer {
	int rc;
	struct err err;
};

struct job {
	const struct artifact_rule *rule;
	const struct tree *schema;
	int file, to;
	uint32_t uid, gid;
	pid_t parent;
};

static int prepare(const struct job *j, struct checked *c, struct err *e)
{
	const struct rlimit cpu = {CPU_SECONDS, CPU_SECONDS};
	const struct confine_end jail = {.filter = &filter_validator,
					 .data_bytes = DATA_BYTES,
					 .files = 4};
	struct stat st;
	if (fstat(j->file, &st) < 0)
		return err_sys(e, "stat the file");
	c->len = (size_t)st.st_size;
	/* Before the jail shuts, which opens nothing: the file is ours alone, and changes no more. */
	c->bytes = c->len == 0 ? (const unsigned char *)""
			       : mmap(NULL, c->len, PROT_READ, MAP_PRIVATE, j->file, 0);
	if (c->bytes == MAP_FAILED)
		return err_sys(e, "map the file");
	close(j->file);
	if (setrlimit(RLIMIT_CPU, &cpu) < 0)
		return err_sys(e, "limit the cpu time");
	return confine_begin(j->uid, j->gid, e) < 0 ? -1 : confine_end(&jail, j->parent, e);
}

static _Noreturn void be_validator(const struct job *j)
{
	struct answer a = {.rc = -1, .err = ERR_INIT};
	struct checked c;
	int keep[] = {j->file, j->to};
	/* The descriptors have to be under what confine_end() leaves: nothing new is opened, so that any number will do. */
	if (fd_close_others(keep, 2) < 0)
		err_sys(&a.err, "close what the validator does not need");
	else if (prepare(j, &c, &a.err) == 0)
		a.rc = check_bytes(j->rule->type, &c, j->schema, &a.err);
	(void)!write(j->to, &a, sizeof(a));
	_exit(0);
}

/* Its answer, if one comes in time. */
static bool hear(const struct run *run, int from, struct answer *a)
{
	struct pollfd p[] = {{.fd = from, .events = POLLIN}, {.fd = run->signals, .events = POLLIN}};
	int ready;
	do {
		ready = poll(p, 2, PATIENCE_MS);
		if (ready > 0 && p[1].revents && told_to_stop(run->signals))
			return false;
	} while ((ready < 0 && errno == EINTR) || (ready > 0 && !p[0].revents));
	return ready > 0 && read(from, a, sizeof(*a)) == sizeof(*a);
}

static int judge(bool heard, struct answer *a, int status, struct err *why)
{
	if (!heard && WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL)
		return err_host(why, "its validator died of SIG%s", sigabbrev_np(WTERMSIG(status)));
	if (!heard)
		return err_host(why, "its validator took too long, or was told to stop");
	a->err.msg[sizeof(a->err.msg) - 1] = '\0';
	if (a->rc == 0)
		return 0;
	if (a->err.kind < ERR_USAGE || a->err.kind > ERR_BUG)
		return err_bug(why, "its validator gave no reason");
	*why = a->err;
	return -1;
}

int validate_file(struct run *run, const struct artifact_rule *rule, const struct tree *schema,
		  int fd, struct err *why)
{
	const struct ids *ids = &run->plan.launch.ids;
	struct clone_args args = {.exit_signal = 0};
	struct answer a = {.rc = -1};
	int ends[2], status = 0;
	if (pipe2(ends, O_CLOEXEC) < 0)
		return err_sys(why, "pipe");
	autoclose int from = ends[0];
	autoclose int to = ends[1];
	struct job j = {.rule = rule, .schema = schema, .file = fd, .to = to, .parent = getpid()};
	if (ids->form == IDS_FORM_SLOT) {
		j.uid = ids->uid_map[0].outside - ids->uid_map[0].inside + VALIDATOR_ID;
		j.gid = ids->gid_map[0].outside - ids->gid_map[0].inside + VALIDATOR_ID;
	}
	const pid_t pid = (pid_t)syscall(SYS_clone3, &args, sizeof(args));
	if (pid == 0)
		be_validator(&j);
	if (pid < 0)
		return err_sys(why, "fork its validator");
	fd_close(&to);
	const bool heard = hear(run, from, &a);
	if (!heard) {
		struct pollfd p = {.fd = from, .events = 0};
		if (poll(&p, 1, 0) == 0) /* it holds its end still */
			kill(pid, SIGKILL);
	}
	while (waitpid(pid, &status, __WALL) < 0 && errno == EINTR)
		;
	return judge(heard, &a, status, why);
}

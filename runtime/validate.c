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
	const struct validation *v;
	int to;
	uint32_t uid, gid;
	pid_t parent;
};

static int prepare(const struct job *j, struct checked *c, struct err *e)
{
	const struct confine_end jail = {.filter = &filter_validator,
					 .data_bytes = DATA_BYTES,
					 .files = 4,
					 .cpu_seconds = CPU_SECONDS};
	struct stat st;
	if (fstat(j->v->fd, &st) < 0)
		return err_sys(e, "stat the file");
	c->len = (size_t)st.st_size;
	/* Before the jail shuts, which opens nothing: the file is ours alone, and changes no more. */
	c->bytes = c->len == 0 ? (const unsigned char *)""
			       : mmap(NULL, c->len, PROT_READ, MAP_PRIVATE, j->v->fd, 0);
	if (c->bytes == MAP_FAILED)
		return err_sys(e, "map the file");
	close(j->v->fd);
	return confine_begin(j->uid, j->gid, e) < 0 ? -1 : confine_end(&jail, j->parent, e);
}

static _Noreturn void be_validator(const struct job *j)
{
	struct answer a = {.rc = -1, .err = ERR_INIT};
	struct checked c;
	int keep[] = {j->v->fd, j->to};
	/* The descriptors have to be under what confine_end() leaves: nothing new is opened, so that any number will do. */
	if (fd_close_others(keep, 2) < 0)
		err_sys(&a.err, "close what the validator does not need");
	else if (prepare(j, &c, &a.err) == 0)
		a.rc = check_bytes(j->v->rule->type, &c, j->v->schema, &a.err);
	(void)!write(j->to, &a, sizeof(a));
	_exit(0);
}

/* Its answer, if one comes in time and nobody tells us to stop. */
static bool hear(struct run *run, int from, int64_t most_ns, struct answer *a)
{
	const int64_t until_ns = now_ns() +
				 (most_ns < PATIENCE_MS * MS_NS ? most_ns : PATIENCE_MS * MS_NS);
	struct pollfd p[] = {{.fd = from, .events = POLLIN}, {.fd = run->signals, .events = POLLIN}};
	while (!run->told_to_stop && !p[0].revents) {
		const int64_t left_ns = until_ns - now_ns();
		if (left_ns <= 0 ||
		    (poll(p, 2, (int)((left_ns + MS_NS - 1) / MS_NS)) < 0 && errno != EINTR))
			return false;
		if (p[1].revents)
			told_to_stop(run);
	}
	return p[0].revents && read(from, a, sizeof(*a)) == sizeof(*a);
}

static int judge(const struct run *run, bool heard, struct answer *a, int status, struct err *why)
{
	if (!heard && WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL)
		return err_host(why, "its validator died of SIG%s", sigabbrev_np(WTERMSIG(status)));
	if (!heard && run->told_to_stop)
		return err_host(why, "pinfold was told to stop while it was looked at");
	if (!heard)
		return err_host(why, "its validator took too long");
	a->err.msg[sizeof(a->err.msg) - 1] = '\0';
	if (a->rc == 0)
		return 0;
	if (a->err.kind < ERR_USAGE || a->err.kind > ERR_BUG)
		return err_bug(why, "its validator gave no reason");
	*why = a->err;
	return -1;
}

int validate_file(struct run *run, const struct validation *v, struct err *why)
{
	const struct ids *ids = &run->plan.launch.ids;
	struct clone_args args = {.exit_signal = 0};
	struct answer a = {.rc = -1};
	int ends[2], status = 0;
	if (v->most_ns <= 0)
		return err_host(why, "those before it took all the time that validators may take");
	if (pipe2(ends, O_CLOEXEC) < 0)
		return err_sys(why, "pipe");
	autoclose int from = ends[0];
	autoclose int to = ends[1];
	struct job j = {.v = v, .to = to, .parent = getpid()};
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
	const bool heard = hear(run, from, v->most_ns, &a);
	struct pollfd p = {.fd = from, .events = 0};
	if (heard || poll(&p, 1, 0) == 0) /* it has no more to say, or holds its end still */
		kill(pid, SIGKILL);
	while (waitpid(pid, &status, __WALL) < 0 && errno == EINTR)
		;
	return judge(run, heard, &a, status, why);
}

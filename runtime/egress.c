#include "runtime/egress.h"

#include "base/fd.h"
#include "base/text.h"
#include "network/broker/protocol.h"
#include "runtime/run.h"
#include "runtime/sibling.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	REPORTS_AT_ONCE = 256, /* more than the queue of a socket holds */
	EVENTS_MAX = 2000,     /* of rows that are not new: who reads them must not be flooded */
	ROWS_AT_ONCE = 1000,   /* of one that is well: a row when it is new, and once a second */
	ROWS_A_SECOND = 300,
	BROKER_ID = 65533, /* of a slot, for root, or the one before: the program is another */
	END_MS = 1000,
};

static void broker_path(char *path, size_t size, const char *libexec)
{
	snprintf(path, size, "%s/pinfold-egress", libexec);
}

int egress_check(const char *libexec, struct err *e)
{
	char path[PATH_MAX];
	broker_path(path, sizeof(path), libexec);
	if (faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) == 0)
		return 0;
	return err_sys(e, "--allow needs %s, which `make install` puts there", path);
}

static bool wanted(const struct run *run)
{
	return run->spec->egress.allow.len > 0;
}

static int open_pair(int *a, int *b, struct err *e)
{
	int pair[2];
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return err_sys(e, "egress: socketpair");
	*a = pair[0];
	*b = pair[1];
	return 0;
}

int egress_open(struct run *run, struct err *e)
{
	if (!wanted(run) || run->plan.launch.rehearsal)
		return 0;
	if (!run->r->egress) /* a second attempt has them */
		run->r->egress = calloc(EGRESS_ROWS_MAX, sizeof(*run->r->egress));
	if (!run->r->egress)
		return err_host(e, "egress: out of memory");
	return open_pair(&run->plan.launch.egress, &run->egress.sandbox_end, e);
}

static int spawn_broker(struct egress_link *l, const char *libexec, struct err *e)
{
	char path[PATH_MAX];
	char *const argv[] = {path, NULL};
	const struct sibling_end ends[] = {{l->its_end, EGRESS_SUPERVISOR_FD},
					   {l->sandbox_end, EGRESS_SANDBOX_FD}};
	broker_path(path, sizeof(path), libexec);
	l->broker = sibling_spawn(path, argv, ends, e);
	return l->broker < 0 ? -1 : 0;
}

/* The socket's buffer takes the config and, unless there are hundreds, all rules; the broker reads
 * them as its first act. */
static int tell_rules(struct run *run, struct err *e)
{
	const struct egress *wish = &run->spec->egress;
	const struct ids *ids = &run->plan.launch.ids;
	struct egress_config c = {.size = sizeof(c),
				  .rules = (uint32_t)wish->allow.len,
				  .bytes = wish->bytes,
				  .connect_ns = wish->connect_ns,
				  .idle_ns = wish->idle_ns,
				  .connections = (uint32_t)wish->connections};
	if (ids->form == IDS_FORM_SLOT) {
		c.uid = ids->uid_map[0].outside - ids->uid_map[0].inside + BROKER_ID -
			(ids->uid == BROKER_ID);
		c.gid = ids->gid_map[0].outside - ids->gid_map[0].inside + BROKER_ID -
			(ids->gid == BROKER_ID);
	}
	if (fd_send(run->egress.sock, &c, sizeof(c), NULL, 0) < 0)
		return err_sys(e, "tell the egress broker its rules");
	for (size_t i = 0; i < wish->allow.len; i++) {
		const char *text = wish->allow.rules[i].text;
		if (fd_send(run->egress.sock, text, strlen(text), NULL, 0) < 0)
			return err_sys(e, "tell the egress broker its rules");
	}
	return 0;
}

int egress_start(struct run *run, struct err *e)
{
	struct egress_link *l = &run->egress;
	if (l->sandbox_end < 0)
		return 0;
	if (open_pair(&l->sock, &l->its_end, e) < 0 || spawn_broker(l, run->o->libexec, e) < 0)
		return -1;
	fd_close(&l->its_end);
	fd_close(&l->sandbox_end);
	return tell_rules(run, e);
}

bool egress_is_ready(const struct run *run)
{
	return run->egress.ready || !wanted(run) || run->plan.launch.rehearsal;
}

/* ---- what it says ---- */

static void store_row(struct run *run, const struct egress_report *in)
{
	struct egress_row *row = &run->r->egress[in->row];
	const struct egress_list *rules = &run->spec->egress.allow;
	*row = (struct egress_row){.verdict = (enum egress_verdict)in->verdict,
				   .route = (enum egress_route)in->route,
				   .others = in->others,
				   .rule = in->rule < rules->len ? rules->rules[in->rule].text : NULL,
				   .has_address = in->has_address,
				   .address = in->address,
				   .port = in->port,
				   .sys = in->sys,
				   .count = (int64_t)in->count,
				   .sent_bytes = (int64_t)in->sent_bytes,
				   .received_bytes = (int64_t)in->received_bytes,
				   .duration_usec = (int64_t)in->duration_usec};
	text_fit(row->name, sizeof(row->name), in->name);
	text_fit(row->reason, sizeof(row->reason), in->reason);
}

static bool says_what(const struct egress_report *in)
{
	return in->name[0] || in->reason[0] || in->rule != EGRESS_NO_RULE || in->has_address ||
	       in->port || in->sys;
}

/* Whatever the parser says is held against its range: it reads what the network says. A document's
 * numbers have 63 bits, those that are added up too, and what is told of happened. */
static bool is_in_range(const struct egress_report *in)
{
	const uint64_t sums[] = {in->count, in->sent_bytes, in->received_bytes, in->duration_usec};
	for (size_t i = 0; i < sizeof(sums) / sizeof(sums[0]); i++)
		if (sums[i] > INT64_MAX / EGRESS_ROWS_MAX)
			return false;
	if (*(const unsigned char *)&in->has_address > 1 || *(const unsigned char *)&in->others > 1)
		return false;
	return in->count > 0 && in->row < EGRESS_ROWS_MAX && in->verdict < EGRESS_VERDICT_COUNT &&
	       in->route < EGRESS_ROUTE_COUNT && !(in->others && says_what(in));
}

/* "name:port", "address:port", or the name that the resolver was asked for. */
static void audit_row(struct run *run, const struct egress_row *row)
{
	char what[EGRESS_NAME_BYTES + ADDRESS_TEXT_BYTES + 16], address[ADDRESS_TEXT_BYTES] = "";
	if (row->has_address)
		address_format(&row->address, address);
	snprintf(what, sizeof(what), row->port ? "%s%s%s:%u" : "%s%s%s", row->name,
		 row->name[0] && address[0] ? " " : "", address, row->port);
	run_audit(run, AUDIT_EGRESS, what, row->reason);
}

static bool take_row(struct run *run, struct egress_report *in)
{
	struct result *r = run->r;
	const int64_t seconds = run->started_ns ? (now_ns() - run->started_ns) / (1000 * MS_NS) : 0;
	if (run->egress.rows++ > ROWS_AT_ONCE + seconds * ROWS_A_SECOND)
		return false;
	in->name[sizeof(in->name) - 1] = in->reason[sizeof(in->reason) - 1] = '\0';
	if (in->row > r->egress_len || !is_in_range(in))
		return false;
	const bool is_new = in->row == r->egress_len;
	r->egress_len += is_new;
	store_row(run, in);
	if (is_new && in->verdict == EGRESS_DENIED && !in->others)
		audit_row(run, &r->egress[in->row]);
	/* What is new is always told: a program must not get rid of who looks on by repeating itself. */
	if (is_new || run->egress.events++ < EVENTS_MAX)
		run_event_egress(run, &r->egress[in->row]);
	return true;
}

static void limit_reached(struct run *run)
{
	end_by_limit(run, RUN_EGRESS_LIMIT, "egress",
		     "the program sent and received more than --egress-bytes allows");
}

static void on_broker_ready(struct run *run)
{
	run->egress.ready = true;
	if (run->egress.start_held)
		program_is_starting(run, fd_take(&run->egress.held_listener));
}

/* Nothing leaves any more, which is the promise; what was declared does not either. */
static void lose(struct run *run)
{
	if (run->phase >= PHASE_KILLED)
		return;
	result_warn(run->r, "the egress broker died: from then on the program had no network");
	ledger_egress_lost(run->r);
}

/* Its socket is at its end, so both of its processes are, or are about to be. */
static void reap(struct egress_link *l, int *status)
{
	pid_t got;
	*status = 0;
	do
		got = l->broker > 0 ? waitpid(l->broker, status, 0) : -1;
	while (got < 0 && l->broker > 0 && errno == EINTR);
	l->broker = -1;
}

static void gone(struct run *run)
{
	struct egress_link *l = &run->egress;
	struct err e = ERR_INIT;
	int status;
	fd_close(&l->sock);
	reap(l, &status);
	deadline_clear(&run->deadlines, DEADLINE_EGRESS);
	if (l->ready) {
		lose(run);
	} else if (run->phase < PHASE_KILLED) {
		if (WIFSIGNALED(status))
			err_host(&e, "the egress broker died before it was ready, by SIG%s",
				 sigabbrev_np(WTERMSIG(status)));
		else
			err_host(&e, "the egress broker died before it was ready");
		end_by_error(run, RUN_SETUP_FAILED, "egress", &e);
	}
}

static void take_report(struct run *run)
{
	struct egress_report in;
	const int got = fd_recv(run->egress.sock, &in, sizeof(in), NULL, NULL);
	if (got < 0 && errno == EAGAIN)
		return;
	if (got == 1 && in.type == EGRESS_ROW && take_row(run, &in))
		return;
	if (got == 1 && in.type == EGRESS_READY && !run->egress.ready) {
		on_broker_ready(run);
	} else if (got == 1 && in.type == EGRESS_LIMIT) {
		limit_reached(run);
	} else if (got == 1 && in.type == EGRESS_FAILED && !run->egress.ready) {
		in.err.msg[sizeof(in.err.msg) - 1] = '\0';
		refuse_or_fail(run, "egress", &in.err);
		kill_all(run);
	} else {
		/* Its end, or it is not itself. */
		if (got == 1)
			egress_kill(run);
		gone(run);
	}
}

static bool is_waiting(int sock)
{
	struct pollfd p = {.fd = sock, .events = POLLIN};
	return sock >= 0 && poll(&p, 1, 0) == 1;
}

/* As many as its queue may hold: a limit that was told before the program ended is not told too late. */
void on_egress(struct run *run, short revents)
{
	(void)revents;
	for (int i = 0; i < REPORTS_AT_ONCE && is_waiting(run->egress.sock); i++)
		take_report(run);
}

/* ---- its end ---- */

void egress_end(struct run *run)
{
	struct egress_link *l = &run->egress;
	const char end = EGRESS_END;
	if (l->sock < 0 || l->told_to_end)
		return;
	l->told_to_end = true;
	if (send(l->sock, &end, 1, MSG_DONTWAIT | MSG_NOSIGNAL) != 1)
		egress_kill(run);
	deadline_set(&run->deadlines, DEADLINE_EGRESS, now_ns() + END_MS * MS_NS);
}

void egress_kill(struct run *run)
{
	if (run->egress.broker > 0)
		kill(run->egress.broker, SIGKILL); /* our child, and not reaped: the number is its */
}

void egress_close(struct run *run)
{
	struct egress_link *l = &run->egress;
	int status;
	egress_kill(run);
	reap(l, &status);
	int *fds[] = {&l->sock, &l->its_end, &l->sandbox_end, &l->held_listener};
	for (size_t i = 0; i < sizeof(fds) / sizeof(*fds); i++)
		fd_close(fds[i]);
}

/* pinfold-scope user|system NAME.scope PID: ask systemd for a transient scope of PID and ourselves.
 *
 * Run by cgroup/scope.c. Writes one line to stdout: "cgroup PATH", or why not. A program of its own
 * for libsystemd's sake, which the run path shall not load. PID and we may be in another part of
 * the tree: a user's systemd asks pid 1 to move what it may not move itself. Then it stays until
 * its input ends, because a scope in which nothing lives is removed, with what it could still tell.
 */
#include "cgroup/manager.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <systemd/sd-bus.h>
#include <unistd.h>

#define SERVICE "org.freedesktop.systemd1"
#define OBJECT	"/org/freedesktop/systemd1"

enum { PATIENCE_SECONDS = 20, EXISTS_RETRIES = 20 };

struct request {
	const char *scope;
	uint32_t pid;
	char job[128]; /* object path; the call returns it before any signal is looked at */
	char result[32];
};

static int complain(const char *what, int negative_errno, const sd_bus_error *error)
{
	if (error && sd_bus_error_is_set(error))
		printf("%s: %s (%s)\n", what, error->message, error->name);
	else
		printf("%s: %s\n", what, strerror(-negative_errno));
	return 1;
}

static int open_address(sd_bus **bus, const char *path, int is_bus)
{
	char address[128];
	snprintf(address, sizeof(address), "unix:path=%s", path);
	int r = sd_bus_new(bus);
	if (r >= 0)
		r = sd_bus_set_address(*bus, address);
	if (r >= 0)
		r = sd_bus_set_bus_client(*bus, is_bus);
	if (r >= 0)
		r = sd_bus_start(*bus);
	if (r < 0)
		*bus = sd_bus_unref(*bus);
	return r;
}

/* The bus, else the manager's own socket. */
static int open_manager(sd_bus **bus, int user)
{
	char path[96], private[96];
	snprintf(path, sizeof(path), user ? USER_BUS : SYSTEM_BUS, getuid());
	snprintf(private, sizeof(private), user ? USER_PRIVATE : SYSTEM_PRIVATE, getuid());
	int r = open_address(bus, path, 1);
	return r < 0 ? open_address(bus, private, 0) : r;
}

static int job_removed(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	struct request *q = userdata;
	const char *job, *unit, *result;
	uint32_t number;
	(void)error;
	if (sd_bus_message_read(m, "uoss", &number, &job, &unit, &result) < 0)
		return 0;
	if (strcmp(job, q->job) == 0)
		snprintf(q->result, sizeof(q->result), "%s", result);
	return 0;
}

/* TasksMax: the leaf inside has its own; systemd's default for a scope would be a second one. KillSignal:
 * pid 1 of a sandbox takes no other, and nobody shall wait 90 s for it at the end of a session. */
static int append_properties(sd_bus_message *m, const struct request *q)
{
	int r = sd_bus_message_open_container(m, 'a', "(sv)");
	if (r >= 0)
		r = sd_bus_message_append(m, "(sv)(sv)(sv)", "Description", "s", "Pinfold sandbox",
					  "Delegate", "b", 1, "CollectMode", "s",
					  "inactive-or-failed");
	if (r >= 0)
		r = sd_bus_message_append(m, "(sv)(sv)", "TasksMax", "t", UINT64_MAX, "KillSignal",
					  "i", SIGKILL);
	if (r >= 0)
		r = sd_bus_message_append(m, "(sv)", "PIDs", "au", 2, q->pid, (uint32_t)getpid());
	if (r >= 0)
		r = sd_bus_message_close_container(m);
	return r < 0 ? r : sd_bus_message_append(m, "a(sa(sv))", 0);
}

static int call_start(sd_bus *bus, struct request *q, sd_bus_error *error)
{
	sd_bus_message *m = NULL, *reply = NULL;
	const char *job = "";
	int r = sd_bus_message_new_method_call(bus, &m, SERVICE, OBJECT, SERVICE ".Manager",
					       "StartTransientUnit");
	if (r >= 0)
		r = sd_bus_message_append(m, "ss", q->scope, "fail");
	if (r >= 0)
		r = append_properties(m, q);
	if (r >= 0)
		r = sd_bus_call(bus, m, 0, error, &reply);
	if (r >= 0)
		r = sd_bus_message_read(reply, "o", &job);
	snprintf(q->job, sizeof(q->job), "%s", job);
	sd_bus_message_unref(m);
	sd_bus_message_unref(reply);
	return r;
}

/* alarm() bounds the loop. */
static int wait_for_job(sd_bus *bus, const struct request *q)
{
	while (q->result[0] == '\0') {
		int r = sd_bus_process(bus, NULL);
		if (r == 0)
			r = sd_bus_wait(bus, UINT64_MAX);
		if (r < 0 && r != -EINTR)
			return r;
	}
	return 0;
}

static int print_cgroup(sd_bus *bus, const struct request *q)
{
	sd_bus_error error = SD_BUS_ERROR_NULL;
	char *unit = NULL, *cgroup = NULL;
	int r = sd_bus_path_encode(OBJECT "/unit", q->scope, &unit);
	if (r >= 0)
		r = sd_bus_get_property_string(bus, SERVICE, unit, SERVICE ".Scope", "ControlGroup",
					       &error, &cgroup);
	int code = r < 0 ? complain("ControlGroup", r, &error) : 0;
	if (code == 0)
		printf(SCOPE_OK "%s\n", cgroup);
	free(unit);
	free(cgroup);
	sd_bus_error_free(&error);
	return code;
}

/* systemd forgets a unit a moment after its cgroup is gone; a second run of the same id may be
 * quicker. Nothing tells of that moment. */
static int is_leftover(const sd_bus_error *error)
{
	return sd_bus_error_has_name(error, SERVICE ".UnitExists");
}

static int run(sd_bus *bus, struct request *q)
{
	sd_bus_error error = SD_BUS_ERROR_NULL;
	int r = sd_bus_match_signal(bus, NULL, SERVICE, OBJECT, SERVICE ".Manager", "JobRemoved",
				    job_removed, q);
	if (r < 0)
		return complain("subscribe", r, NULL);
	r = call_start(bus, q, &error);
	for (int i = 0; i < EXISTS_RETRIES && is_leftover(&error); i++) {
		sd_bus_error_free(&error);
		usleep(1000000 / EXISTS_RETRIES);
		r = call_start(bus, q, &error);
	}
	int code = r < 0 ? complain("StartTransientUnit", r, &error) : 0;
	sd_bus_error_free(&error);
	if (code != 0)
		return code;
	r = wait_for_job(bus, q);
	if (r < 0)
		return complain("wait for the job", r, NULL);
	if (strcmp(q->result, "done") != 0) {
		printf("the job ended as %s\n", q->result);
		return 1;
	}
	return print_cgroup(bus, q);
}

/* Nothing of a run outlives its supervisor, and a manager that hangs is no reason to wait for ever.
 * Other signals, from a terminal perhaps, are the supervisor's business. */
static void limit_life(void)
{
	sigset_t signals;
	struct pollfd reader = {.fd = STDOUT_FILENO};
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (poll(&reader, 1, 0) == 1 && (reader.revents & POLLERR))
		_exit(1); /* it had died before */
	sigfillset(&signals);
	sigdelset(&signals, SIGALRM);
	sigprocmask(SIG_SETMASK, &signals, NULL);
	signal(SIGALRM, SIG_DFL);
	alarm(PATIENCE_SECONDS);
}

static void keep(void)
{
	char byte;
	alarm(0);
	while (read(STDIN_FILENO, &byte, 1) < 0 && errno == EINTR)
		;
}

int main(int argc, char **argv)
{
	sd_bus *bus = NULL;
	limit_life();
	if (argc != 4) {
		printf("usage: pinfold-scope user|system NAME.scope PID\n");
		return 2;
	}
	struct request q = {.scope = argv[2], .pid = (uint32_t)strtoul(argv[3], NULL, 10)};
	int r = open_manager(&bus, strcmp(argv[1], "user") == 0);
	int code = r < 0 ? complain("connect to systemd", r, NULL) : run(bus, &q);
	sd_bus_flush_close_unref(bus);
	if (fflush(stdout) == 0 && code == 0)
		keep();
	return code;
}

#include "runtime/registry.h"

#include "base/fd.h"
#include "runtime/listener.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { QUEUE = 128 }; /* who may ask at the same time, or while the supervisor is stopped */

struct address {
	struct sockaddr_un un;
	socklen_t len;
};

/* -1: too long for a name, so nobody has it. */
static int address_of(struct address *a, const char *id)
{
	*a = (struct address){.un = {.sun_family = AF_UNIX}};
	const int room = sizeof(a->un.sun_path) - 1;
	const int n = snprintf(a->un.sun_path + 1, (size_t)room, "pinfold/%u/%s", geteuid(), id);
	if (n < 0 || n >= room)
		return -1;
	a->len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
	return 0;
}

/* The id in a line, or NULL. "Num RefCount Protocol Flags Type St Inode Path", "@" for NUL; only a
 * listener counts (flags 00010000, type 0001), not the ends of connections to it. The name is raw
 * and may itself look like a line, so this is a hint whom to ask, and no more. Cuts text up. */
static const char *line_id(char *text)
{
	char prefix[32];
	const int len = snprintf(prefix, sizeof(prefix), "@pinfold/%u/", geteuid());
	text[strcspn(text, "\n")] = '\0';
	const char *path = strrchr(text, ' ');
	if (!strstr(text, " 00010000 0001 ") || !path || strncmp(path + 1, prefix, (size_t)len) != 0)
		return NULL;
	const char *id = path + 1 + len;
	return *id && strlen(id) <= 64 ? id : NULL;
}

/* ---- one name ---- */

/* Its queue is full, so that it cannot be asked itself. */
static void ask_kernel(const struct address *a, struct registry_run *run)
{
	struct err ignored = ERR_INIT;
	struct listener l = {.name = a->un.sun_path,
			     .len = a->len - offsetof(struct sockaddr_un, sun_path)};
	run->answers = false;
	if (listener_find(&l, &ignored) != 1)
		return;
	run->uid = l.uid;
	run->uid_known = true;
	run->supervisor = listener_holder(&l);
}

static int ask_holder(int fd, struct registry_run *run, struct err *e)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0)
		return err_sys(e, "registry: ask who holds run %s", run->id);
	run->supervisor = peer.pid;
	run->uid = peer.uid;
	run->uid_known = run->answers = true;
	return 0;
}

int registry_holder(const char *id, struct registry_run *run, struct err *e)
{
	struct address a;
	struct registry_run found = {.supervisor = 0};
	if (strlen(id) >= sizeof(found.id) || address_of(&a, id) < 0)
		return 0;
	memcpy(found.id, id, strlen(id) + 1);
	autoclose int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return err_sys(e, "registry: socket");
	if (connect(fd, (const struct sockaddr *)&a.un, a.len) == 0) {
		if (ask_holder(fd, &found, e) < 0)
			return -1;
	} else if (errno == ECONNREFUSED) {
		return 0;
	} else if (errno == EAGAIN) {
		ask_kernel(&a, &found);
	} else {
		return err_sys(e, "registry: ask for run %s", id);
	}
	*run = found;
	return 1;
}

bool registry_own(const struct registry_run *run)
{
	return run->uid_known && run->uid == geteuid();
}

const char *registry_describe(const struct registry_run *run, char *buf, size_t size)
{
	if (!run->uid_known)
		snprintf(buf, size, "a process that does not answer (ss -xlp as root tells which)");
	else if (run->supervisor > 0)
		snprintf(buf, size, "uid %u (pid %d)", run->uid, run->supervisor);
	else
		snprintf(buf, size, "uid %u (a process that is not to be seen from here)", run->uid);
	return buf;
}

/* ---- the supervisor's side ---- */

static int explain_taken(const char *id, struct err *e)
{
	struct registry_run run = {.uid_known = false};
	char who[96];
	const int there = registry_holder(id, &run, e);
	if (there < 0)
		return -1;
	registry_describe(&run, who, sizeof(who));
	if (there && registry_own(&run))
		return err_usage(e,
				 "id \"%s\" belongs to a run that is alive, %s; choose another or leave --id out",
				 id, who);
	return err_usage(e,
			 "id \"%s\" is no run of yours, but %s holds its name, \"@pinfold/%u/%s\"; choose another or "
			 "leave --id out",
			 id, who, geteuid(), id);
}

int registry_enter(const char *id, struct err *e)
{
	struct address a;
	if (address_of(&a, id) < 0)
		return err_usage(e, "id \"%s\" is too long", id);
	autoclose int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return err_sys(e, "registry: socket");
	if (bind(fd, (const struct sockaddr *)&a.un, a.len) < 0)
		return errno == EADDRINUSE ? explain_taken(id, e)
					   : err_sys(e, "registry: bind the name of run %s", id);
	if (listen(fd, QUEUE) < 0)
		return err_sys(e, "registry: listen");
	return fd_take(&fd);
}

void registry_answer(int fd)
{
	int peer;
	while ((peer = accept4(fd, NULL, NULL, SOCK_CLOEXEC)) >= 0)
		close(peer);
}

/* ---- all names ---- */

/* A name that cannot be asked about is no reason to leave out the others. */
static bool is_own(const char *id, struct registry_run *run)
{
	struct err ignored = ERR_INIT;
	return id && registry_holder(id, run, &ignored) == 1 && registry_own(run);
}

int registry_list(bool (*found)(const struct registry_run *run, void *arg), void *arg, struct err *e)
{
	FILE *f = fopen("/proc/net/unix", "re");
	if (!f)
		return err_sys(e, "registry: open /proc/net/unix");
	char *line = NULL;
	size_t room = 0;
	bool more = true;
	while (more && getline(&line, &room, f) > 0) {
		struct registry_run run;
		if (is_own(line_id(line), &run))
			more = found(&run, arg);
	}
	free(line);
	fclose(f);
	return 0;
}

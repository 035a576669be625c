#include "runtime/registry.h"

#include "base/fd.h"
#include "runtime/listener.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { QUEUE = 128 }; /* who may ask at the same time, or while the supervisor is stopped */

struct address {
	struct sockaddr_un un;
	socklen_t len;
};

/* -1: too long for a name, so nobody has it. */
static int address_of(struct address *a, const char *key)
{
	*a = (struct address){.un = {.sun_family = AF_UNIX}};
	const int room = sizeof(a->un.sun_path) - 1;
	const int n = snprintf(a->un.sun_path + 1, (size_t)room, "pinfold/%u/%s", geteuid(), key);
	if (n < 0 || n >= room)
		return -1;
	a->len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
	return 0;
}

/* The key in a line, or NULL. "Num RefCount Protocol Flags Type St Inode Path", "@" for NUL; only a
 * listener counts (flags 00010000, type 0001), not the ends of connections to it. The name is raw
 * and may itself look like a line, so this is a hint whom to ask, and no more. Cuts text up. */
static const char *line_key(char *text)
{
	char prefix[32];
	const int len = snprintf(prefix, sizeof(prefix), "@pinfold/%u/", geteuid());
	text[strcspn(text, "\n")] = '\0';
	const char *path = strrchr(text, ' ');
	if (!strstr(text, " 00010000 0001 ") || !path || strncmp(path + 1, prefix, (size_t)len) != 0)
		return NULL;
	return path + 1 + len;
}

/* Each key that somebody listens at; -1 if there are none to be had. */
static int keys_walk(bool (*each)(const char *key, void *arg), void *arg, struct err *e)
{
	FILE *f = fopen("/proc/net/unix", "re");
	if (!f)
		return err_sys(e, "registry: open /proc/net/unix");
	char *line = NULL;
	size_t room = 0;
	bool more = true;
	while (more && getline(&line, &room, f) > 0) {
		const char *key = line_key(line);
		if (key)
			more = each(key, arg);
	}
	free(line);
	fclose(f);
	return 0;
}

/* ---- one name ---- */

/* Its queue is full, or it does not listen, so that it cannot be asked itself. */
static void ask_kernel(const struct address *a, bool any_state, struct registry_run *run)
{
	struct err ignored = ERR_INIT;
	struct listener l = {.any_state = any_state,
			     .name = a->un.sun_path,
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

/* Who holds a key. 1 somebody, 0 nobody who listens, -1 error. */
static int ask(const char *key, struct registry_run *run, struct err *e)
{
	struct address a;
	struct registry_run found = {.supervisor = 0};
	const size_t len = strcspn(key, "/");
	if (len == 0 || len >= sizeof(found.id) || address_of(&a, key) < 0)
		return 0;
	memcpy(found.id, key, len);
	autoclose int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return err_sys(e, "registry: socket");
	if (connect(fd, (const struct sockaddr *)&a.un, a.len) == 0) {
		if (ask_holder(fd, &found, e) < 0)
			return -1;
	} else if (errno == ECONNREFUSED) {
		return 0;
	} else if (errno == EAGAIN) {
		ask_kernel(&a, false, &found);
	} else {
		return err_sys(e, "registry: ask for run %s", found.id);
	}
	*run = found;
	return 1;
}

/* ---- one id ---- */

struct search {
	const char *id;
	const char *but; /* a key that does not count, NULL none */
	struct registry_run *run;
	bool found;
};

static bool search_key(const char *key, void *arg)
{
	struct search *s = arg;
	struct registry_run run;
	struct err ignored = ERR_INIT;
	const size_t len = strlen(s->id);
	if (strncmp(key, s->id, len) != 0 || (key[len] != '\0' && key[len] != '/') ||
	    (s->but && strcmp(key, s->but) == 0))
		return true;
	/* A name that cannot be asked about is no reason to leave out the others. */
	if (ask(key, &run, &ignored) != 1 || !registry_own(&run))
		return true;
	*s->run = run;
	s->found = true;
	return false;
}

int registry_holder(const char *id, struct registry_run *run, struct err *e)
{
	if (strchr(id, '/'))
		return 0;
	const int there = ask(id, run, e);
	if (there < 0 || (there && registry_own(run)))
		return there;
	struct search s = {.id = id, .run = run};
	if (keys_walk(search_key, &s, e) < 0)
		return -1;
	return there || s.found;
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

static int explain_alive(const struct registry_run *run, struct err *e)
{
	char who[96];
	return err_usage(e,
			 "id \"%s\" belongs to a run that is alive, %s; choose another or leave --id out",
			 run->id, registry_describe(run, who, sizeof(who)));
}

/* -1 unless the kernel knows for sure that the name is another user's. */
static int check_foreign(const char *id, const struct address *a, struct err *e)
{
	struct registry_run run = {.uid_known = false};
	char who[96];
	const int there = ask(id, &run, e);
	if (there < 0)
		return -1;
	snprintf(run.id, sizeof(run.id), "%s", id);
	if (there == 0) /* it may be about to listen */
		ask_kernel(a, true, &run);
	if (registry_own(&run))
		return explain_alive(&run, e);
	if (run.uid_known)
		return 0;
	return err_usage(e,
			 "id \"%s\": %s holds its name, \"@pinfold/%u/%s\"; choose another or leave --id out",
			 id, registry_describe(&run, who, sizeof(who)), geteuid(), id);
}

/* Somebody else has the plain name, which anybody can guess: nobody guesses this one. */
static int bind_unguessable(int fd, const char *id, char *key, size_t size, struct err *e)
{
	struct address a;
	unsigned long long random;
	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		return err_sys(e, "registry: getrandom");
	snprintf(key, size, "%s/%016llx", id, random);
	if (address_of(&a, key) < 0 || bind(fd, (const struct sockaddr *)&a.un, a.len) < 0)
		return err_sys(e, "registry: bind another name of run %s", id);
	return 0;
}

/* Two runs of one user that begin at the same time, each under another name, both see the other and neither stays. */
static int check_alone(const char *id, const char *key, struct err *e)
{
	struct registry_run run;
	struct search s = {.id = id, .but = key, .run = &run};
	if (keys_walk(search_key, &s, e) < 0)
		return -1;
	return s.found ? explain_alive(&run, e) : 0;
}

int registry_enter(const char *id, bool chosen, struct err *e)
{
	struct address a;
	char key[sizeof(((struct registry_run *)0)->id) + 17];
	snprintf(key, sizeof(key), "%s", id);
	if (address_of(&a, id) < 0)
		return err_usage(e, "id \"%s\" is too long", id);
	autoclose int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return err_sys(e, "registry: socket");
	if (bind(fd, (const struct sockaddr *)&a.un, a.len) < 0) {
		if (errno != EADDRINUSE)
			return err_sys(e, "registry: bind the name of run %s", id);
		if (check_foreign(id, &a, e) < 0 || bind_unguessable(fd, id, key, sizeof(key), e) < 0)
			return -1;
	}
	if (listen(fd, QUEUE) < 0)
		return err_sys(e, "registry: listen");
	if (chosen && check_alone(id, key, e) < 0)
		return -1;
	return fd_take(&fd);
}

void registry_answer(int fd)
{
	int peer;
	while ((peer = accept4(fd, NULL, NULL, SOCK_CLOEXEC)) >= 0)
		close(peer);
}

/* ---- all names ---- */

struct listing {
	bool (*found)(const struct registry_run *run, void *arg);
	void *arg;
};

static bool list_key(const char *key, void *arg)
{
	const struct listing *l = arg;
	struct registry_run run;
	struct err ignored = ERR_INIT;
	if (ask(key, &run, &ignored) != 1 || !registry_own(&run))
		return true;
	return l->found(&run, l->arg);
}

int registry_list(bool (*found)(const struct registry_run *run, void *arg), void *arg, struct err *e)
{
	struct listing l = {found, arg};
	return keys_walk(list_key, &l, e);
}

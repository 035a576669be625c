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

/* ---- which names there are ---- */

struct look {
	struct registry *r;
	const char *const *ids; /* NULL: every run */
	size_t count;
	const char *but; /* a key that does not count, NULL none */
	bool bound_too;	 /* of those that do not listen yet, too */
	bool no_memory;
	uid_t uid; /* asked for once: a system call for every name would be in the way */
	char prefix[32];
	size_t prefix_len;
};

/* Names are bytes; what no id can be must not reach a terminal. */
static bool is_id(const char *id, size_t len)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
	return len > 0 && len <= REGISTRY_ID && strspn(id, letters) >= len;
}

static bool is_wanted(const struct look *k, const char *key, size_t id_len)
{
	if (k->but && strcmp(key, k->but) == 0)
		return false;
	for (size_t i = 0; k->ids && i < k->count; i++)
		if (strlen(k->ids[i]) == id_len && memcmp(k->ids[i], key, id_len) == 0)
			return true;
	return !k->ids;
}

/* False: no more of them. */
static bool add(const struct registry_run *run, struct look *k)
{
	enum { STEP = 16 };
	struct registry *r = k->r;
	if (r->len == REGISTRY_NAMES) {
		r->cut = true;
		return false;
	}
	if (r->len % STEP == 0) {
		struct registry_run *more = reallocarray(r->runs, r->len + STEP, sizeof(*more));
		if (!more) {
			k->no_memory = true;
			return false;
		}
		r->runs = more;
	}
	r->runs[r->len++] = *run;
	return true;
}

/* A name behind "pinfold/UID/", of that uid (NULL: not known). False: no more of them. */
static bool add_key(const char *key, size_t len, uint32_t inode, const uid_t *uid, struct look *k)
{
	struct registry_run run = {.inode = inode, .uid_known = uid, .uid = uid ? *uid : 0};
	if (len >= sizeof(run.key) || memchr(key, '\0', len))
		return true;
	memcpy(run.key, key, len);
	const size_t id_len = strcspn(run.key, "/");
	if (!is_id(run.key, id_len) || !is_wanted(k, run.key, id_len))
		return true;
	memcpy(run.id, run.key, id_len);
	/* Of what is another user's nothing matters but who has the plain name. */
	if (uid && *uid != k->uid && (!k->ids || id_len < len))
		return true;
	return add(&run, k);
}

static bool add_listener(const struct listener *l, void *arg)
{
	struct look *k = arg;
	if (l->len < k->prefix_len || memcmp(l->name, k->prefix, k->prefix_len) != 0)
		return true;
	return add_key(l->name + k->prefix_len, l->len - k->prefix_len, l->inode, &l->uid, k);
}

/* The key in a line, or NULL. "Num RefCount Protocol Flags Type St Inode Path", "@" for NUL; only a
 * listener counts (flags 00010000, type 0001), not the ends of connections to it. The name is raw
 * and may itself look like a line, so this is a hint whom to ask, and no more. Cuts text up. */
static const char *line_key(const struct look *k, char *text)
{
	text[strcspn(text, "\n")] = '\0';
	const char *path = strrchr(text, ' ');
	if (!strstr(text, " 00010000 0001 ") || !path || path[1] != '@' ||
	    strncmp(path + 2, k->prefix + 1, k->prefix_len - 1) != 0)
		return NULL;
	return path + 1 + k->prefix_len;
}

/* Where the kernel does not list sockets: the names, and not whose they are. */
static int read_proc(struct look *k, struct err *e)
{
	FILE *f = fopen("/proc/net/unix", "re");
	if (!f)
		return err_sys(e, "registry: open /proc/net/unix");
	char *line = NULL;
	size_t room = 0;
	bool more = true;
	while (more && getline(&line, &room, f) > 0) {
		const char *key = line_key(k, line);
		if (key)
			more = add_key(key, strlen(key), 0, NULL, k);
	}
	free(line);
	fclose(f);
	return 0;
}

static int collect(struct look *k, struct err *e)
{
	struct err not_told = ERR_INIT;
	struct registry *r = k->r;
	k->uid = geteuid();
	k->prefix_len = (size_t)snprintf(k->prefix, sizeof(k->prefix), "%cpinfold/%u/", '\0', k->uid);
	const int all = listener_each(k->bound_too, add_listener, k, &not_told);
	r->told = all >= 0;
	r->cut = all == 0;
	if (!r->told) {
		r->len = 0;
		if (read_proc(k, e) < 0)
			return -1;
	}
	/* The plain names can be asked about without a list. */
	for (size_t i = 0; r->cut && i < k->count; i++)
		add_key(k->ids[i], strlen(k->ids[i]), 0, NULL, k);
	if (k->no_memory)
		return err_host(e, "registry: no memory for %zu names", r->len);
	return 0;
}

/* ---- who holds them ---- */

static int connect_to(const char *key)
{
	struct address a;
	if (address_of(&a, key) < 0) {
		errno = ECONNREFUSED;
		return -1;
	}
	autoclose int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || connect(fd, (const struct sockaddr *)&a.un, a.len) < 0)
		return -1;
	return fd_take(&fd);
}

/* False: nobody listens there. */
static bool ask(struct registry_run *run)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);
	autoclose int fd = connect_to(run->key);
	if (fd < 0)
		return errno != ECONNREFUSED;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0)
		return true;
	run->supervisor = peer.pid;
	run->uid = peer.uid;
	run->uid_known = run->answers = true;
	return true;
}

/* What is known to be another user's is not asked. */
static void ask_all(const struct look *k)
{
	struct registry *r = k->r;
	size_t len = 0;
	for (size_t i = 0; i < r->len; i++) {
		struct registry_run run = r->runs[i];
		const bool foreign = run.uid_known && !registry_own(&run);
		if (foreign || ask(&run) || k->bound_too)
			r->runs[len++] = run;
	}
	r->len = len;
}

static bool is_silent(const struct registry_run *run)
{
	return registry_own(run) && !run->answers && run->inode;
}

/* The kernel says that they are ours, and they do not say by whom they are held. */
static int find_silent(struct registry *r, struct err *e)
{
	size_t count = 0;
	for (size_t i = 0; i < r->len; i++)
		count += is_silent(&r->runs[i]);
	if (count == 0)
		return 0;
	struct listener_holder *wanted = calloc(count, sizeof(*wanted));
	if (!wanted)
		return err_host(e, "registry: no memory for %zu names", count);
	for (size_t i = 0, n = 0; i < r->len; i++)
		if (is_silent(&r->runs[i]))
			wanted[n++].inode = r->runs[i].inode;
	r->cut = !listener_holders(wanted, count) || r->cut;
	for (size_t i = 0, n = 0; i < r->len; i++)
		if (is_silent(&r->runs[i]))
			r->runs[i].supervisor = wanted[n++].pid;
	free(wanted);
	return 0;
}

static int look(struct look *k, struct err *e)
{
	if (collect(k, e) == 0) {
		ask_all(k);
		if (find_silent(k->r, e) == 0)
			return 0;
	}
	registry_close(k->r);
	return -1;
}

int registry_look(struct registry *r, const char *const *ids, size_t count, struct err *e)
{
	struct look k = {.r = r, .ids = ids, .count = count};
	return look(&k, e);
}

void registry_close(struct registry *r)
{
	free(r->runs);
	*r = (struct registry)REGISTRY_INIT;
}

/* ---- one run ---- */

const struct registry_run *registry_find(const struct registry *r, const char *id)
{
	const struct registry_run *plain = NULL;
	for (size_t i = 0; i < r->len; i++) {
		const struct registry_run *run = &r->runs[i];
		if (strcmp(run->id, id) != 0)
			continue;
		if (registry_own(run))
			return run;
		if (strcmp(run->key, id) == 0)
			plain = run;
	}
	return plain;
}

bool registry_holds(const struct registry_run *run)
{
	struct registry_run now = *run;
	now.answers = false;
	if (!ask(&now))
		return false;
	if (now.answers)
		return registry_own(&now) && now.supervisor == run->supervisor;
	return run->inode && listener_is_held(run->inode, run->supervisor);
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
	else if (registry_own(run))
		snprintf(buf, size, "uid %u (a process that is not to be seen from here)", run->uid);
	else
		snprintf(buf, size, "uid %u", run->uid);
	return buf;
}

/* ---- the supervisor's side ---- */

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

/* taken: somebody holds the plain name. Then it must not be a run of ours, for sure. With the plain name
 * our own, a list that is cut is no reason to refuse: another user could have made it that long, and
 * what it may leave out is a run of ours that began when somebody else had the plain name. */
static int judge(const struct registry *r, const char *id, bool taken, struct err *e)
{
	char who[96];
	const struct registry_run unknown = {.uid_known = false};
	const struct registry_run *run = registry_find(r, id);
	if (run && registry_own(run))
		return err_usage(e,
				 "id \"%s\" belongs to a run that is alive, %s; choose another or leave --id out",
				 id, registry_describe(run, who, sizeof(who)));
	if (!taken || (r->told && !r->cut) || (run && run->uid_known))
		return 0;
	return err_usage(e,
			 "id \"%s\": %s holds its name, \"@pinfold/%u/%s\"; choose another or leave --id out",
			 id, registry_describe(run ? run : &unknown, who, sizeof(who)), geteuid(),
			 id);
}

/* Two runs of one user that begin at the same time, each under another name, both see the other and neither stays. */
static int check_alone(const char *id, const char *key, bool taken, struct err *e)
{
	struct registry r = REGISTRY_INIT;
	struct look k = {.r = &r, .ids = &id, .count = 1, .but = key, .bound_too = taken};
	if (look(&k, e) < 0)
		return -1;
	const int alone = judge(&r, id, taken, e);
	registry_close(&r);
	return alone;
}

int registry_enter(const char *id, bool chosen, struct err *e)
{
	struct address a;
	bool taken = false;
	char key[REGISTRY_KEY + 1];
	snprintf(key, sizeof(key), "%s", id);
	if (address_of(&a, id) < 0)
		return err_usage(e, "id \"%s\" is too long", id);
	autoclose int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return err_sys(e, "registry: socket");
	if (bind(fd, (const struct sockaddr *)&a.un, a.len) < 0) {
		if (errno != EADDRINUSE)
			return err_sys(e, "registry: bind the name of run %s", id);
		taken = true;
		if (bind_unguessable(fd, id, key, sizeof(key), e) < 0)
			return -1;
	}
	if (listen(fd, QUEUE) < 0)
		return err_sys(e, "registry: listen");
	if ((chosen || taken) && check_alone(id, key, taken, e) < 0)
		return -1;
	return fd_take(&fd);
}

void registry_answer(int fd)
{
	int peer;
	while ((peer = accept4(fd, NULL, NULL, SOCK_CLOEXEC)) >= 0)
		close(peer);
}

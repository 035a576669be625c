#include "runtime/registry.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static socklen_t address_of(struct sockaddr_un *addr, const char *id)
{
	memset(addr, 0, sizeof(*addr));
	addr->sun_family = AF_UNIX;
	int n = snprintf(addr->sun_path + 1, sizeof(addr->sun_path) - 1, "pinfold/%u/%s", geteuid(),
			 id);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
}

int registry_enter(const char *id, struct err *e)
{
	struct sockaddr_un addr;
	socklen_t len = address_of(&addr, id);
	autoclose int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return err_sys(e, "registry: socket");
	if (bind(fd, (struct sockaddr *)&addr, len) < 0) {
		if (errno == EADDRINUSE)
			return err_usage(e,
					 "id \"%s\" belongs to a run that is alive; choose another or leave --id out",
					 id);
		return err_sys(e, "registry: bind the name of run %s", id);
	}
	if (listen(fd, 8) < 0)
		return err_sys(e, "registry: listen");
	return fd_take(&fd);
}

void registry_answer(int fd)
{
	int peer;
	while ((peer = accept4(fd, NULL, NULL, SOCK_CLOEXEC)) >= 0)
		close(peer);
}

int registry_find(const char *id, struct registry_run *run, struct err *e)
{
	struct sockaddr_un addr;
	socklen_t len = address_of(&addr, id);
	autoclose int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return err_sys(e, "registry: socket");
	if (connect(fd, (struct sockaddr *)&addr, len) < 0) {
		if (errno == ECONNREFUSED)
			return 0;
		return err_sys(e, "registry: ask for run %s", id);
	}
	struct ucred peer;
	socklen_t peer_len = sizeof(peer);
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &peer_len) < 0)
		return err_sys(e, "registry: ask who holds run %s", id);
	if (peer.uid != geteuid() || peer.pid <= 0)
		return 0;
	snprintf(run->id, sizeof(run->id), "%s", id);
	run->supervisor = peer.pid;
	return 1;
}

/* The id at the end of a line of /proc/net/unix, or NULL. The name is the last column, "@" for NUL;
 * only the listener counts (flags 00010000), not the ends of connections to it. */
static char *line_id(char *line, const char *prefix)
{
	char *at = strrchr(line, ' ');
	if (!strstr(line, " 00010000 "))
		return NULL;
	if (!at || strncmp(at + 1, prefix, strlen(prefix)) != 0)
		return NULL;
	char *id = at + 1 + strlen(prefix);
	return *id && strlen(id) <= 64 ? id : NULL;
}

int registry_list(bool (*found)(const struct registry_run *run, void *arg), void *arg, struct err *e)
{
	char prefix[32];
	snprintf(prefix, sizeof(prefix), "@pinfold/%u/", geteuid());
	FILE *f = fopen("/proc/net/unix", "re");
	if (!f)
		return err_sys(e, "registry: open /proc/net/unix");
	char *line = NULL;
	size_t room = 0;
	int rc = 0;
	bool more = true;
	while (more && rc == 0 && getline(&line, &room, f) > 0) {
		line[strcspn(line, "\n")] = '\0';
		char *id = line_id(line, prefix);
		struct registry_run run;
		if (!id)
			continue;
		int there = registry_find(id, &run, e);
		if (there < 0)
			rc = -1;
		else if (there == 1)
			more = found(&run, arg);
	}
	free(line);
	fclose(f);
	return rc;
}

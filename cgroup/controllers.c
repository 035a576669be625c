#include "base/fd.h"
#include "cgroup/parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *const names[CONTROLLER_COUNT] = {"memory", "pids", "cpu", "io"};

const char *controller_name(unsigned index)
{
	return names[index];
}

unsigned controllers_parse(const char *text)
{
	unsigned bits = 0;
	while (*text) {
		size_t len = strcspn(text, " \n");
		for (unsigned i = 0; i < CONTROLLER_COUNT; i++)
			if (len == strlen(names[i]) && strncmp(text, names[i], len) == 0)
				bits |= 1u << i;
		text += len;
		text += strspn(text, " \n");
	}
	return bits;
}

unsigned controllers_read(int dir, const char *file, int *error)
{
	char text[512];
	if (read_whole(dir, file, text, sizeof(text)) < 0) {
		if (out_of_resources(errno))
			*error = errno;
		return 0;
	}
	return controllers_parse(text);
}

static int write_control(int dir, unsigned bits)
{
	char text[64] = "";
	for (unsigned i = 0; i < CONTROLLER_COUNT; i++)
		if (bits & 1u << i)
			snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s+%s",
				 *text ? " " : "", names[i]);
	return fd_write_small(dir, "cgroup.subtree_control", text);
}

static bool has_processes(int dir)
{
	autoclose int fd = openat(dir, "cgroup.procs", O_RDONLY | O_CLOEXEC);
	char first;
	return fd >= 0 && read(fd, &first, 1) == 1;
}

/* Why dir cannot give its children controllers: errno, or 0. Asked before each attempt, because in
 * a cgroup that holds processes the kernel refuses memory and io, but takes pids and cpu and makes
 * it the root of a threaded subtree with that, in which no leaf can hold a process. */
static int obstacle(const struct offer *o)
{
	if (faccessat(o->dir, "cgroup.subtree_control", W_OK, AT_EACCESS) < 0)
		return errno;
	return has_processes(o->dir) && !is_kernel_root(o->dir) ? EBUSY : 0;
}

/* All in one write; the kernel takes all or none, so on failure each by itself. Those that failed
 * have their errno in errors. */
static unsigned enable(const struct offer *o, unsigned missing, int errors[CONTROLLER_COUNT])
{
	unsigned on = 0;
	int error = obstacle(o);
	if (error == 0 && (o->dry || write_control(o->dir, missing) == 0))
		return missing;
	for (unsigned i = 0; i < CONTROLLER_COUNT; i++) {
		errors[i] = error;
		if (!(missing & 1u << i) || error != 0)
			continue;
		if (write_control(o->dir, 1u << i) == 0)
			on |= 1u << i;
		else
			errors[i] = errno;
	}
	return on;
}

static void explain(char *why, const struct offer *o, unsigned index, int error)
{
	if (error == EBUSY)
		say(why, WHY_SIZE, "processes are in %s itself: %s", o->path, strerrorname_np(error));
	else
		say(why, WHY_SIZE, "+%s to cgroup.subtree_control of %s: %s", names[index], o->path,
		    strerrorname_np(error));
}

unsigned controllers_enable(struct offer *o, char why[CONTROLLER_COUNT][WHY_SIZE])
{
	int errors[CONTROLLER_COUNT] = {0};
	o->there = controllers_read(o->dir, "cgroup.controllers", &o->error);
	unsigned on = o->there ? controllers_read(o->dir, "cgroup.subtree_control", &o->error) : 0;
	unsigned missing = o->want & o->there & ~on;
	if (missing)
		on |= enable(o, missing, errors);
	for (unsigned i = 0; i < CONTROLLER_COUNT; i++) {
		why[i][0] = '\0';
		if (!(o->want & ~on & 1u << i))
			continue;
		if (o->there & 1u << i)
			explain(why[i], o, i, errors[i]);
		else
			say(why[i], WHY_SIZE, "not in cgroup.controllers of %s", o->path);
	}
	return on;
}

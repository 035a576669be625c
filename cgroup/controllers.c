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

unsigned controllers_read(int dir, const char *file)
{
	char text[512];
	if (read_whole(dir, file, text, sizeof(text)) < 0)
		return 0;
	return controllers_parse(text);
}

static int write_control(int dir, unsigned bits)
{
	char text[64] = "";
	for (unsigned i = 0; i < CONTROLLER_COUNT; i++)
		if (bits & 1u << i)
			snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s+%s", *text ? " " : "",
				 names[i]);
	return fd_write_small(dir, "cgroup.subtree_control", text);
}

static bool has_processes(int dir)
{
	autoclose int fd = openat(dir, "cgroup.procs", O_RDONLY | O_CLOEXEC);
	char first;
	return fd >= 0 && read(fd, &first, 1) == 1;
}

/* What enabling would give, without doing it: errno, or 0. */
static int foresee(const struct offer *o)
{
	if (faccessat(o->dir, "cgroup.subtree_control", W_OK, AT_EACCESS) < 0)
		return errno;
	return has_processes(o->dir) && !is_kernel_root(o->dir) ? EBUSY : 0;
}

static int enable_one(const struct offer *o, unsigned bit)
{
	if (o->dry)
		return foresee(o);
	return write_control(o->dir, bit) < 0 ? errno : 0;
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
	o->there = controllers_read(o->dir, "cgroup.controllers");
	unsigned on = o->there ? controllers_read(o->dir, "cgroup.subtree_control") : 0;
	unsigned missing = o->want & o->there & ~on;
	/* All in one write; the kernel takes all or none, so on failure each by itself. */
	if (!o->dry && missing && write_control(o->dir, missing) == 0)
		on |= missing;
	for (unsigned i = 0; i < CONTROLLER_COUNT; i++) {
		unsigned bit = 1u << i;
		why[i][0] = '\0';
		if (!(o->want & ~on & bit))
			continue;
		if (!(o->there & bit)) {
			say(why[i], WHY_SIZE, "not in cgroup.controllers of %s", o->path);
			continue;
		}
		int error = enable_one(o, bit);
		if (error == 0)
			on |= bit;
		else
			explain(why[i], o, i, error);
	}
	return on;
}

/* Reading what happened in the leaf. Each file is read once. */
#include "base/fd.h"
#include "cgroup/parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int no_leaf(void)
{
	errno = ENOENT;
	return -1;
}

int cgroup_cpu_times(const struct cgroup *cg, struct cgroup_cpu *cpu)
{
	char text[1024];
	if (cg->dir < 0)
		return no_leaf();
	if (read_whole(cg->dir, "cpu.stat", text, sizeof(text)) < 0)
		return -1;
	struct cgroup_cpu c = {
		.usage_usec = line_number(text, "usage_usec"),
		.user_usec = line_number(text, "user_usec"),
		.system_usec = line_number(text, "system_usec"),
	};
	if (c.usage_usec == NUM_UNKNOWN) {
		errno = ENODATA;
		return -1;
	}
	*cpu = c;
	return 0;
}

int cgroup_cpu_usec(const struct cgroup *cg, uint64_t *usec)
{
	struct cgroup_cpu cpu;
	if (cgroup_cpu_times(cg, &cpu) < 0)
		return -1;
	*usec = (uint64_t)cpu.usage_usec;
	return 0;
}

int cgroup_memory_bytes(const struct cgroup *cg, uint64_t *bytes)
{
	char text[32];
	if (cg->dir < 0 || !(cg->controllers & CG_MEMORY)) {
		errno = ENOENT;
		return -1;
	}
	if (fd_read_small(cg->dir, "memory.current", text, sizeof(text)) < 0)
		return -1;
	*bytes = strtoull(text, NULL, 10);
	return 0;
}

static ssize_t read_local(int dir, const char *local, const char *whole, char *text, size_t size)
{
	ssize_t n = read_whole(dir, local, text, size);
	return n < 0 && errno == ENOENT ? read_whole(dir, whole, text, size) : n;
}

void cgroup_events(const struct cgroup *cg, struct cgroup_events *ev)
{
	char text[512];
	*ev = (struct cgroup_events){NUM_UNKNOWN, NUM_UNKNOWN, NUM_UNKNOWN, NUM_UNKNOWN, NUM_UNKNOWN};
	if ((cg->controllers & CG_MEMORY) &&
	    read_local(cg->dir, "memory.events.local", "memory.events", text, sizeof(text)) >= 0) {
		ev->oom = line_number(text, "oom");
		ev->oom_kill = line_number(text, "oom_kill");
		ev->oom_group_kill = line_number(text, "oom_group_kill");
		ev->memory_max = line_number(text, "max");
	}
	if ((cg->controllers & CG_PIDS) &&
	    read_local(cg->dir, "pids.events.local", "pids.events", text, sizeof(text)) >= 0)
		ev->pids_max = line_number(text, "max");
}

bool cgroup_events_own_oom(const struct cgroup_events *ev)
{
	return ev->oom > 0 && ev->oom_kill > 0;
}

/* An fd whose poll tells of changes from now on: the kernel compares with the count at the last
 * read, and says POLLPRI at once on a file that was never read. */
static int armed_fd(int dir, const char *name)
{
	char text[512];
	autoclose int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || read(fd, text, sizeof(text)) < 0)
		return -1;
	return fd_take(&fd);
}

int cgroup_kill(const struct cgroup *cg)
{
	if (cg->dir < 0)
		return no_leaf();
	return fd_write_small(cg->dir, "cgroup.kill", "1");
}

int cgroup_populated(const struct cgroup *cg)
{
	char text[256];
	if (cg->dir < 0)
		return no_leaf();
	if (read_whole(cg->dir, "cgroup.events", text, sizeof(text)) < 0)
		return -1;
	return line_number(text, "populated") == 1;
}

int cgroup_populated_again(int fd)
{
	char text[256];
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);
	if (n < 0)
		return -1;
	text[n] = '\0';
	const int64_t populated = line_number(text, "populated");
	if (populated == NUM_UNKNOWN) {
		errno = ENODATA;
		return -1;
	}
	return populated == 1;
}

int cgroup_populated_fd(const struct cgroup *cg)
{
	if (cg->dir < 0)
		return no_leaf();
	return armed_fd(cg->dir, "cgroup.events");
}

/* ---- usage ---- */

/* "8:0 rbytes=1 wbytes=2 rios=3 wios=4 dbytes=0 dios=0", and "8:0" alone where nothing was done. */
static bool io_line(const char *line, struct io_result *io)
{
	size_t len = strcspn(line, " \n");
	if (line[len] != ' ' || len >= sizeof(io->device))
		return false;
	memcpy(io->device, line, len);
	io->device[len] = '\0';
	io->rbytes = pair_number(line, "rbytes");
	io->wbytes = pair_number(line, "wbytes");
	io->rios = pair_number(line, "rios");
	io->wios = pair_number(line, "wios");
	return io->rbytes != NUM_UNKNOWN;
}

__attribute__((noinline)) static void usage_io(int dir, struct result *r)
{
	char text[8192];
	if (read_whole(dir, "io.stat", text, sizeof(text)) < 0)
		return;
	r->usage.io_len = 0;
	for (const char *line = text; *line && r->usage.io_len < IO_MAX;) {
		if (io_line(line, &r->usage.io[r->usage.io_len]))
			r->usage.io_len++;
		line += strcspn(line, "\n");
		line += *line == '\n';
	}
}

/* "some avg10=0.00 avg60=0.00 avg300=0.00 total=12" and the same for "full". */
static void usage_pressure(int dir, const char *name, struct pressure_result *p)
{
	char text[512];
	if (read_whole(dir, name, text, sizeof(text)) < 0)
		return;
	const char *full = strstr(text, "full ");
	p->some_usec = strncmp(text, "some ", 5) == 0 ? pair_number(text, "total") : NUM_UNKNOWN;
	p->full_usec = full ? pair_number(full, "total") : NUM_UNKNOWN;
}

/* Not inlined: a frame of this size costs page faults to whoever only passes by. */
__attribute__((noinline)) static void read_composition(int dir, struct result *r)
{
	char text[8192];
	if (read_whole(dir, "memory.stat", text, sizeof(text)) < 0)
		return;
	r->usage.anon_bytes = line_number(text, "anon");
	r->usage.file_bytes = line_number(text, "file");
	r->usage.shmem_bytes = line_number(text, "shmem");
}

void cgroup_composition(const struct cgroup *cg, struct result *r)
{
	if (cg->controllers & CG_MEMORY)
		read_composition(cg->dir, r);
}

void cgroup_usage(const struct cgroup *cg, struct result *r)
{
	if (cg->dir < 0)
		return;
	if (cg->controllers & CG_MEMORY)
		r->usage.memory_peak_bytes = file_number(cg->dir, "memory.peak"); /* 5.19 */
	if (r->usage.anon_bytes == NUM_UNKNOWN)
		cgroup_composition(cg, r);
	if (cg->controllers & CG_PIDS) {
		int64_t peak = file_number(cg->dir, "pids.peak"); /* 6.6 */
		r->usage.pids_peak = peak > 0 ? peak - 1 : peak;  /* pid 1 is not the program's */
	}
	if (cg->controllers & CG_IO)
		usage_io(cg->dir, r);
}

void cgroup_pressure(const struct cgroup *cg, struct result *r)
{
	if (cg->dir < 0)
		return;
	usage_pressure(cg->dir, "cpu.pressure", &r->usage.cpu_pressure);
	usage_pressure(cg->dir, "memory.pressure", &r->usage.memory_pressure);
	usage_pressure(cg->dir, "io.pressure", &r->usage.io_pressure);
}

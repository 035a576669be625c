/* The limit files, each written and read back. See cgroup-v2.rst, "Controllers". */
#include "base/fd.h"
#include "cgroup/parts.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
	PIDS_MOST =
		4194304, /* PID_MAX_LIMIT: the kernel takes no larger number, and cannot have more tasks */
	WEIGHT_LOW = 10, /* of 1 to 10000; everybody else's default is 100 */
};

int setting_write(int dir, const struct setting *s, char *value, size_t size, struct err *e)
{
	char shown[256];
	autoclose int fd = openat(dir, s->file, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return err_sys(e, "open %s", s->file);
	size_t len = strlen(s->text);
	if (write(fd, s->text, len) != (ssize_t)len)
		return err_sys(e, "write \"%s\" to %s", s->text, s->file);
	ssize_t n = pread(fd, shown, sizeof(shown) - 1, 0);
	if (n < 0)
		return err_sys(e, "read %s back", s->file);
	shown[n] = '\0';
	shown[strcspn(shown, "\n")] = '\0';
	if (strcmp(shown, s->expect) != 0)
		return err_host(e, "%s: wrote \"%s\", reads back as \"%.60s\"", s->file, s->text,
				shown);
	snprintf(value, size, "%s", shown);
	return 0;
}

/* Files whose normal form is what is written. */
static int write_same(int dir, const char *file, const char *text, char *value, struct err *e)
{
	struct setting s = {file, text, text};
	return setting_write(dir, &s, value, 24, e);
}

/* Without the file the kernel does not account swap; that is as good where there is none. */
static int write_swap(struct cgroup *cg, struct err *e)
{
	char swaps[256];
	cg->swap_file = true;
	if (write_same(cg->dir, "memory.swap.max", "0", cg->value.swap, e) == 0)
		return 0;
	if (e->sys != ENOENT)
		return -1;
	cg->swap_file = false;
	ssize_t n = fd_read_small(AT_FDCWD, "/proc/swaps", swaps, sizeof(swaps));
	/* One line of headings is all there is where there is no swap; no file, no CONFIG_SWAP. */
	cg->no_swap = n < 0 ? errno == ENOENT : strchr(swaps, '\n') == swaps + n - 1;
	return 0;
}

static int write_memory(struct cgroup *cg, const struct limits *lim, struct err *e)
{
	char text[24], expect[24], ignored[24];
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	/* One process over the limit ends them all: half a program's answer is none. */
	if (write_same(cg->dir, "memory.oom.group", "1", ignored, e) < 0 || write_swap(cg, e) < 0)
		return -1;
	if (lim->memory_bytes == LIMIT_NONE)
		return 0;
	snprintf(text, sizeof(text), "%" PRIu64, lim->memory_bytes);
	snprintf(expect, sizeof(expect), "%" PRIu64,
		 lim->memory_bytes / page * page); /* it counts in pages */
	struct setting s = {"memory.max", text, expect};
	return setting_write(cg->dir, &s, cg->value.memory, sizeof(cg->value.memory), e);
}

static int write_pids(struct cgroup *cg, const struct limits *lim, struct err *e)
{
	char text[24];
	if (lim->pids >= PIDS_MOST)
		return 0;
	snprintf(text, sizeof(text), "%" PRIu64, lim->pids + 1);
	return write_same(cg->dir, "pids.max", text, cg->value.pids, e);
}

/* Quota and period in microseconds. The kernel wants a quota of at least 1 ms and a period of at
 * most 1 s: below a hundredth of a cpu only the longest period will do. */
static void cpu_max_text(char *text, size_t size, uint64_t cpus_milli)
{
	uint64_t period = cpus_milli < 10 ? 1000000 : 100000;
	snprintf(text, size, "%" PRIu64 " %" PRIu64, cpus_milli * period / 1000, period);
}

static int write_cpu(struct cgroup *cg, const struct limits *lim, struct err *e)
{
	char text[48];
	if (lim->priority == PRIORITY_LOW) {
		snprintf(text, sizeof(text), "%d", WEIGHT_LOW);
		if (write_same(cg->dir, "cpu.weight", text, cg->value.weight, e) < 0)
			return -1;
	}
	if (lim->cpus_milli == LIMIT_NONE)
		return 0;
	cpu_max_text(text, sizeof(text), lim->cpus_milli);
	struct setting s = {"cpu.max", text, text};
	return setting_write(cg->dir, &s, cg->value.cpu, sizeof(cg->value.cpu), e);
}

int limits_write(struct cgroup *cg, const struct limits *lim, struct err *e)
{
	static const struct {
		unsigned bit;
		int (*write)(struct cgroup *, const struct limits *, struct err *);
	} rows[] = {{CG_MEMORY, write_memory}, {CG_PIDS, write_pids}, {CG_CPU, write_cpu}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if ((cg->controllers & rows[i].bit) && rows[i].write(cg, lim, e) < 0)
			return err_wrap(e, "cgroup %s", cg->path);
	return 0;
}

/* ---- io.max ---- */

struct io_key {
	const char *name;
	uint64_t value;
};

static void io_keys(struct io_key keys[4], const struct limits *lim)
{
	/* The kernel keeps iops in 32 bits and takes the largest for none. */
	uint64_t riops = lim->read_iops >= UINT32_MAX ? LIMIT_NONE : lim->read_iops;
	uint64_t wiops = lim->write_iops >= UINT32_MAX ? LIMIT_NONE : lim->write_iops;
	keys[0] = (struct io_key){"rbps", lim->read_bps};
	keys[1] = (struct io_key){"wbps", lim->write_bps};
	keys[2] = (struct io_key){"riops", riops};
	keys[3] = (struct io_key){"wiops", wiops};
}

bool limits_want_io(const struct limits *lim)
{
	struct io_key keys[4];
	io_keys(keys, lim);
	for (size_t i = 0; i < 4; i++)
		if (keys[i].value != LIMIT_NONE)
			return true;
	return false;
}

static void io_text(char *text, size_t size, const char *device, const struct io_key keys[4])
{
	size_t at = (size_t)snprintf(text, size, "%s", device);
	for (size_t i = 0; i < 4; i++) {
		char number[24] = "max";
		if (keys[i].value != LIMIT_NONE)
			snprintf(number, sizeof(number), "%" PRIu64, keys[i].value);
		at += (size_t)snprintf(text + at, size - at, " %s=%s", keys[i].name, number);
	}
}

/* io.max shows a line for each device that has a limit, in an order of its own. */
static bool has_line(const char *text, const char *line)
{
	size_t len = strlen(line);
	for (const char *p = text; (p = strstr(p, line)); p++)
		if ((p == text || p[-1] == '\n') && p[len] == '\n')
			return true;
	return false;
}

static int write_device(const struct cgroup *cg, const char *device, const struct io_key keys[4],
			struct err *e)
{
	char line[160], shown[4096];
	io_text(line, sizeof(line), device, keys);
	if (fd_write_small(cg->dir, "io.max", line) < 0)
		return err_sys(e, "cgroup %s: write \"%s\" to io.max", cg->path, line);
	if (read_whole(cg->dir, "io.max", shown, sizeof(shown)) < 0)
		return err_sys(e, "cgroup %s: read io.max back", cg->path);
	if (!has_line(shown, line))
		return err_host(e, "cgroup %s: io.max does not show \"%s\"", cg->path, line);
	return 0;
}

static void append(char *text, size_t size, const char *word, const char *value)
{
	size_t at = strlen(text);
	say(text + at, size - at, "%s%s%s", at ? " " : "", word, value);
}

int limits_write_io(struct cgroup *cg, const struct limits *lim, int image, struct err *e)
{
	struct devices d = {.len = 0};
	struct io_key keys[4];
	char value[sizeof(cg->value.io)] = "";
	if (devices_find(&d, image, e) < 0)
		return -1;
	io_keys(keys, lim);
	for (size_t i = 0; i < d.len; i++) {
		char device[24];
		snprintf(device, sizeof(device), "%u:%u", d.at[i].major, d.at[i].minor);
		if (write_device(cg, device, keys, e) < 0)
			return -1;
		append(value, sizeof(value), device, "");
	}
	for (size_t i = 0; i < 4; i++) {
		char number[24];
		snprintf(number, sizeof(number), "=%" PRIu64, keys[i].value);
		if (keys[i].value != LIMIT_NONE)
			append(value, sizeof(value), keys[i].name, number);
	}
	memcpy(cg->value.io, value, sizeof(value));
	return 0;
}

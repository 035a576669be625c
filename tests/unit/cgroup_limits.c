/* What is written to the limit files, and that a file which reads back otherwise is an error. */
#include "cgroup_fake.h"

#include <errno.h>

static const struct limits none = {
	.memory_bytes = LIMIT_NONE,
	.cpus_milli = LIMIT_NONE,
	.pids = LIMIT_NONE,
	.cpu_time_ns = LIMIT_NONE,
	.read_bps = LIMIT_NONE,
	.write_bps = LIMIT_NONE,
	.read_iops = LIMIT_NONE,
	.write_iops = LIMIT_NONE,
};

/* New files are as short as what will be written over them; a regular file keeps the rest. */
static void memory_files(const struct fake *f)
{
	fake_file(f, "memory.max", "max\n");
	fake_file(f, "memory.swap.max", "9");
	fake_file(f, "memory.oom.group", "0");
}

static void memory(void **state)
{
	struct fake *f = *state;
	struct err e = ERR_INIT;
	struct limits lim = none;
	lim.memory_bytes = 64 << 20;
	f->cg.controllers = CG_MEMORY;
	memory_files(f);
	assert_int_equal(limits_write(&f->cg, &lim, &e), 0);
	fake_shows(f, "memory.max", "67108864");
	fake_shows(f, "memory.swap.max", "0");
	fake_shows(f, "memory.oom.group", "1");
	assert_string_equal(f->cg.value.memory, "67108864");
	assert_true(f->cg.swap_file);
}

/* The kernel rounds down to pages. This folder does not, and so does not keep what was asked. */
static void memory_not_rounded(void **state)
{
	struct fake *f = *state;
	struct err e = ERR_INIT;
	struct limits lim = none;
	lim.memory_bytes = (64 << 20) + 100;
	f->cg.controllers = CG_MEMORY;
	memory_files(f);
	assert_int_equal(limits_write(&f->cg, &lim, &e), -1);
	assert_int_equal(e.kind, ERR_HOST);
	assert_non_null(strstr(e.msg, "memory.max: wrote \"67108964\", reads back as \"67108964\""));
}

static void no_memory_limit(void **state)
{
	struct fake *f = *state;
	struct err e = ERR_INIT;
	f->cg.controllers = CG_MEMORY;
	memory_files(f);
	assert_int_equal(limits_write(&f->cg, &none, &e), 0);
	fake_shows(f, "memory.max", "max\n");
	fake_shows(f, "memory.swap.max", "0");
}

/* Swap accounting may be compiled out; that is as good as the limit where there is no swap. */
static void no_swap_file(void **state)
{
	struct fake *f = *state;
	struct err e = ERR_INIT;
	char swaps[4096] = "";
	FILE *proc = fopen("/proc/swaps", "re");
	size_t lines = 0;
	while (proc && fgets(swaps, sizeof(swaps), proc))
		lines++;
	if (proc)
		fclose(proc);
	f->cg.controllers = CG_MEMORY;
	memory_files(f);
	unlinkat(f->cg.dir, "memory.swap.max", 0);
	assert_int_equal(limits_write(&f->cg, &none, &e), 0);
	assert_false(f->cg.swap_file);
	assert_int_equal(f->cg.no_swap, lines <= 1);
}

static void pids_count_init(void **state)
{
	struct fake *f = *state;
	struct err e = ERR_INIT;
	struct limits lim = none;
	lim.pids = 256;
	f->cg.controllers = CG_PIDS;
	fake_file(f, "pids.max", "max");
	assert_int_equal(limits_write(&f->cg, &lim, &e), 0);
	fake_shows(f, "pids.max", "257");
	lim.pids = 5000000; /* more than the kernel can have or takes */
	fake_file(f, "pids.max", "max");
	assert_int_equal(limits_write(&f->cg, &lim, &e), 0);
	fake_shows(f, "pids.max", "max");
}

static void cpus(void **state)
{
	struct fake *f = *state;
	static const struct {
		uint64_t milli;
		const char *text;
	} rows[] = {
		{1000, "100000 100000"},
		{1500, "150000 100000"},
		{64000, "6400000 100000"},
		{10, "1000 100000"},
		{9, "9000 1000000"},
		{1, "1000 1000000"}, /* never a quota below 1 ms, which is EINVAL */
	};
	f->cg.controllers = CG_CPU;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct err e = ERR_INIT;
		struct limits lim = none;
		lim.cpus_milli = rows[i].milli;
		fake_file(f, "cpu.max", "max");
		assert_int_equal(limits_write(&f->cg, &lim, &e), 0);
		fake_shows(f, "cpu.max", rows[i].text);
		assert_string_equal(f->cg.value.cpu, rows[i].text);
	}
}

static void low_priority(void **state)
{
	struct fake *f = *state;
	struct err e = ERR_INIT;
	struct limits lim = none;
	f->cg.controllers = CG_CPU;
	fake_file(f, "cpu.weight", "");
	assert_int_equal(limits_write(&f->cg, &lim, &e), 0);
	fake_shows(f, "cpu.weight", "");
	lim.priority = PRIORITY_LOW;
	assert_int_equal(limits_write(&f->cg, &lim, &e), 0);
	fake_shows(f, "cpu.weight", "10");
}

/* A controller that is not there has no files, and none is looked for. */
static void absent_controllers(void **state)
{
	struct fake *f = *state;
	struct err e = ERR_INIT;
	struct limits lim = none;
	lim.memory_bytes = 64 << 20;
	lim.pids = 10;
	lim.cpus_milli = 1000;
	f->cg.controllers = 0;
	assert_int_equal(limits_write(&f->cg, &lim, &e), 0);
	assert_string_equal(f->cg.value.memory, "");
}

static void absent_file(void **state)
{
	struct fake *f = *state;
	struct err e = ERR_INIT;
	struct limits lim = none;
	lim.pids = 10;
	f->cg.controllers = CG_PIDS;
	assert_int_equal(limits_write(&f->cg, &lim, &e), -1);
	assert_int_equal(e.kind, ERR_HOST);
	assert_int_equal(e.sys, ENOENT);
	assert_non_null(strstr(e.msg, "pids.max"));
}

static void another_value(void **state)
{
	struct fake *f = *state;
	struct err e = ERR_INIT;
	struct limits lim = none;
	lim.pids = 10;
	f->cg.controllers = CG_PIDS;
	fake_file(f, "pids.max", "99999"); /* "11" is written over its beginning */
	assert_int_equal(limits_write(&f->cg, &lim, &e), -1);
	assert_non_null(strstr(e.msg, "reads back as \"11999\""));
	assert_string_equal(f->cg.value.pids, "");
}

static void io_is_wanted(void **state)
{
	(void)state;
	struct limits lim = none;
	assert_false(limits_want_io(&lim));
	lim.write_iops = 100;
	assert_true(limits_want_io(&lim));
	lim.write_iops = UINT32_MAX; /* the kernel's word for none */
	assert_false(limits_want_io(&lim));
}

static void io_on_every_device(void **state)
{
	struct fake *f = *state;
	struct err e = ERR_INIT;
	struct limits lim = none;
	struct devices d;
	char line[128], value[64];
	int root = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(root >= 0);
	if (devices_find(&d, root, &e) < 0) {
		print_message("# SKIP %s\n", e.msg);
		close(root);
		skip();
	}
	lim.read_bps = 1000000;
	lim.write_iops = 50;
	f->cg.controllers = CG_IO;
	snprintf(line, sizeof(line), "%u:%u rbps=1000000 wbps=max riops=max wiops=50\n",
		 d.at[0].major, d.at[0].minor);
	fake_file(f, "io.max", line);
	assert_int_equal(limits_write_io(&f->cg, &lim, root, &e), 0);
	fake_shows(f, "io.max", line);
	snprintf(value, sizeof(value), "%u:%u rbps=1000000 wiops=50", d.at[0].major, d.at[0].minor);
	assert_string_equal(f->cg.value.io, value);
	line[strlen(line) - 1] = '7'; /* the line then ends in 507 */
	fake_file(f, "io.max", line);
	assert_int_equal(limits_write_io(&f->cg, &lim, root, &e), -1);
	assert_non_null(strstr(e.msg, "io.max does not show"));
	close(root);
}

int main(void)
{
#define FAKE(test) cmocka_unit_test_setup_teardown(test, fake_setup, fake_teardown)
	const struct CMUnitTest tests[] = {
		FAKE(memory),	     FAKE(memory_not_rounded),	     FAKE(no_memory_limit),
		FAKE(no_swap_file),  FAKE(pids_count_init),	     FAKE(cpus),
		FAKE(low_priority),  FAKE(absent_controllers),	     FAKE(absent_file),
		FAKE(another_value), cmocka_unit_test(io_is_wanted), FAKE(io_on_every_device),
	};
	return cmocka_run_group_tests_name("cgroup limits", tests, NULL, NULL);
}

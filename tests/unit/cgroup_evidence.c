/* Events, usage and the ledger, out of files as the kernel shows them. */
#include "cgroup_fake.h"

static struct result *new_result(void)
{
	struct result *r = malloc(sizeof(*r));
	assert_non_null(r);
	result_init(r);
	return r;
}

static void own_oom(void **state)
{
	struct fake *f = *state;
	struct cgroup_events ev;
	f->cg.controllers = CG_MEMORY | CG_PIDS;
	fake_file(f, "memory.events.local",
		  "low 0\nhigh 0\nmax 35\noom 1\noom_kill 2\noom_group_kill 1\n");
	fake_file(f, "memory.events", "low 0\nhigh 0\nmax 99\noom 9\noom_kill 9\noom_group_kill 9\n");
	fake_file(f, "pids.events", "max 3\n");
	cgroup_events(&f->cg, &ev);
	assert_int_equal(ev.oom, 1);
	assert_int_equal(ev.oom_kill, 2);
	assert_int_equal(ev.oom_group_kill, 1);
	assert_int_equal(ev.memory_max, 35);
	assert_int_equal(ev.pids_max, 3);
	assert_true(cgroup_events_own_oom(&ev));
}

/* The limit that was reached is further up: its oom rose, here only the kills did. */
static void oom_from_above(void **state)
{
	struct fake *f = *state;
	struct cgroup_events ev;
	f->cg.controllers = CG_MEMORY;
	fake_file(f, "memory.events.local",
		  "low 0\nhigh 0\nmax 0\noom 0\noom_kill 2\noom_group_kill 1\n");
	cgroup_events(&f->cg, &ev);
	assert_false(cgroup_events_own_oom(&ev));
	assert_int_equal(ev.pids_max, NUM_UNKNOWN);
}

/* An allocation that may fail counts an oom and kills nobody. */
static void oom_without_kill(void **state)
{
	struct fake *f = *state;
	struct cgroup_events ev;
	f->cg.controllers = CG_MEMORY;
	fake_file(f, "memory.events",
		  "low 0\nhigh 0\nmax 5\noom 1\noom_kill 0\n"); /* no .local, no group kill: 5.14 */
	cgroup_events(&f->cg, &ev);
	assert_int_equal(ev.oom, 1);
	assert_int_equal(ev.oom_group_kill, NUM_UNKNOWN);
	assert_false(cgroup_events_own_oom(&ev));
}

static void no_controllers(void **state)
{
	struct fake *f = *state;
	struct cgroup_events ev;
	cgroup_events(&f->cg, &ev);
	assert_int_equal(ev.oom, NUM_UNKNOWN);
	assert_int_equal(ev.pids_max, NUM_UNKNOWN);
}

static void cpu(void **state)
{
	struct fake *f = *state;
	struct cgroup_cpu cpu = {0};
	uint64_t usec = 0;
	assert_int_equal(cgroup_cpu_usec(&f->cg, &usec), -1);
	fake_file(f, "cpu.stat", "usage_usec 8000\nuser_usec 5000\nsystem_usec 3000\nnr_periods 0\n");
	assert_int_equal(cgroup_cpu_usec(&f->cg, &usec), 0);
	assert_int_equal(usec, 8000);
	assert_int_equal(cgroup_cpu_times(&f->cg, &cpu), 0);
	assert_int_equal(cpu.user_usec, 5000);
	assert_int_equal(cpu.system_usec, 3000);
	fake_file(f, "cpu.stat", "nr_periods 0\n");
	assert_int_equal(cgroup_cpu_usec(&f->cg, &usec), -1);
}

static void usage(void **state)
{
	struct fake *f = *state;
	struct result *r = new_result();
	f->cg.controllers = CG_MEMORY | CG_PIDS | CG_IO;
	fake_file(f, "memory.stat", "anon 100\nfile 200\nkernel 1\nshmem 300\nfile_mapped 5\n");
	fake_file(f, "memory.peak", "67108864\n");
	fake_file(f, "pids.peak", "21\n");
	fake_file(f, "io.stat",
		  "254:0 rbytes=3145728 wbytes=1 rios=48 wios=2 dbytes=0 dios=0\n7:0 \n"
		  "8:16 rbytes=5 wbytes=6 rios=7 wios=8 dbytes=0 dios=0\n");
	fake_file(f, "cpu.pressure",
		  "some avg10=0.00 avg60=0.00 avg300=0.00 total=12\n"
		  "full avg10=0.00 avg60=0.00 avg300=0.00 total=34\n");
	cgroup_usage(&f->cg, r);
	cgroup_pressure(&f->cg, r);
	assert_int_equal(r->usage.anon_bytes, 100);
	assert_int_equal(r->usage.file_bytes, 200);
	assert_int_equal(r->usage.shmem_bytes, 300);
	assert_int_equal(r->usage.memory_peak_bytes, 67108864);
	assert_int_equal(r->usage.pids_peak, 20); /* pid 1 is not counted */
	assert_int_equal(r->usage.io_len, 2);
	assert_string_equal(r->usage.io[0].device, "254:0");
	assert_int_equal(r->usage.io[0].rbytes, 3145728);
	assert_int_equal(r->usage.io[0].wios, 2);
	assert_string_equal(r->usage.io[1].device, "8:16");
	assert_int_equal(r->usage.cpu_pressure.some_usec, 12);
	assert_int_equal(r->usage.cpu_pressure.full_usec, 34);
	assert_int_equal(r->usage.io_pressure.some_usec, NUM_UNKNOWN);
	free(r);
}

/* The composition is that of before the kill: a later reading does not change it. */
static void composition_stays(void **state)
{
	struct fake *f = *state;
	struct result *r = new_result();
	f->cg.controllers = CG_MEMORY;
	fake_file(f, "memory.stat", "anon 100\nfile 200\nshmem 300\n");
	cgroup_composition(&f->cg, r);
	fake_file(f, "memory.stat", "anon 0\nfile 0\nshmem 0\n");
	cgroup_usage(&f->cg, r);
	cgroup_pressure(&f->cg, r);
	assert_int_equal(r->usage.anon_bytes, 100);
	assert_int_equal(r->usage.memory_peak_bytes, NUM_UNKNOWN); /* no such file before 5.19 */
	free(r);
}

static void populated(void **state)
{
	struct fake *f = *state;
	assert_int_equal(cgroup_populated(&f->cg), -1);
	fake_file(f, "cgroup.events", "populated 1\nfrozen 0\n");
	assert_int_equal(cgroup_populated(&f->cg), 1);
	fake_file(f, "cgroup.events", "populated 0\nfrozen 0\n");
	assert_int_equal(cgroup_populated(&f->cg), 0);
}

static void ledger(void **state)
{
	struct fake *f = *state;
	struct result *r = new_result();
	struct limits lim = {.cpu_time_ns = 1000000000};
	f->cg.controllers = CG_MEMORY | CG_PIDS;
	f->cg.swap_file = true;
	strcpy(f->cg.value.memory, "67108864");
	strcpy(f->cg.value.swap, "0");
	fake_file(f, "cpu.stat", "usage_usec 8000\nuser_usec 5000\nsystem_usec 3000\n");
	cgroup_guarantees(&f->cg, &lim, r->guarantees);
	assert_int_equal(r->guarantees[G_MEMORY].state, G_ENFORCED);
	assert_string_equal(r->guarantees[G_MEMORY].by, "memory.max");
	assert_string_equal(r->guarantees[G_MEMORY].value, "67108864");
	assert_string_equal(r->guarantees[G_SWAP].by, "memory.swap.max");
	assert_string_equal(r->guarantees[G_PIDS].value, "max"); /* none was asked for */
	assert_int_equal(r->guarantees[G_CPU_TIME].state, G_ENFORCED);
	assert_int_equal(r->guarantees[G_CPUS].state, G_ABSENT);
	assert_int_equal(r->guarantees[G_IO].state, G_ABSENT);
	assert_int_equal(r->guarantees[G_KILL].state, G_ABSENT);
	free(r);
}

/* A partition's folder is in its disk's, and io.max takes disks only. */
static void partition(void **state)
{
	struct fake *f = *state;
	struct devices d = {.len = 0};
	fake_file(f, "dev", "8:0\n");
	assert_int_equal(devices_add_sysfs(&d, f->cg.dir), 0);
	assert_int_equal(mkdirat(f->cg.dir, "sda1", 0755), 0);
	int part = openat(f->cg.dir, "sda1", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	fake_file(f, "sda1/dev", "8:1\n");
	fake_file(f, "sda1/partition", "1\n");
	assert_int_equal(devices_add_sysfs(&d, part), 0);
	assert_int_equal(d.len, 1); /* the same disk */
	assert_int_equal(d.at[0].major, 8);
	assert_int_equal(d.at[0].minor, 0);
	unlinkat(f->cg.dir, "sda1/dev", 0);
	unlinkat(f->cg.dir, "sda1/partition", 0);
	close(part);
	unlinkat(f->cg.dir, "sda1", AT_REMOVEDIR);
}

static void no_disk(void **state)
{
	(void)state;
	struct devices d;
	struct err e = ERR_INIT;
	int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(devices_find(&d, proc, &e), -1);
	assert_int_equal(e.kind, ERR_HOST);
	assert_non_null(strstr(e.msg, "(proc proc)"));
	close(proc);
	assert_int_equal(devices_find(&d, -1, &e), -1);
}

int main(void)
{
#define FAKE(test) cmocka_unit_test_setup_teardown(test, fake_setup, fake_teardown)
	const struct CMUnitTest tests[] = {
		FAKE(own_oom),
		FAKE(oom_from_above),
		FAKE(oom_without_kill),
		FAKE(no_controllers),
		FAKE(cpu),
		FAKE(usage),
		FAKE(composition_stays),
		FAKE(populated),
		FAKE(ledger),
		FAKE(partition),
		cmocka_unit_test(no_disk),
	};
	return cmocka_run_group_tests_name("cgroup evidence", tests, NULL, NULL);
}

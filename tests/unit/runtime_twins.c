/* Memory that several processes have between them counts once, and only that. */
#include "runtime/twins.h"

#include "base/fd.h"

#include <fcntl.h>
#include <linux/kcmp.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { STACK = 65536, LEN = 3 };

static int wait_for_end(void *unused)
{
	(void)unused;
	for (;;)
		pause();
	return 0;
}

static pid_t child(int flags)
{
	char *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	assert_true(stack != MAP_FAILED);
	const pid_t pid = clone(wait_for_end, stack + STACK, flags | SIGCHLD, NULL);
	assert_true(pid > 0);
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static int larger_pid(const void *left, const void *right)
{
	const struct process *a = left, *b = right;
	return a->pid - b->pid;
}

/* A filter around us may forbid it. */
static void need_kcmp(void)
{
	if (syscall(SYS_kcmp, getpid(), getpid(), KCMP_VM, 0, 0) < 0)
		skip();
}

/* The kernel says so, whatever the figures are: ours, and those of a child with flags. */
static struct twice with_child(int flags)
{
	const pid_t pid = child(flags);
	struct process processes[] = {{.pid = getpid(), .begin = 1, .end = 2, .private = 10},
				      {.pid = pid, .begin = 1, .end = 2, .private = 30, .loose = 5}};
	autoclose int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const struct watch w = {.proc = proc, .outer = true};
	qsort(processes, 2, sizeof(*processes), larger_pid);
	const struct twice twice = twins_count(&w, processes, 2);
	end(pid);
	return twice;
}

static void test_one_memory(void **state)
{
	(void)state;
	need_kcmp();
	assert_int_equal(with_child(CLONE_VM).private, 10);
	assert_int_equal(with_child(CLONE_VM).loose, 0);
}

static void test_fork(void **state)
{
	(void)state;
	assert_int_equal(with_child(0).private, 0);
}

/* Three with one memory, the first of them seen while it was small. */
static void test_larger_figure(void **state)
{
	(void)state;
	need_kcmp();
	pid_t pids[LEN] = {getpid(), child(CLONE_VM), child(CLONE_VM)};
	struct process processes[LEN] = {0};
	autoclose int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const struct watch w = {.proc = proc, .outer = true};
	for (int i = 0; i < LEN; i++)
		processes[i].pid = pids[i];
	qsort(processes, LEN, sizeof(*processes), larger_pid);
	for (int i = 0; i < LEN; i++)
		processes[i].private = i == 0 ? 10 : 100;
	assert_int_equal(twins_count(&w, processes, LEN).private, 110);
	end(pids[1]);
	end(pids[2]);
}

/* Neither is there any more. */
static void test_ended(void **state)
{
	(void)state;
	pid_t pids[2] = {child(0), child(0)};
	siginfo_t info;
	for (int i = 0; i < 2; i++) {
		kill(pids[i], SIGKILL);
		waitid(P_PID, (id_t)pids[i], &info, WEXITED | WNOWAIT);
	}
	struct process processes[] = {{.pid = pids[0], .private = 10},
				      {.pid = pids[1], .private = 10}};
	autoclose int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const struct watch w = {.proc = proc, .outer = true};
	assert_int_equal(twins_count(&w, processes, 2).private, 0);
	for (int i = 0; i < 2; i++)
		waitpid(pids[i], NULL, 0);
}

/* Where the kernel does not say: one for each that sleeps in vfork, if its bounds are the same. */
static void test_asleep(void **state)
{
	(void)state;
	const struct process untold[] =
		{{.pid = 2, .begin = 1, .end = 9, .private = 50},
		 {.pid = 3, .parent = 2, .begin = 1, .end = 9, .private = 50, .sleepers = 1},
		 {.pid = 4, .parent = 2, .begin = 1, .end = 9, .private = 50, .sleepers = 1}};
	struct process processes[LEN];
	const struct watch w = {.proc = -1};
	memcpy(processes, untold, sizeof(untold));
	assert_int_equal(twins_count(&w, processes, LEN).private, 50);
	memcpy(processes, untold, sizeof(untold));
	processes[1].sleepers = processes[2].sleepers = 0;
	assert_int_equal(twins_count(&w, processes, LEN).private, 0);
	memcpy(processes, untold, sizeof(untold));
	processes[1].begin = processes[2].begin = 3;
	assert_int_equal(twins_count(&w, processes, LEN).private, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_memory),    cmocka_unit_test(test_fork),
		cmocka_unit_test(test_larger_figure), cmocka_unit_test(test_ended),
		cmocka_unit_test(test_asleep),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

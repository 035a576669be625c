/* Children tell how they ended, whatever the caller does with SIGCHLD; spawned ones have their ends and nothing else. */
#include "runtime/sibling.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* Of a shell; until the next call. */
static char *const *words(const char *script)
{
	static char sh[] = "sh", c[] = "-c", text[160];
	static char *const all[] = {sh, c, text, NULL};
	snprintf(text, sizeof(text), "%s", script);
	return all;
}

static int ignore(void **state)
{
	(void)state;
	return signal(SIGCHLD, SIG_IGN) == SIG_ERR;
}

static int attend(void **state)
{
	(void)state;
	return signal(SIGCHLD, SIG_DFL) == SIG_ERR;
}

static void run(void **state)
{
	(void)state;
	struct err e = ERR_INIT;
	assert_int_equal(sibling_run("/bin/sh", words("exit 7"), STDOUT_FILENO, &e), 7);
}

static void started(void **state)
{
	(void)state;
	struct err e = ERR_INIT;
	struct sibling s = SIBLING_INIT;
	s.path = "/bin/sh";
	s.argv = words("exit 7");
	assert_int_equal(sibling_start(&s, &e), 0);
	assert_int_equal(sibling_wait(&s), 7);
	s.argv = words("kill $$");
	assert_int_equal(sibling_start(&s, &e), 0);
	assert_int_equal(sibling_wait(&s), 128 + SIGTERM);
	assert_int_equal(s.pidfd, -1);
	s.path = "/none";
	assert_int_equal(sibling_start(&s, &e), 0);
	assert_int_equal(sibling_wait(&s), 127);
}

/* Also where ours have each other's numbers. */
static void spawned(void **state)
{
	(void)state;
	struct err e = ERR_INIT;
	enum { FIRST = 40, SECOND = 41 };
	char said[64] = "";
	int pipes[2], status = 0;
	assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
	assert_int_equal(dup3(pipes[1], SECOND, O_CLOEXEC), SECOND);
	const int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	assert_int_equal(dup3(null, FIRST, O_CLOEXEC), FIRST);
	assert_int_equal(dup2(pipes[1], 42), 42); /* and no flag keeps it from a child */
	assert_int_equal(fcntl(42, F_SETFD, FD_CLOEXEC), 0);
	const struct sibling_end ends[] = {{SECOND, FIRST}, {FIRST, SECOND}};
	const pid_t pid =
		sibling_spawn("/bin/sh",
			      words("cd /proc/self/fd; echo one >40; echo two >41; test -e 42 && echo more >40; exit 7"),
			      ends, &e);
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(WEXITSTATUS(status), 7);
	assert_int_equal(read(pipes[0], said, sizeof(said) - 1), strlen("one\n"));
	assert_string_equal(said, "one\n");
	for (int fd = FIRST; fd <= 42; fd++)
		close(fd);
	close(null);
	close(pipes[0]);
	close(pipes[1]);
}

static void what_is_not_there(void **state)
{
	(void)state;
	struct err e = ERR_INIT;
	const struct sibling_end ends[] = {{STDIN_FILENO, 3}, {STDIN_FILENO, 4}};
	assert_int_equal(sibling_spawn("/none", words(""), ends, &e), -1);
	assert_non_null(strstr(e.msg, "execute /none"));
	const struct sibling_end closed[] = {{STDIN_FILENO, 3}, {-1, 4}};
	assert_int_equal(sibling_spawn("/bin/sh", words(""), closed, &e), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(run, attend, attend),
		cmocka_unit_test_setup_teardown(run, ignore, attend),
		cmocka_unit_test_setup_teardown(started, attend, attend),
		cmocka_unit_test_setup_teardown(started, ignore, attend),
		cmocka_unit_test_setup_teardown(spawned, attend, attend),
		cmocka_unit_test_setup_teardown(spawned, ignore, attend),
		cmocka_unit_test(what_is_not_there),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* A budget opens at any time, also while others put the next state in its place. */
#include "pipeline/budget.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[64], path[96], fresh[96], lock[112];

static int make_budget(void **state)
{
	static const uint64_t price[BUDGET_PRICES];
	uint64_t limit[BUDGET_QUANTITIES];
	struct err e = ERR_INIT;
	(void)state;
	snprintf(folder, sizeof(folder), "/tmp/pinfold-budget.XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/budget.json", folder);
	snprintf(fresh, sizeof(fresh), "%s/fresh", folder);
	snprintf(lock, sizeof(lock), "%s.lock", path);
	for (int q = 0; q < BUDGET_QUANTITIES; q++)
		limit[q] = 40;
	return budget_create(path, limit, price, &e);
}

static int remove_budget(void **state)
{
	(void)state;
	unlink(fresh);
	unlink(lock);
	unlink(path);
	return rmdir(folder);
}

/* As a step does it, but without its flushes: as often as can be. */
static int replace_in_turns(const char *text)
{
	enum { REPLACED = 20000 };
	for (int i = 0; i < REPLACED; i++) {
		const int fd = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		if (fd < 0 || write(fd, text, strlen(text)) < 0 || close(fd) < 0 ||
		    rename(fresh, path) < 0)
			return 1;
	}
	return 0;
}

static char *text_of_it(void)
{
	struct err e = ERR_INIT;
	struct budget_state s;
	autobudget b = BUDGET_INIT;
	assert_int_equal(budget_open(&b, path, &e), 0);
	assert_int_equal(budget_look(&b, &s, &e), 0);
	char *text = budget_format(&s);
	assert_non_null(text);
	return text;
}

static void it_opens_while_others_replace_it(void **state)
{
	(void)state;
	int status = 0, refused = 0;
	struct err e = ERR_INIT;
	char *text = text_of_it();
	pid_t ended;
	const pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		_exit(replace_in_turns(text));
	while ((ended = waitpid(pid, &status, WNOHANG)) == 0) {
		autobudget b = BUDGET_INIT;
		refused += budget_open(&b, path, &e) < 0;
	}
	free(text);
	assert_true(ended == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0);
	if (refused > 0)
		fail_msg("%d times: %s", refused, e.msg);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(it_opens_while_others_replace_it, make_budget,
						remove_budget),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* A budget opens at any time, also while others put the next state in its place, and is charged
 * with what was reserved from a state that somebody put back since. */
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

static int replace_once(const char *text)
{
	const int fd = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	return fd >= 0 && write(fd, text, strlen(text)) >= 0 && close(fd) == 0 ? rename(fresh, path)
									       : -1;
}

/* As a step does it, but without its flushes: as often as can be. */
static int replace_in_turns(const char *text)
{
	enum { REPLACED = 20000 };
	for (int i = 0; i < REPLACED; i++)
		if (replace_once(text) < 0)
			return 1;
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

/* Its own part of it is gone with the reservation; what nobody measured is still counted as reserved. */
static void what_was_reserved_is_charged_to_an_older_state(void **state)
{
	(void)state;
	struct err e = ERR_INIT;
	struct budget_refusal why;
	struct budget_state s;
	const struct budget_amount upper = {{10, 20, 30, 1}};
	const struct budget_amount measured = {{BUDGET_UNKNOWN, 5, BUDGET_UNKNOWN, 1}};
	autobudget b = BUDGET_INIT;
	char *older = text_of_it();
	assert_int_equal(budget_open(&b, path, &e), 0);
	assert_int_equal(budget_reserve(&b, &upper, &why, &e), 1);
	assert_int_equal(replace_once(older), 0);
	free(older);
	assert_int_equal(budget_settle(&b, &measured, &e), 0);
	assert_int_equal(budget_look(&b, &s, &e), 0);
	assert_int_equal(s.spent.of[BUDGET_CPU], 10);
	assert_int_equal(s.spent.of[BUDGET_WALL], 5);
	assert_int_equal(s.spent.of[BUDGET_MEMORY], 30);
	assert_int_equal(s.settled, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(it_opens_while_others_replace_it, make_budget,
						remove_budget),
		cmocka_unit_test_setup_teardown(what_was_reserved_is_charged_to_an_older_state,
						make_budget, remove_budget),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

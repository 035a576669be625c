/* A budget that several share: sums by hand, files that are refused, many at once, and one that is killed at every step. */
#include "pipeline/budget.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[64], path[96];

static int make_folder(void **state)
{
	(void)state;
	snprintf(folder, sizeof(folder), "/tmp/pinfold-budget.XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/budget.json", folder);
	return 0;
}

static int remove_folder(void **state)
{
	static const char *const names[] = {"budget.json", "budget.json.lock", ".budget.json.new",
					    "other"};
	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		char name[160];
		snprintf(name, sizeof(name), "%s/%s", folder, names[i]);
		unlink(name);
		rmdir(name);
	}
	return rmdir(folder);
}

static const uint64_t no_price[BUDGET_PRICES];

static void create(uint64_t cpu, uint64_t runs)
{
	struct err e = ERR_INIT;
	uint64_t limit[BUDGET_QUANTITIES];
	for (int q = 0; q < BUDGET_QUANTITIES; q++)
		limit[q] = BUDGET_NONE;
	limit[BUDGET_CPU] = cpu;
	limit[BUDGET_RUNS] = runs;
	if (budget_create(path, limit, no_price, &e) < 0)
		fail_msg("%s", e.msg);
}

static void open_it(struct budget *b)
{
	struct err e = ERR_INIT;
	if (budget_open(b, path, &e) < 0)
		fail_msg("%s", e.msg);
}

static struct budget_state look(void)
{
	struct err e = ERR_INIT;
	struct budget_state s;
	autobudget b = BUDGET_INIT;
	open_it(&b);
	if (budget_look(&b, &s, &e) < 0)
		fail_msg("%s", e.msg);
	return s;
}

static struct budget_amount cpu_of(uint64_t cpu)
{
	return (struct budget_amount){{[BUDGET_CPU] = cpu, [BUDGET_RUNS] = 1}};
}

static int reserve(struct budget *b, uint64_t cpu, struct budget_refusal *why)
{
	struct err e = ERR_INIT;
	const struct budget_amount amount = cpu_of(cpu);
	const int rc = budget_reserve(b, &amount, why, &e);
	if (rc < 0)
		fail_msg("%s", e.msg);
	return rc;
}

static void settle(struct budget *b, uint64_t cpu)
{
	struct err e = ERR_INIT;
	const struct budget_amount amount = cpu_of(cpu);
	if (budget_settle(b, &amount, &e) < 0)
		fail_msg("%s", e.msg);
}

static void a_reservation_counts_until_it_is_settled(void **state)
{
	(void)state;
	struct budget_refusal why;
	autobudget one = BUDGET_INIT, two = BUDGET_INIT;
	create(100, 10);
	open_it(&one);
	open_it(&two);
	assert_int_equal(reserve(&one, 60, &why), 1);
	struct budget_state s = look();
	assert_int_equal(budget_used(&s, BUDGET_CPU), 60);
	assert_int_equal(s.spent.of[BUDGET_CPU], 0);
	assert_int_equal(s.holds_len, 1);
	assert_int_equal(s.holds[0].pid, getpid());
	/* 41 more would be 101. */
	assert_int_equal(reserve(&two, 41, &why), 0);
	assert_int_equal(why.quantity, BUDGET_CPU);
	assert_true(why.asked == 41 && why.used == 60 && why.limit == 100);
	assert_int_equal(reserve(&two, 40, &why), 1);
	settle(&one, 10);
	s = look();
	assert_int_equal(budget_used(&s, BUDGET_CPU), 50);
	assert_int_equal(s.spent.of[BUDGET_CPU], 10);
	assert_int_equal(s.spent.of[BUDGET_RUNS], 1);
	/* What was measured counts, even if it is more. */
	settle(&two, 90);
	s = look();
	assert_int_equal(budget_used(&s, BUDGET_CPU), 100);
	assert_int_equal(s.settled, 2);
	assert_int_equal(s.holds_len, 0);
	assert_int_equal(reserve(&one, 0, &why), 1);
	settle(&one, 0);
	assert_int_equal(reserve(&one, 1, &why), 0);
}

static void who_ends_without_settling_has_spent_it_all(void **state)
{
	(void)state;
	struct budget_refusal why;
	autobudget one = BUDGET_INIT;
	create(100, 10);
	open_it(&one);
	assert_int_equal(reserve(&one, 70, &why), 1);
	budget_close(&one);
	struct budget_state s = look();
	assert_int_equal(s.abandoned, 1);
	assert_int_equal(s.spent.of[BUDGET_CPU], 70);
	open_it(&one);
	assert_int_equal(reserve(&one, 31, &why), 0);
	assert_int_equal(reserve(&one, 30, &why), 1);
	settle(&one, 5);
	s = look();
	assert_int_equal(s.spent.of[BUDGET_CPU], 75);
	assert_int_equal(s.abandoned, 1);
	assert_int_equal(s.settled, 1);
}

static void what_is_unknown_fits_nowhere_that_is_limited(void **state)
{
	(void)state;
	struct budget_refusal why;
	struct err e = ERR_INIT;
	autobudget one = BUDGET_INIT;
	create(100, 10);
	open_it(&one);
	assert_int_equal(reserve(&one, BUDGET_UNKNOWN, &why), 0);
	assert_true(why.quantity == BUDGET_CPU && why.asked == BUDGET_UNKNOWN);
	/* Wall time is not limited. */
	struct budget_amount a = cpu_of(10);
	a.of[BUDGET_WALL] = BUDGET_UNKNOWN;
	assert_int_equal(budget_reserve(&one, &a, &why, &e), 1);
	/* A measurement that the host could not make counts as it was reserved. */
	a.of[BUDGET_CPU] = BUDGET_UNKNOWN;
	a.of[BUDGET_WALL] = 77;
	assert_int_equal(budget_settle(&one, &a, &e), 0);
	const struct budget_state s = look();
	assert_int_equal(s.spent.of[BUDGET_CPU], 10);
	assert_int_equal(s.spent.of[BUDGET_WALL], 77);
}

static void steps_out_of_order_are_bugs(void **state)
{
	(void)state;
	struct budget_refusal why;
	struct err e = ERR_INIT;
	autobudget one = BUDGET_INIT;
	const struct budget_amount a = cpu_of(1);
	create(100, 10);
	open_it(&one);
	assert_int_equal(budget_settle(&one, &a, &e), -1);
	assert_int_equal(e.kind, ERR_BUG);
	assert_int_equal(reserve(&one, 1, &why), 1);
	assert_int_equal(budget_reserve(&one, &a, &why, &e), -1);
	assert_int_equal(e.kind, ERR_BUG);
}

static void money_is_rounded_up(void **state)
{
	(void)state;
	struct budget_state s = {.price = {[PRICE_CPU_HOUR] = 40000, /* 0.04 an hour */
					   [PRICE_MEMORY_GIB_HOUR] = 5000,
					   [PRICE_RUN] = 7}};
	struct budget_amount a = budget_amount_of(3600000000, 7200000000, 1 << 30, 1);
	/* Two hours of a processor, one of a gibibyte, a run. */
	assert_int_equal(budget_money(&s, &a), 80000 + 5000 + 7);
	a = (struct budget_amount){{[BUDGET_CPU] = 1}};
	assert_int_equal(budget_money(&s, &a), 1);
	a = (struct budget_amount){{0}};
	assert_int_equal(budget_money(&s, &a), 0);
	/* Wall time has no price here, so that it may be unknown. */
	a.of[BUDGET_WALL] = BUDGET_UNKNOWN;
	assert_int_equal(budget_money(&s, &a), 0);
	a.of[BUDGET_CPU] = BUDGET_UNKNOWN;
	assert_true(budget_money(&s, &a) == BUDGET_UNKNOWN);
	a.of[BUDGET_CPU] = BUDGET_MOST;
	s.price[PRICE_CPU_HOUR] = BUDGET_MOST;
	assert_true(budget_money(&s, &a) == BUDGET_UNKNOWN);
}

static void amounts_do_not_wrap(void **state)
{
	(void)state;
	struct budget_amount a = budget_amount_of(10, 20, (3 << 20) + 1, 5);
	assert_int_equal(a.of[BUDGET_WALL], 50);
	assert_int_equal(a.of[BUDGET_CPU], 100);
	assert_int_equal(a.of[BUDGET_MEMORY], 200);
	assert_int_equal(a.of[BUDGET_RUNS], 5);
	a = budget_amount_of(BUDGET_MOST, BUDGET_UNKNOWN, BUDGET_UNKNOWN - 1, 2);
	assert_true(a.of[BUDGET_WALL] == BUDGET_UNKNOWN && a.of[BUDGET_CPU] == BUDGET_UNKNOWN);
	assert_true(a.of[BUDGET_MEMORY] == BUDGET_UNKNOWN);
}

static void a_sum_that_cannot_be_counted_is_refused(void **state)
{
	(void)state;
	struct budget_refusal why;
	struct err e = ERR_INIT;
	autobudget one = BUDGET_INIT;
	create(BUDGET_MOST, BUDGET_NONE);
	open_it(&one);
	assert_int_equal(reserve(&one, BUDGET_MOST, &why), 1);
	settle(&one, BUDGET_MOST);
	assert_int_equal(reserve(&one, 1, &why), 0);
	assert_int_equal(reserve(&one, 0, &why), 1);
	const struct budget_amount more = cpu_of(1);
	assert_int_equal(budget_settle(&one, &more, &e), -1);
	assert_non_null(strstr(e.msg, "more than can be counted"));
}

/* ---- files ---- */

static void put(const char *text, mode_t mode)
{
	const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0) {
		fail_msg("open %s", path);
		return;
	}
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
}

static void not_opened(const char *says)
{
	struct err e = ERR_INIT;
	autobudget b = BUDGET_INIT;
	assert_int_equal(budget_open(&b, path, &e), -1);
	assert_int_equal(b.folder, -1);
	if (!strstr(e.msg, says))
		fail_msg("%s", e.msg);
}

#define PLAIN "{\"schema\":\"pinfold.budget/1\",\"limits\":{\"cpu_usec\":100}}"

static void a_file_that_is_not_safe_is_refused(void **state)
{
	(void)state;
	char other[96];
	snprintf(other, sizeof(other), "%s/other", folder);
	not_opened("No such file");
	put(PLAIN, 0644);
	not_opened("closed to others");
	put(PLAIN, 0620);
	not_opened("closed to others");
	put(PLAIN, 0600);
	assert_int_equal(link(path, other), 0);
	not_opened("another name");
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink(other, path), 0);
	not_opened("is a link");
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	not_opened("no regular file");
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkdir(path, 0700), 0);
	not_opened("no regular file");
	assert_int_equal(rmdir(path), 0);
	if (geteuid() == 0) {
		put(PLAIN, 0600);
		assert_int_equal(chown(path, 12345, 12345), 0);
		not_opened("this user's own");
		assert_int_equal(unlink(path), 0);
	}
	put(PLAIN, 0600);
	assert_int_equal(chmod(folder, 0777), 0);
	not_opened("may be changed by others");
	assert_int_equal(chmod(folder, 0700), 0);
	/* And the lock beside it. */
	snprintf(other, sizeof(other), "%s/budget.json.lock", folder);
	assert_int_equal(symlink("/dev/null", other), 0);
	not_opened("is a link");
	assert_int_equal(unlink(other), 0);
	open_it(&(struct budget)BUDGET_INIT);
}

static void a_file_that_is_there_is_not_made_anew(void **state)
{
	(void)state;
	struct err e = ERR_INIT;
	uint64_t limit[BUDGET_QUANTITIES] = {0};
	create(100, 1);
	assert_int_equal(budget_create(path, limit, no_price, &e), -1);
	assert_non_null(strstr(e.msg, "is there already"));
	assert_int_equal(look().limit[BUDGET_CPU], 100);
	struct stat st;
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
}

static void a_document_that_is_none_is_refused(void **state)
{
	(void)state;
	static const struct {
		const char *text, *says;
	} rows[] = {
		{"", "budget.json:1:"},
		{"{", "budget.json:1:"},
		{"[]", "an object"},
		{"{}", "schema"},
		{"{\"schema\":\"pinfold.budget/2\",\"limits\":{}}", "is wanted"},
		{"{\"schema\":\"pinfold.budget/1\"}", "limits"},
		{"{\"schema\":\"pinfold.budget/1\",\"limits\":{\"cpu\":1}}", "nobody knows"},
		{"{\"schema\":\"pinfold.budget/1\",\"limits\":{\"runs\":-1}}", "whole number"},
		{"{\"schema\":\"pinfold.budget/1\",\"limits\":{\"runs\":1.5}}", "whole number"},
		{"{\"schema\":\"pinfold.budget/1\",\"limits\":{\"runs\":9223372036854775808}}",
		 "budget.json:1:"},
		{"{\"schema\":\"pinfold.budget/1\",\"limits\":{},\"limits\":{}}", "duplicate"},
		{"{\"schema\":\"pinfold.budget/1\",\"limits\":{},\"spent\":{\"runs\":null}}",
		 "whole number"},
		{"{\"schema\":\"pinfold.budget/1\",\"limits\":{},\"reserved\":{}}", "array"},
		{"{\"schema\":\"pinfold.budget/1\",\"limits\":{},\"reserved\":[{}]}", "id"},
		{"{\"schema\":\"pinfold.budget/1\",\"limits\":{},\"reserved\":[{\"id\":\"00000000000000ff\",\"entry\":0,"
		 "\"pid\":1,\"since\":1,\"amount\":{}}]}",
		 "out of range"},
		{"{\"schema\":\"pinfold.budget/1\",\"limits\":{},\"reserved\":["
		 "{\"id\":\"00000000000000ff\",\"entry\":1,\"pid\":1,\"since\":1,\"amount\":{}},"
		 "{\"id\":\"00000000000000fe\",\"entry\":1,\"pid\":1,\"since\":1,\"amount\":{}}]}",
		 "stands twice"},
		{PLAIN "x", "budget.json:1:"},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		put(rows[i].text, 0600);
		not_opened(rows[i].says);
	}
}

static void what_a_person_wrote_is_taken(void **state)
{
	(void)state;
	struct budget_refusal why;
	autobudget b = BUDGET_INIT;
	put("{\n  \"schema\": \"pinfold.budget/1\",\n  \"limits\": {\"money_micro\": 1000000, \"runs\": null},\n"
	    "  \"prices\": {\"cpu_hour\": 3600000000}\n}\n",
	    0600);
	open_it(&b);
	/* A unit of money for a microsecond: 600,000 of a million. */
	assert_int_equal(reserve(&b, 600000, &why), 1);
	const struct budget_state s = look();
	assert_int_equal(s.holds[0].amount.of[BUDGET_MONEY], 600000);
	assert_int_equal(s.holds[0].amount.of[BUDGET_RUNS], 1);
	autobudget c = BUDGET_INIT;
	open_it(&c);
	assert_int_equal(reserve(&c, 400001, &why), 0);
	assert_int_equal(why.quantity, BUDGET_MONEY);
	assert_int_equal(why.asked, 400001);
}

static void what_is_written_is_read_again(void **state)
{
	(void)state;
	struct budget_state s = {.settled = 3, .abandoned = 4, .holds_len = BUDGET_HOLDS_MAX}, again;
	struct err e = ERR_INIT;
	for (int q = 0; q < BUDGET_QUANTITIES; q++) {
		s.limit[q] = q % 2 ? BUDGET_NONE : BUDGET_MOST;
		s.spent.of[q] = BUDGET_MOST - (uint64_t)q;
	}
	for (uint32_t i = 0; i < BUDGET_HOLDS_MAX; i++)
		s.holds[i] = (struct budget_hold){UINT64_MAX - i, i + 1, INT32_MAX, BUDGET_MOST,
						  s.spent};
	char *text = budget_format(&s);
	assert_non_null(text);
	assert_true(strlen(text) < BUDGET_BYTES_MAX);
	if (budget_parse(&again, "text", text, strlen(text), &e) < 0)
		fail_msg("%s", e.msg);
	free(text);
	assert_memory_equal(&s, &again, sizeof(s));
	assert_true(budget_used(&again, BUDGET_CPU) == BUDGET_UNKNOWN);
}

/* ---- many at once ---- */

enum { PROCESSES = 16, TURNS = 12, LIMIT = 40, UPPER = 5 };

/* What one of them spent in all: each settles to less than it reserved. */
static int spend_in_turns(int number)
{
	int spent = 0;
	for (int turn = 0; turn < TURNS; turn++) {
		struct err e = ERR_INIT;
		struct budget_refusal why;
		struct budget_state s;
		autobudget b = BUDGET_INIT;
		const struct budget_amount upper = cpu_of(UPPER);
		const struct budget_amount less = cpu_of((uint64_t)((number + turn) % 2));
		if (budget_open(&b, path, &e) < 0)
			return 200;
		const int got = budget_reserve(&b, &upper, &why, &e);
		if (got < 0 || budget_look(&b, &s, &e) < 0 || budget_used(&s, BUDGET_CPU) > LIMIT)
			return 201;
		if (got == 0)
			continue;
		if (budget_settle(&b, &less, &e) < 0)
			return 202;
		spent += (int)less.of[BUDGET_CPU];
	}
	return spent;
}

static void sixteen_never_exceed_it(void **state)
{
	(void)state;
	pid_t pids[PROCESSES];
	uint64_t spent = 0;
	create(LIMIT, BUDGET_NONE);
	for (int i = 0; i < PROCESSES; i++) {
		pids[i] = fork();
		assert_true(pids[i] >= 0);
		if (pids[i] == 0)
			_exit(spend_in_turns(i));
	}
	for (int i = 0; i < PROCESSES; i++) {
		int status;
		assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
		assert_true(WIFEXITED(status));
		assert_in_range(WEXITSTATUS(status), 0, TURNS);
		spent += (uint64_t)WEXITSTATUS(status);
	}
	const struct budget_state s = look();
	assert_true(spent > 0 && spent <= LIMIT);
	assert_int_equal(s.spent.of[BUDGET_CPU], spent);
	assert_int_equal(s.holds_len, 0);
	assert_int_equal(s.abandoned, 0);
}

/* ---- killed at every step ---- */

static void reserves_and_settles(void)
{
	struct err e = ERR_INIT;
	struct budget_refusal why;
	autobudget b = BUDGET_INIT;
	const struct budget_amount upper = cpu_of(50), less = cpu_of(3);
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	raise(SIGSTOP);
	const bool done = budget_open(&b, path, &e) == 0 &&
			  budget_reserve(&b, &upper, &why, &e) == 1 &&
			  budget_settle(&b, &less, &e) == 0;
	budget_close(&b);
	_exit(done ? 0 : 1);
}

/* The child makes so many steps into and out of system calls, then is killed. True: it came to its end before. */
static bool killed_after(unsigned steps)
{
	int status;
	const pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		reserves_and_settles();
	assert_int_equal(waitpid(pid, &status, 0), pid);
	for (unsigned i = 0; i < steps && WIFSTOPPED(status); i++) {
		assert_int_equal(ptrace(PTRACE_SYSCALL, pid, NULL, NULL), 0);
		assert_int_equal(waitpid(pid, &status, 0), pid);
	}
	if (WIFSTOPPED(status)) {
		assert_int_equal(kill(pid, SIGKILL), 0);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSIGNALED(status));
		return false;
	}
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	return true;
}

static void killed_at_any_step_it_adds_up(void **state)
{
	(void)state;
	unsigned steps = 0, untouched = 0, abandoned = 0, settled = 0;
	uint64_t before = 0;
	create(BUDGET_NONE, BUDGET_NONE);
	for (bool ended = false; !ended; steps++) {
		struct budget_refusal why;
		autobudget b = BUDGET_INIT;
		ended = killed_after(steps);
		/* Nothing at all, all that was reserved, or what was measured. */
		const struct budget_state s = look();
		const uint64_t more = budget_used(&s, BUDGET_CPU) - before;
		untouched += more == 0;
		abandoned += more == 50;
		settled += more == 3;
		if (more != 0 && more != 50 && more != 3)
			fail_msg("%llu after %u steps", (unsigned long long)more, steps);
		/* And the next one works, and writes down what became of it. */
		open_it(&b);
		assert_int_equal(reserve(&b, 0, &why), 1);
		settle(&b, 0);
		before += more;
		assert_int_equal(look().spent.of[BUDGET_CPU], before);
	}
	print_message("# %u steps: %u nothing, %u abandoned, %u settled\n", steps, untouched,
		      abandoned, settled);
	assert_true(untouched > 20 && abandoned > 20 && settled > 2);
	assert_int_equal(untouched + abandoned + settled, steps);
}

static void a_step_that_cannot_be_written_changes_nothing(void **state)
{
	(void)state;
	struct err e = ERR_INIT;
	struct budget_refusal why;
	char blocker[96];
	autobudget b = BUDGET_INIT;
	const struct budget_amount amount = cpu_of(5);
	create(100, 10);
	open_it(&b);
	/* A folder where the new file should be: it cannot be made. */
	snprintf(blocker, sizeof(blocker), "%s/.budget.json.new", folder);
	assert_int_equal(mkdir(blocker, 0700), 0);
	assert_int_equal(budget_reserve(&b, &amount, &why, &e), -1);
	assert_int_equal(b.id, 0);
	struct budget_state s = look();
	assert_int_equal(budget_used(&s, BUDGET_CPU), 0);
	assert_int_equal(rmdir(blocker), 0);
	assert_int_equal(reserve(&b, 5, &why), 1);
	assert_int_equal(mkdir(blocker, 0700), 0);
	assert_int_equal(budget_settle(&b, &amount, &e), -1);
	s = look();
	assert_int_equal(s.holds_len, 1);
	assert_int_equal(rmdir(blocker), 0);
	settle(&b, 2);
	s = look();
	assert_int_equal(budget_used(&s, BUDGET_CPU), 2);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_FOLDER(a_reservation_counts_until_it_is_settled),
		IN_FOLDER(who_ends_without_settling_has_spent_it_all),
		IN_FOLDER(what_is_unknown_fits_nowhere_that_is_limited),
		IN_FOLDER(steps_out_of_order_are_bugs),
		cmocka_unit_test(money_is_rounded_up),
		cmocka_unit_test(amounts_do_not_wrap),
		IN_FOLDER(a_sum_that_cannot_be_counted_is_refused),
		IN_FOLDER(a_file_that_is_not_safe_is_refused),
		IN_FOLDER(a_file_that_is_there_is_not_made_anew),
		IN_FOLDER(a_document_that_is_none_is_refused),
		IN_FOLDER(what_a_person_wrote_is_taken),
		cmocka_unit_test(what_is_written_is_read_again),
		IN_FOLDER(sixteen_never_exceed_it),
		IN_FOLDER(killed_at_any_step_it_adds_up),
		IN_FOLDER(a_step_that_cannot_be_written_changes_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

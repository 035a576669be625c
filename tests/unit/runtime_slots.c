/* The file that runs share slots by: who counts is who lives, whatever the file says. */
#include "runtime/slots.h"

#include "spec/spec.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define MIB (1ULL << 20)

static char base[64];

static int make_base(void **state)
{
	(void)state;
	snprintf(base, sizeof(base), "/tmp/pinfold-slots.XXXXXX");
	return mkdtemp(base) ? 0 : -1;
}

static int remove_base(void **state)
{
	(void)state;
	char path[128];
	snprintf(path, sizeof(path), "%s/pinfold/slots-t", base);
	unlink(path);
	snprintf(path, sizeof(path), "%s/pinfold", base);
	rmdir(path);
	return rmdir(base);
}

static void open_lease(struct lease *l)
{
	struct err e = ERR_INIT;
	assert_int_equal(slots_open(l, base, "t", &e), 0);
}

static void enter(struct lease *l, const struct slots_wish *w, struct slots_view *v)
{
	struct err e = ERR_INIT;
	assert_int_equal(slots_try_lock(l, &e), 1);
	if (!l->ticket)
		assert_int_equal(slots_enter(l, w, &e), 0);
	assert_int_equal(slots_look(l, w, v, &e), 0);
	slots_unlock(l);
}

/* Another process, which is in with that wish when this returns. */
static pid_t other(const struct slots_wish *w, bool takes)
{
	int ready[2];
	char byte = 0;
	assert_int_equal(pipe(ready), 0);
	const pid_t pid = fork();
	if (pid == 0) {
		struct lease l = LEASE_INIT;
		struct err e = ERR_INIT;
		struct slots_view v;
		const bool in = slots_open(&l, base, "t", &e) == 0 && slots_try_lock(&l, &e) == 1 &&
				slots_enter(&l, w, &e) == 0 && slots_look(&l, w, &v, &e) == 0;
		slots_unlock(&l);
		if (!in || v.taken != takes || write(ready[1], "", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	return pid;
}

static void end(pid_t pid)
{
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* Until the end that is watched has come. */
static void wait_for_end(struct slots_view *v)
{
	struct pollfd p = {.fd = v->ends[0], .events = POLLIN};
	assert_int_equal(v->ends_len, 1);
	assert_int_equal(poll(&p, 1, 60000), 1);
	close(v->ends[0]);
}

static void line(void **state)
{
	(void)state;
	const struct slots_wish one = {.count = 1, .memory = MIB, .memory_most = LIMIT_NONE};
	struct lease l = LEASE_INIT;
	struct slots_view v;
	const pid_t holds = other(&one, true), waits = other(&one, false);
	open_lease(&l);
	enter(&l, &one, &v);
	assert_false(v.taken);
	assert_int_equal(v.position, 2);
	end(waits);
	wait_for_end(&v); /* of the one before us, not of the holder */
	enter(&l, &one, &v);
	assert_false(v.taken);
	assert_int_equal(v.position, 1);
	end(holds);
	wait_for_end(&v);
	enter(&l, &one, &v);
	assert_true(v.taken && l.held);
	lease_close(&l);
	assert_int_equal(l.file, -1);
}

static void memory(void **state)
{
	(void)state;
	/* {what others hold, ours, the most, whether it fits} */
	static const struct {
		uint64_t held, ours, most;
		bool fits;
	} rows[] = {
		{2 * MIB, MIB, 3 * MIB, true},
		{2 * MIB, MIB + 1, 3 * MIB, false},
		{LIMIT_NONE, MIB, UINT64_MAX - 1, false},
		{UINT64_MAX - 2, 3, UINT64_MAX - 1, false},
		{LIMIT_NONE, MIB, LIMIT_NONE, true},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct slots_wish theirs = {.count = 9,
						  .memory = rows[i].held,
						  .memory_most = LIMIT_NONE};
		const struct slots_wish ours = {.count = 9,
						.memory = rows[i].ours,
						.memory_most = rows[i].most};
		struct lease l = LEASE_INIT;
		struct slots_view v;
		const pid_t holds = other(&theirs, true);
		open_lease(&l);
		enter(&l, &ours, &v);
		assert_int_equal(v.taken, rows[i].fits);
		if (!v.taken)
			close(v.ends[0]);
		lease_close(&l);
		end(holds);
	}
}

/* Every byte of it a lie, by value and as a whole: nobody lives, so nobody counts. */
static void lies(void **state)
{
	(void)state;
	static const unsigned char fills[] = {0x00, 0x01, 0x02, 0x7f, 0xff};
	const struct slots_wish one = {.count = 1, .memory = MIB, .memory_most = 2 * MIB};
	char path[128];
	unsigned char bytes[120000];
	snprintf(path, sizeof(path), "%s/pinfold/slots-t", base);
	for (size_t i = 0; i < sizeof(fills); i++) {
		struct lease l = LEASE_INIT;
		struct slots_view v;
		open_lease(&l);
		lease_close(&l);
		const int file = open(path, O_RDWR);
		memset(bytes, fills[i], sizeof(bytes));
		memcpy(bytes, "pfslots1", i % 2 ? 8 : 0);
		assert_int_equal(pwrite(file, bytes, sizeof(bytes), 0), sizeof(bytes));
		close(file);
		open_lease(&l);
		enter(&l, &one, &v);
		if (!l.ticket) /* the number after the last is none; the next is one */
			enter(&l, &one, &v);
		assert_true(v.taken);
		lease_close(&l);
	}
}

static void refuse(const char *message)
{
	struct lease l = LEASE_INIT;
	struct err e = ERR_INIT;
	assert_int_equal(slots_open(&l, base, "t", &e), -1);
	assert_int_equal(e.kind, ERR_HOST);
	assert_non_null(strstr(e.msg, message));
	lease_close(&l);
}

static void places(void **state)
{
	(void)state;
	struct lease l = LEASE_INIT;
	char folder[128];
	open_lease(&l);
	lease_close(&l);
	snprintf(folder, sizeof(folder), "%s/pinfold", base);
	assert_int_equal(chmod(folder, 0777), 0);
	refuse("closed to others");
	assert_int_equal(chmod(folder, 0700), 0);
	open_lease(&l);
	lease_close(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(line, make_base, remove_base),
		cmocka_unit_test_setup_teardown(memory, make_base, remove_base),
		cmocka_unit_test_setup_teardown(lies, make_base, remove_base),
		cmocka_unit_test_setup_teardown(places, make_base, remove_base),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

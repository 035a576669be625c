/* What is swept from the job store, and what is said of a folder that stays. */
#include "pipeline/work.h"

#include "base/fd.h"
#include "transfer/tree_store.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { ENTRY_BYTES = 64 << 10 };

struct store {
	char path[64];
	struct arena arena;
	struct work w;
};

static int set_up(void **state)
{
	struct store *s = calloc(1, sizeof(*s));
	struct err e = ERR_INIT;
	if (!s)
		return -1;
	s->w = (struct work)WORK_INIT;
	strcpy(s->path, "/tmp/pinfold-work.XXXXXX");
	*state = s;
	return mkdtemp(s->path) ? work_open(&s->w, s->path, &s->arena, &e) : -1;
}

static int tear_down(void **state)
{
	struct store *s = *state;
	struct err e = ERR_INIT;
	work_close(&s->w, &e);
	const int removed = tree_remove(AT_FDCWD, s->path);
	arena_free(&s->arena);
	free(s);
	return removed;
}

/* Used so many seconds ago. Returns the folder, or -1. */
static int make_entry(const struct store *s, const char *name, time_t age)
{
	static const char bytes[ENTRY_BYTES];
	const struct timespec used[2] = {{time(NULL) - age, 0}, {time(NULL) - age, 0}};
	assert_int_equal(mkdirat(s->w.cache, name, 0700), 0);
	const int dir = openat(s->w.cache, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return -1;
	autoclose int file = openat(dir, "file", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	assert_int_equal(fd_write_all(file, bytes, sizeof(bytes)), 0);
	assert_int_equal(futimens(dir, used), 0);
	return dir;
}

static bool is_there(const struct store *s, const char *name)
{
	return faccessat(s->w.cache, name, F_OK, 0) == 0;
}

/* What is used now stays, and takes its room: another goes instead. */
static void an_entry_that_is_used_counts(void **state)
{
	struct store *s = *state;
	struct work_swept swept;
	struct err e = ERR_INIT;
	autoclose int used = make_entry(s, "used", 300);
	assert_true(used >= 0);
	assert_int_equal(flock(used, LOCK_SH), 0);
	close(make_entry(s, "old", 200));
	close(make_entry(s, "new", 100));
	assert_int_equal(work_gc(&s->w, UINT64_MAX, 2 * ENTRY_BYTES + ENTRY_BYTES / 2, &swept, &e),
			 0);
	assert_true(is_there(s, "used"));
	assert_false(is_there(s, "old"));
	assert_true(is_there(s, "new"));
	assert_int_equal(swept.entries, 1);
}

/* Deeper than anything that a stage may hand on. */
static void make_deep(int dir)
{
	int at = fcntl(dir, F_DUPFD_CLOEXEC, 3);
	for (int i = 0; i < 200 && at >= 0; i++) {
		const bool made = mkdirat(at, "d", 0700) == 0;
		const int next = made ? openat(at, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
		close(at);
		at = next;
	}
	assert_true(at >= 0);
	close(at);
}

static void a_folder_that_stays_is_told_of(void **state)
{
	struct store *s = *state;
	struct err e = ERR_INIT;
	char from[128], to[128];
	const char *path;
	assert_int_equal(work_begin(&s->w, "one", &e), 0);
	autoclose int folder = work_folder(&s->w, "0", &path, &s->arena, &e);
	assert_true(folder >= 0);
	make_deep(folder);
	assert_int_equal(work_close(&s->w, &e), -1);
	assert_non_null(strstr(e.msg, "remove the job's folder one; `pinfold job gc` tries again"));
	assert_int_equal(s->w.jobs, -1);
	/* The lower half apart, so that both can be removed. */
	snprintf(from, sizeof(from), "%s/jobs/work/one/0", s->path);
	for (int i = 0; i < 100 && chdir(from) == 0; i++)
		strcpy(from, "d");
	snprintf(to, sizeof(to), "%s/half", s->path);
	assert_int_equal(rename("d", to), 0);
	assert_int_equal(chdir("/"), 0);
}

static void a_folder_that_goes_is_not(void **state)
{
	struct store *s = *state;
	struct err e = ERR_INIT;
	struct stat st;
	char path[128];
	assert_int_equal(work_begin(&s->w, "one", &e), 0);
	snprintf(path, sizeof(path), "%s/jobs/work/one", s->path);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(work_close(&s->w, &e), 0);
	assert_int_equal(stat(path, &st), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(an_entry_that_is_used_counts, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_folder_that_stays_is_told_of, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_folder_that_goes_is_not, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The cache of compiled profiles: used where it is sound and ours, else as if it were not there. */
#include "seccomp_profile.h"

#include <dirent.h>

static char cache[64];

static const char *entry_path(void)
{
	static char name[400];
	size_t found = 0;
	DIR *d = opendir(cache);
	if (!d)
		return NULL;
	for (struct dirent *e = readdir(d); e; e = readdir(d)) {
		if (e->d_name[0] == '.' && (!e->d_name[1] || e->d_name[1] == '.'))
			continue;
		snprintf(name, sizeof(name), "%s/%s", cache, e->d_name);
		found++;
	}
	closedir(d);
	return found == 1 ? name : NULL;
}

static void cache_clear(void)
{
	DIR *d = opendir(cache);
	int fd = d ? dirfd(d) : -1;
	if (fd < 0)
		return;
	for (struct dirent *e = readdir(d); e; e = readdir(d))
		unlinkat(fd, e->d_name, 0);
	closedir(d);
	rmdir(cache);
}

#define PROFILE_A HEAD ROW("\"read\", \"no_such_call\"", ALLOW) TAIL
#define PROFILE_B                    \
	HEAD ROW("\"close\"", ALLOW) \
	TAIL

static struct built *cached(const char *text)
{
	put(text, strlen(text));
	struct built *b = build_with(cache, true, true);
	if (b->got < 0)
		fail_msg("%s", b->e.msg);
	return b;
}

static bool is_profile_a(const struct built *b)
{
	return answer(b, "read", 0, 0) == SECCOMP_RET_ALLOW &&
	       answer(b, "close", 0, 0) == DEFAULT_RET && warned(b, "no_such_call");
}

static void test_cache(void **state)
{
	(void)state;
	struct stat st;
	char saved[400];
	cache_clear();
	assert_true(is_profile_a(cached(PROFILE_A)));
	assert_int_equal(stat(cache, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	assert_int_equal(stat(entry_path(), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	ino_t first = st.st_ino;
	assert_true(is_profile_a(cached(PROFILE_A)));
	assert_int_equal(stat(entry_path(), &st), 0);
	assert_int_equal(st.st_ino, first);

	/* It is used: another's entry under the name gives the other's filter. */
	snprintf(saved, sizeof(saved), "%s", entry_path());
	assert_int_equal(unlink(saved), 0);
	cached(PROFILE_B);
	assert_int_equal(rename(entry_path(), saved), 0);
	assert_false(is_profile_a(cached(PROFILE_A)));

	/* Another variant and another file have entries of their own. */
	cache_clear();
	cached(PROFILE_A);
	struct built *b = build_with(cache, false, false);
	assert_int_equal(answer(b, "sched_setaffinity", 0, 0), SECCOMP_RET_ERRNO | EPERM);
	assert_null(entry_path());
	cache_clear();
}

/* A home without .cache gets one, ours alone; where nothing can be made there is no cache, and not a word. */
static void test_parents(void **state)
{
	(void)state;
	struct stat st;
	char usual[sizeof(cache)], above[sizeof(cache) + 8];
	snprintf(usual, sizeof(usual), "%s", cache);
	snprintf(above, sizeof(above), "%s/a", folder);
	snprintf(cache, sizeof(cache), "%s/a/b/pinfold", folder);
	assert_true(is_profile_a(cached(PROFILE_A)));
	assert_non_null(entry_path());
	assert_int_equal(stat(above, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	cache_clear();
	assert_int_equal(unlinkat(AT_FDCWD, strcat(above, "/b"), AT_REMOVEDIR), 0);
	snprintf(above, sizeof(above), "%s/a", folder);
	assert_int_equal(rmdir(above), 0);

	snprintf(cache, sizeof(cache), "/proc/none/pinfold");
	struct built *b = cached(PROFILE_A);
	assert_true(is_profile_a(b));
	assert_false(warned(b, "is not cached"));
	snprintf(cache, sizeof(cache), "%s", usual);
}

/* Spoil the one entry, build again: the same filter, and a sound entry in its place. */
static void rebuilt(void (*spoil)(const char *entry))
{
	struct stat st;
	cache_clear();
	cached(PROFILE_A);
	spoil(entry_path());
	assert_true(is_profile_a(cached(PROFILE_A)));
	assert_int_equal(lstat(entry_path(), &st), 0);
	assert_true(S_ISREG(st.st_mode) && st.st_size > 100 && (st.st_mode & 0777) == 0600);
	assert_true(is_profile_a(cached(PROFILE_A)));
	cache_clear();
}

static void spoil_empty(const char *entry)
{
	assert_int_equal(truncate(entry, 0), 0);
}

static void spoil_short(const char *entry)
{
	struct stat st;
	assert_int_equal(stat(entry, &st), 0);
	assert_int_equal(truncate(entry, st.st_size - 1), 0);
}

static void spoil_long(const char *entry)
{
	assert_int_equal(truncate(entry, 1LL << 40), 0);
}

static void spoil_mode(const char *entry)
{
	assert_int_equal(chmod(entry, 0644), 0);
}

static void spoil_symlink(const char *entry)
{
	char other[100];
	snprintf(other, sizeof(other), "%s/elsewhere", folder);
	unlink(other);
	assert_int_equal(rename(entry, other), 0);
	assert_int_equal(symlink(other, entry), 0);
}

static void spoil_fifo(const char *entry)
{
	assert_int_equal(unlink(entry), 0);
	assert_int_equal(mkfifo(entry, 0600), 0);
}

static size_t spoil_at;
static void spoil_byte(const char *entry)
{
	char c;
	int fd = open(entry, O_RDWR | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(pread(fd, &c, 1, (off_t)spoil_at), 1);
	c = (char)(c ^ 0x40);
	assert_int_equal(pwrite(fd, &c, 1, (off_t)spoil_at), 1);
	close(fd);
}

static void test_cache_spoiled(void **state)
{
	(void)state;
	void (*const spoils[])(const char *) = {spoil_empty, spoil_short,   spoil_long,
						spoil_mode,  spoil_symlink, spoil_fifo};
	for (size_t i = 0; i < sizeof(spoils) / sizeof(spoils[0]); i++)
		rebuilt(spoils[i]);
	for (spoil_at = 0; spoil_at < 200; spoil_at += spoil_at < 48 ? 1 : 19)
		rebuilt(spoil_byte);
}

/* A folder that others can write to decides nothing. */
static void test_cache_folder(void **state)
{
	(void)state;
	cache_clear();
	assert_int_equal(mkdir(cache, 0700), 0);
	assert_int_equal(chmod(cache, 0770), 0);
	struct built *b = cached(PROFILE_A);
	assert_true(is_profile_a(b) && warned(b, "is not cached"));
	assert_int_equal(rmdir(cache), 0);
	assert_int_equal(symlink(folder, cache), 0);
	b = cached(PROFILE_A);
	assert_true(is_profile_a(b) && warned(b, "is not cached"));
	assert_int_equal(unlink(cache), 0);
	if (geteuid() == 0) {
		assert_int_equal(mkdir(cache, 0700), 0);
		assert_int_equal(chown(cache, 1, 1), 0);
		b = cached(PROFILE_A);
		assert_true(is_profile_a(b) && warned(b, "is not cached"));
		assert_int_equal(rmdir(cache), 0);
	}
}

static int set_up_cache(void **state)
{
	if (set_up(state) < 0)
		return -1;
	snprintf(cache, sizeof(cache), "%s/cache", folder);
	return 0;
}

static int tear_down_cache(void **state)
{
	char other[100];
	cache_clear();
	snprintf(other, sizeof(other), "%s/elsewhere", folder);
	unlink(other);
	return tear_down(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cache),
		cmocka_unit_test(test_parents),
		cmocka_unit_test(test_cache_spoiled),
		cmocka_unit_test(test_cache_folder),
	};
	return cmocka_run_group_tests(tests, set_up_cache, tear_down_cache);
}

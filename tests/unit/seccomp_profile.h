/* What the tests of profiles share: a folder, a file in it, and the filter that is built from it. */
#ifndef PINFOLD_TESTS_UNIT_SECCOMP_PROFILE_H
#define PINFOLD_TESTS_UNIT_SECCOMP_PROFILE_H

#include "seccomp_bpf.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Everything that a start needs, to be put before other rows. */
#define START \
	"{\"names\": [\"execve\", \"sendmsg\", \"recvmsg\", \"write\", \"exit_group\"], \"action\": \"SCMP_ACT_ALLOW\"}"
#define HEAD \
	"{\"defaultAction\": \"SCMP_ACT_ERRNO\", \"defaultErrnoRet\": 99, \"syscalls\": [" START
#define TAIL		 "]}"
#define ROW(names, rest) ",\n{\"names\": [" names "], \"action\": " rest "}"
#define ALLOW		 "\"SCMP_ACT_ALLOW\""

static char folder[] = "/tmp/pinfold-unit-XXXXXX";
static char path[64];

struct built {
	int got;
	struct filter f;
	struct err e;
	struct result r;
};

static struct arena arena = ARENA_INIT;

static inline void put(const void *text, size_t len)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, len), (ssize_t)len);
	close(fd);
}

static inline struct built *build_with(const char *cache_dir, bool pipe_size, bool affinity)
{
	static struct built b;
	struct filter_options o = {.profile = path,
				   .cache_dir = cache_dir,
				   .pipe_size = pipe_size,
				   .affinity = affinity};
	b = (struct built){.f = {.len = 7}};
	result_init(&b.r);
	b.got = filter_build(&b.f, &o, &arena, &b.r, &b.e);
	if (b.got < 0) {
		assert_int_equal(b.f.len, 7);
		assert_true(b.e.kind != ERR_NONE);
	}
	return &b;
}

static inline struct built *build(const char *text)
{
	put(text, strlen(text));
	return build_with(NULL, true, true);
}

static inline struct built *good(const char *text)
{
	struct built *b = build(text);
	if (b->got < 0)
		fail_msg("%s", b->e.msg);
	assert_true(b->f.custom && b->f.notify);
	assert_int_equal(strlen(b->f.digest), 64);
	return b;
}

/* What the quiet form answers to a call by name. */
static inline uint32_t answer(const struct built *b, const char *name, uint64_t a0, uint64_t a1)
{
	struct seccomp_data d = {.arch = filter_native_arch,
				 .nr = syscall_number(filter_native_arch, name),
				 .args = {a0, a1}};
	assert_true(d.nr >= 0);
	return bpf_run(b->f.quiet, b->f.quiet_len, &d, NULL);
}

static inline uint32_t counted_answer(const struct built *b, const char *name)
{
	struct seccomp_data d = {.arch = filter_native_arch,
				 .nr = syscall_number(filter_native_arch, name)};
	return bpf_run(b->f.insns, b->f.len, &d, NULL);
}

static inline bool warned(const struct built *b, const char *text)
{
	for (size_t i = 0; i < b->r.warnings_len; i++) {
		if (strstr(b->r.warnings[i], text))
			return true;
	}
	return false;
}

#define DEFAULT_RET (SECCOMP_RET_ERRNO | 99)

static inline int set_up(void **state)
{
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/profile.json", folder);
	return 0;
}

static inline int tear_down(void **state)
{
	(void)state;
	unlink(path);
	arena_free(&arena);
	return rmdir(folder);
}

#endif

/* What the libraries would read, and run, out of an image, were it the root by then. A program of
 * its own, because what iconv finds it keeps. */
#include "tests/unit/image_tar.h"

#include <iconv.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>

#if defined(__x86_64__)
#define GCONV "usr/lib/x86_64-linux-gnu/gconv"
#else
#define GCONV "usr/lib/aarch64-linux-gnu/gconv"
#endif

static void be_patient(void)
{
	const struct itimerval patience = {.it_value = {.tv_usec = 300000}};
	if (setitimer(ITIMER_REAL, &patience, NULL) < 0)
		_exit(1);
}

/* In the tree as its root; a pax name is what makes libarchive call iconv. Whoever opens the FIFO
 * there waits until it is killed. */
static int in_the_tree(struct image *m, struct tar *t, bool begun)
{
	const pid_t pid = fork();
	if (pid == 0) {
		struct err e = ERR_INIT;
		int code = begun && unpack_begin(&m->u, m->root, &m->o, &e) < 0;
		be_patient();
		if (fchdir(m->root) < 0 || chroot(".") < 0)
			code = 2;
		if (!begun)
			code = iconv_open("ANSI_X3.4-1968", "UTF-8") == NULL;
		else if (code == 0)
			code = image_try(m, t, &e) < 0;
		_exit(code);
	}
	int status = -1;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

/* The FIFO stands where iconv looks for its modules. */
static void plant(struct image *m)
{
	char path[] = GCONV "/";
	for (char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		assert_int_equal(mkdirat(m->root, path, 0755), 0);
		*slash = '/';
	}
	assert_int_equal(mkfifoat(m->root, GCONV "/gconv-modules.cache", 0644), 0);
}

static void modules_in_the_image(void **state)
{
	(void)state;
	autotar t = {0};
	struct image m;
	if (geteuid() != 0)
		skip(); /* chroot */
	image_prepare(&m);
	plant(&m);
	tar_pax(&t, 'x', "path", "e\xcc\x81", NULL);
	tar_file(&t, "short", "");
	assert_int_equal(in_the_tree(&m, &t, false), SIGALRM);
	assert_int_equal(in_the_tree(&m, &t, true), 0);
	assert_true(is_there(&m, "e\xcc\x81"));
	tar_free(&t);
	image_remove(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(modules_in_the_image),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

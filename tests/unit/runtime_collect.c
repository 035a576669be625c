/* A collection that cannot begin: what was required is missing then. */
#include "runtime/collect.h"
#include "runtime/run.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

/* A run that ended well, whose scratch is there. */
struct ended {
	struct artifact_rule rule;
	struct spec spec;
	struct result r;
	struct sandbox_options o;
	struct run run;
};

static struct ended *run_with(bool required)
{
	struct ended *ended = calloc(1, sizeof(*ended));
	assert_non_null(ended);
	ended->rule = (struct artifact_rule){.path = "a", .required = required};
	ended->spec.artifacts.rules = &ended->rule;
	ended->spec.artifacts.len = 1;
	ended->r.status = RUN_EXITED;
	ended->run = (struct run){.spec = &ended->spec,
				  .o = &ended->o,
				  .r = &ended->r,
				  .all_dead = true,
				  .started_ns = 1,
				  .events.fd = -1,
				  .watcher = WATCHER_INIT};
	ended->run.watch.scratch = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(ended->run.watch.scratch >= 0);
	return ended;
}

/* No descriptor is left: there is no pipe to the collector. */
static void collect_without_descriptors(struct run *run)
{
	struct rlimit before, none;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = before;
	none.rlim_cur = (rlim_t)run->watch.scratch + 1;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	collect_artifacts(run);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
}

static void what_is_required_is_missing(void **state)
{
	(void)state;
	struct ended *ended = run_with(true);
	assert_true(result_ok(&ended->r));
	collect_without_descriptors(&ended->run);
	assert_true(ended->r.artifact_missing);
	assert_false(result_ok(&ended->r));
	assert_string_equal(ended->r.cause.message, "a required artifact was not kept");
	assert_non_null(strstr(ended->r.warnings[0], "artifacts were not collected: pipe"));
	close(ended->run.watch.scratch);
	free(ended->r.artifacts);
	free(ended);
}

static void what_is_not_is_a_warning(void **state)
{
	(void)state;
	struct ended *ended = run_with(false);
	collect_without_descriptors(&ended->run);
	assert_true(result_ok(&ended->r));
	assert_int_equal(ended->r.warnings_len, 1);
	close(ended->run.watch.scratch);
	free(ended->r.artifacts);
	free(ended);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_required_is_missing),
		cmocka_unit_test(what_is_not_is_a_warning),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

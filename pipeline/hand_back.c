#include "pipeline/hand_back.h"

#include "base/dir.h"
#include "base/fd.h"
#include "transfer/collect.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

int hand_back_open(const char *path, struct err *e)
{
	if (mkdir(path, 0700) < 0 && errno != EEXIST) {
		err_sys(e, "artifacts-dir %s", path);
		e->kind = ERR_USAGE;
		return -1;
	}
	autoclose int dir = fd_open_output_folder(path, e);
	if (dir < 0)
		return err_wrap(e, "artifacts-dir");
	autodir *list = dir_open(fcntl(dir, F_DUPFD_CLOEXEC, 3));
	if (list && dir_next(list))
		return err_usage(e, "artifacts-dir %s is not empty, and nothing in it is replaced",
				 path);
	if (!list || errno) {
		err_sys(e, "artifacts-dir %s", path);
		e->kind = ERR_USAGE;
		return -1;
	}
	return fd_take(&dir);
}

/* ---- copies ---- */

static int copy_file(int from_dir, const char *from, int to_dir, const char *to)
{
	struct stat st;
	autoclose int in = openat(from_dir, from, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (in < 0 || fstat(in, &st) < 0)
		return -1;
	autoclose int out = openat(to_dir, to, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
				   st.st_mode & 0777);
	if (out < 0)
		return -1;
	/* Not copy_file_range(): the store and the folder may lie in two file systems. */
	for (off_t left = st.st_size; left > 0;) {
		const ssize_t n = sendfile(out, in, NULL, (size_t)left);
		if (n == 0)
			errno = EIO; /* it shrank */
		if (n <= 0)
			return -1;
		left -= n;
	}
	return fchmod(out, st.st_mode & 0777);
}

static int copy_link(int from_dir, const char *from, int to_dir, const char *to)
{
	char target[COLLECT_PATH_MAX + 1];
	const ssize_t n = readlinkat(from_dir, from, target, sizeof(target) - 1);
	if (n < 0)
		return -1;
	target[n] = '\0';
	return symlinkat(target, to_dir, to);
}

/* A stored tree is COLLECT_DEPTH_MAX deep at most, and so is this. */
static int copy_entry(int from_dir, const char *from, int to_dir, const char *to)
{
	struct stat st;
	if (fstatat(from_dir, from, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -1;
	if (S_ISLNK(st.st_mode))
		return copy_link(from_dir, from, to_dir, to);
	if (!S_ISDIR(st.st_mode))
		return copy_file(from_dir, from, to_dir, to);
	autoclose int in = openat(from_dir, from, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (in < 0 || mkdirat(to_dir, to, 0700) < 0)
		return -1;
	autoclose int out = openat(to_dir, to, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (out < 0)
		return -1;
	autodir *list = dir_open(fcntl(in, F_DUPFD_CLOEXEC, 3));
	if (!list)
		return -1;
	for (const struct dirent *d; (d = dir_next(list));)
		if (copy_entry(in, d->d_name, out, d->d_name) < 0)
			return -1;
	return errno ? -1 : fchmod(out, st.st_mode & 0777);
}

/* ---- a stage ---- */

/* Whether the row is one of what goes to later stages. */
static bool is_output(const struct stage_run *run, const char *file)
{
	for (size_t i = 0; i < run->stage->outputs_len; i++)
		if (run->outputs[i].file && strcmp(run->outputs[i].file, file) == 0)
			return true;
	return false;
}

static int copy_artifacts(const struct stage_run *run, int to, struct err *e)
{
	const json_t *rows = json_object_get(run->result, "artifacts");
	autoclose int from = openat(run->dir, "outputs", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int done = 0;
	for (size_t i = 0; from >= 0 && i < json_array_size(rows); i++) {
		const char *file = json_string_value(json_object_get(json_array_get(rows, i), "file"));
		if (file && !is_output(run, file) && copy_entry(from, file, to, file) < 0)
			done = err_sys(e, "hand back %s of stage %s", file, run->stage->name);
	}
	return done;
}

/* The name that it has there; NULL with errno. No artifact's begins with a % that is no escape. */
static const char *copy_stream(const struct stage_run *run, int to, const char *name,
			       const char *other)
{
	if (copy_entry(run->dir, name, to, name) == 0)
		return name;
	return errno == EEXIST && copy_entry(run->dir, name, to, other) == 0 ? other : NULL;
}

int hand_back(struct stage_run *run, int dir, size_t number, struct arena *a, struct err *e)
{
	const char *name = number ? arena_printf(a, "%s.%zu", run->stage->name, number)
				  : run->stage->name;
	if (run->dir < 0)
		return 0;
	if (mkdirat(dir, name, 0700) < 0)
		return err_sys(e, "make the folder %s in artifacts-dir", name);
	autoclose int to = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (to < 0 || copy_artifacts(run, to, e) < 0 ||
	    !(run->handed_out = copy_stream(run, to, "stdout", "%stdout")) ||
	    !(run->handed_err = copy_stream(run, to, "stderr", "%stderr")))
		return e->kind == ERR_NONE
			       ? err_sys(e, "hand back what stage %s said", run->stage->name)
			       : -1;
	run->handed = name;
	return 0;
}

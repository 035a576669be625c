#include "pipeline/stage_run.h"

#include "base/fd.h"
#include "pipeline/listing.h"
#include "spec/writer.h"
#include "transfer/tree_store.h"

#include <errno.h>
#include <fcntl.h>
#include <sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	ANSWER_BYTES_MAX = 64 << 20,
	BOOT_BYTES = 64,
	NOT_THERE = 127 /* of a sibling that could not be executed */
};

void stage_run_init(struct stage_run *run, const struct job_stage *stage, size_t number)
{
	*run = (struct stage_run){.stage = stage,
				  .kind = stage->kind == STAGE_RUN ? "run" : "build",
				  .number = number,
				  .dir = -1,
				  .process = SIBLING_INIT,
				  .spec = -1,
				  .answer = -1,
				  .events = -1,
				  .out_pipe = -1,
				  .err_pipe = -1,
				  .out = -1,
				  .err = -1};
}

void stage_run_close(struct stage_run *run)
{
	int *fds[] = {&run->spec,     &run->answer, &run->events, &run->out_pipe,
		      &run->err_pipe, &run->out,    &run->err,	  &run->dir};
	for (size_t i = 0; i < sizeof(fds) / sizeof(*fds); i++)
		fd_close(fds[i]);
	free(run->lines.text);
	free(run->result_text);
	free(run->diagnostics);
	json_decref(run->result);
	run->diagnostics = NULL;
	run->lines = (struct lines){0};
	run->result_text = NULL;
	run->result = NULL;
}

/* ---- small files ---- */

/* All of fd from its beginning, NUL-terminated and malloc'ed; NULL with errno. */
static char *read_all(int fd, size_t most)
{
	struct stat st;
	if (fstat(fd, &st) < 0)
		return NULL;
	if ((uint64_t)st.st_size > most) {
		errno = EFBIG;
		return NULL;
	}
	char *text = malloc((size_t)st.st_size + 1);
	const ssize_t n = text ? pread(fd, text, (size_t)st.st_size, 0) : -1;
	if (n != st.st_size) {
		free(text);
		return NULL;
	}
	text[n] = '\0';
	return text;
}

/* An entry that was written before the host went down may be half on its disk. False: who knows. */
static bool boot_id(char id[BOOT_BYTES])
{
	if (fd_read_small(AT_FDCWD, "/proc/sys/kernel/random/boot_id", id, BOOT_BYTES) < 0)
		return false;
	id[strcspn(id, "\n")] = '\0';
	return id[0];
}

static int open_streams(struct stage_run *run, int flags)
{
	run->out = openat(run->dir, "stdout", flags | O_NOFOLLOW | O_CLOEXEC, 0600);
	run->err = openat(run->dir, "stderr", flags | O_NOFOLLOW | O_CLOEXEC, 0600);
	return run->out < 0 || run->err < 0 ? -1 : 0;
}

/* ---- the cache ---- */

static void make_key(struct stage_run *run, const struct stage_place *at)
{
	char digest[65];
	char *identity = told_identity(run, at);
	if (!identity)
		return;
	SHA256Data((const uint8_t *)identity, strlen(identity), digest);
	snprintf(run->key, sizeof(run->key), "sha256:%s", digest);
	free(identity);
}

/* All that an entry keeps, but what says what it keeps. */
static const char *const kept[] = {"outputs", "stdout", "stderr", NULL};

/* Altered since by nobody, by whatever means: a cleaner of old files may have taken a part of it. */
static bool is_as_kept(const struct stage_run *run, const json_t *entry)
{
	char now[65];
	const char *then = json_string_value(json_object_get(entry, "listing"));
	return then && listing_digest(run->dir, kept, now) == 0 && strcmp(then, now) == 0;
}

/* {"boot": ..., "listing": ..., "result": {...}} */
static bool read_entry(struct stage_run *run, const struct stage_place *at)
{
	char boot[BOOT_BYTES];
	autoclose int fd = openat(run->dir, "entry.json", O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	char *text = fd >= 0 ? read_all(fd, ANSWER_BYTES_MAX) : NULL;
	json_t *entry = text ? json_loads(text, 0, NULL) : NULL;
	const char *from = json_string_value(json_object_get(entry, "boot"));
	if (from && boot_id(boot) && strcmp(from, boot) == 0 && is_as_kept(run, entry))
		run->result_text = json_dumps(json_object_get(entry, "result"), JSON_COMPACT);
	json_decref(entry);
	free(text);
	return answer_read(run, at) && run->ok;
}

/* What cannot be used is in the way of one that can. */
static void drop_entry(struct stage_run *run, const struct stage_place *at)
{
	const char *name = run->key + strlen("sha256:");
	free(run->result_text);
	json_decref(run->result);
	run->result_text = NULL;
	run->result = NULL;
	run->ok = false;
	run->why[0] = '\0';
	memset(run->outputs, 0, sizeof(run->outputs));
	fd_close(&run->out);
	fd_close(&run->err);
	/* Perhaps it is gone by now, and another has its name. */
	struct stat held, named;
	if (flock(run->dir, LOCK_EX | LOCK_NB) == 0 && fstat(run->dir, &held) == 0 &&
	    fstatat(at->work->cache, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
	    held.st_ino == named.st_ino)
		tree_remove(at->work->cache, name);
	fd_close(&run->dir);
}

static bool outputs_there(const struct stage_run *run)
{
	struct stat st;
	for (size_t i = 0; i < run->stage->outputs_len; i++)
		if (lstat(run->outputs[i].path, &st) < 0)
			return false;
	return true;
}

bool stage_run_cached(struct stage_run *run, const struct stage_place *at)
{
	run->cache_why = told_uncacheable(run, at);
	run->cache = CACHE_OFF;
	if (run->cache_why)
		return false;
	make_key(run, at);
	if (!run->key[0]) {
		run->cache_why = "memory was out";
		return false;
	}
	run->cache = CACHE_MISS;
	const char *name = run->key + strlen("sha256:");
	run->dir = openat(at->work->cache, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (run->dir < 0 || flock(run->dir, LOCK_SH | LOCK_NB) < 0) {
		fd_close(&run->dir);
		return false;
	}
	run->path = arena_printf(at->arena, "%s/cache/%s", at->work->path, name);
	if (!read_entry(run, at) || !outputs_there(run) || open_streams(run, O_RDONLY) < 0) {
		drop_entry(run, at);
		return false;
	}
	futimens(run->dir, NULL);
	run->cache = CACHE_HIT;
	run->state = RUN_CACHED;
	return true;
}

static int write_entry(const struct stage_run *run)
{
	char boot[BOOT_BYTES], listing[65];
	struct json_writer w;
	if (!boot_id(boot) || listing_digest(run->dir, kept, listing) < 0)
		return -1;
	json_open(&w, false);
	json_begin(&w, NULL, '{');
	json_text(&w, "boot", boot);
	json_text(&w, "listing", listing);
	json_raw(&w, "result", run->result_text);
	json_end(&w, '{');
	char *text = json_finish(&w, true);
	autoclose int fd = text ? openat(run->dir, "entry.json",
					 O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600)
				: -1;
	const int done = fd >= 0 ? fd_write_all(fd, text, strlen(text)) : -1;
	free(text);
	return done;
}

void stage_run_keep(struct stage_run *run, const struct stage_place *at)
{
	const char *name = run->key + strlen("sha256:");
	char own[24];
	if (!run->ok || run->cache != CACHE_MISS || run->state != RUN_RAN)
		return;
	snprintf(own, sizeof(own), "%zu", run->number);
	if (flock(run->dir, LOCK_SH | LOCK_NB) < 0 || write_entry(run) < 0 ||
	    renameat2(at->work->own, own, at->work->cache, name, RENAME_NOREPLACE) < 0)
		return; /* it stays where it is, for this job */
	run->path = arena_printf(at->arena, "%s/cache/%s", at->work->path, name);
	for (size_t i = 0; i < run->stage->outputs_len; i++)
		run->outputs[i].path = arena_printf(at->arena, "%s/outputs/%s", run->path,
						    run->outputs[i].file);
}

/* ---- the process ---- */

static int open_answer(struct stage_run *run, struct err *e)
{
	run->spec = memfd_create("spec", MFD_CLOEXEC);
	run->answer = memfd_create("result", MFD_CLOEXEC);
	return run->spec < 0 || run->answer < 0 ? err_sys(e, "make memory files for a stage") : 0;
}

static int make_folder(struct stage_run *run, const struct stage_place *at, struct err *e)
{
	char name[24];
	snprintf(name, sizeof(name), "%zu", run->number);
	run->dir = work_folder(at->work, name, &run->path, at->arena, e);
	if (run->dir < 0)
		return -1;
	return open_streams(run, O_RDWR | O_CREAT | O_EXCL) < 0
		       ? err_sys(e, "make files for the output of a stage")
		       : 0;
}

/* The ends that the run has; ours are in run. */
struct ends {
	int events, out, err;
};

static void ends_close(struct ends *ends)
{
	fd_close(&ends->events);
	fd_close(&ends->out);
	fd_close(&ends->err);
}

static int make_pipe(int *ours, int *its, struct err *e)
{
	int ends[2];
	if (pipe2(ends, O_CLOEXEC) < 0)
		return err_sys(e, "make a pipe for a stage");
	*ours = ends[0];
	*its = ends[1];
	return fcntl(ends[0], F_SETFL, O_NONBLOCK) < 0 ? err_sys(e, "make a pipe for a stage") : 0;
}

static int make_pipes(struct stage_run *run, bool with_events, struct ends *its, struct err *e)
{
	if (make_pipe(&run->out_pipe, &its->out, e) < 0 || make_pipe(&run->err_pipe, &its->err, e) < 0)
		return -1;
	return with_events ? make_pipe(&run->events, &its->events, e) : 0;
}

static int start_process(struct stage_run *run, const struct stage_place *at,
			 const struct ends *its, struct err *e)
{
	char spec[32];
	const int keep[] = {run->spec, run->answer, its->out, its->err, its->events};
	snprintf(spec, sizeof(spec), "/proc/self/fd/%d", run->spec);
	char *const argv[] = {arena_strdup(at->arena, "pinfold"), arena_strdup(at->arena, "run"),
			      arena_strdup(at->arena, "--spec"), spec, NULL};
	run->process = (struct sibling){.path = at->pinfold,
					.argv = argv,
					.in = run->stage->asked.stdin_kind == STDIN_CALLER
						      ? STDIN_FILENO
						      : -1,
					.out = -1,
					.err = at->stderr_fd,
					.keep = keep,
					.keep_len = its->events >= 0 ? 5 : 4,
					.pidfd = -1};
	const int done = sibling_start(&run->process, e);
	run->process.argv = NULL;
	run->process.keep = NULL;
	return done;
}

static int tell(struct stage_run *run, const struct stage_place *at, const struct ends *its,
		struct err *e)
{
	/* Numbers as they are in the run. */
	const struct ends ours = {run->events, run->out_pipe, run->err_pipe};
	run->events = its->events;
	run->out_pipe = its->out;
	run->err_pipe = its->err;
	char *text = told_write(run, at, e);
	run->events = ours.events;
	run->out_pipe = ours.out;
	run->err_pipe = ours.err;
	if (!text)
		return -1;
	const int done = fd_write_all(run->spec, text, strlen(text));
	free(text);
	return done < 0 ? err_sys(e, "tell a stage what it is") : 0;
}

int stage_run_start(struct stage_run *run, const struct stage_place *at, struct err *e)
{
	struct ends its = {-1, -1, -1};
	run->state = RUN_RAN;
	int done = make_folder(run, at, e) < 0 || open_answer(run, e) < 0 ? -1 : 0;
	if (done == 0)
		done = make_pipes(run, at->with_events, &its, e);
	if (done == 0)
		done = tell(run, at, &its, e);
	if (done == 0)
		done = start_process(run, at, &its, e);
	ends_close(&its);
	return done;
}

void stage_run_finish(struct stage_run *run, const struct stage_place *at)
{
	const int code = sibling_wait(&run->process);
	run->result_text = read_all(run->answer, ANSWER_BYTES_MAX);
	if (!answer_read(run, at)) {
		free(run->result_text);
		run->result_text = NULL;
		run->ok = false;
		if (code == NOT_THERE)
			snprintf(run->why, sizeof(run->why), "lost: %s cannot be executed",
				 at->pinfold);
		else
			snprintf(run->why, sizeof(run->why),
				 "lost: its supervision ended without a result (exit code %d)", code);
	} else if (run->unkept) {
		run->ok = false;
		snprintf(run->why, sizeof(run->why), "what it said could not be kept: %s",
			 strerrordesc_np(run->unkept));
	}
	fd_close(&run->spec);
	fd_close(&run->answer);
	fd_close(&run->out_pipe);
	fd_close(&run->err_pipe);
}

int stage_run_diagnose(struct stage_run *run, struct err *e)
{
	struct stat st;
	if (!run->stage->diagnostics || run->err < 0 || fstat(run->err, &st) < 0)
		return 0;
	run->diagnostics = calloc(1, sizeof(*run->diagnostics));
	if (!run->diagnostics)
		return err_host(e, "out of memory");
	if (st.st_size == 0)
		return 0;
	const int kind = diagnostics_kind_of(run->stage->diagnostics);
	if (diagnostics_jailed(run->diagnostics, (enum diagnostics_kind)kind, run->err, e) == 0)
		return 0;
	free(run->diagnostics);
	run->diagnostics = NULL;
	return -1;
}

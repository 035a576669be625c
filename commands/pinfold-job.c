/* pinfold-job: from an untrusted repository to validated artifacts. Executed by `pinfold job`.
 *
 * A program of its own, since a run needs none of it. It makes no sandbox itself: each stage is `pinfold run`.
 */
#include "commands/commands.h"
#include "commands/config.h"
#include "commands/images.h"
#include "commands/job.h"
#include "runtime/deadline.h"
#include "spec/writer.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct job_verb verbs[] = {
	{{"run", "[OPTION...] JOB.json | --lang NAME FILE... [-- ARG...]",
	  "run a job, and say what became of it",
	  "What stages print is passed on: that of the last one to stdout, all else to stderr.\n"
	  "Exits with 0 if the job succeeded, 1 if a stage failed, 2 if the analysis stopped it, 3 if it needs\n"
	  "approval, 4 if it was cancelled, 125 if nothing was run or Pinfold failed.\n"},
	 job_run_verb},
	{{"check", "JOB.json | --lang NAME FILE...",
	  "tell what is wrong with a job, with line and column"},
	 job_check_verb},
	{{"plan", "[OPTION...] JOB.json | --lang NAME FILE...",
	  "print what would run, with every limit and rule"},
	 job_plan_verb},
	{{"budget", "[--json] FILE | --create [OPTION...] FILE",
	  "tell what is left of a budget that jobs share, or make one"},
	 job_budget_verb},
	{{"gc", "[OPTION...]", "remove what killed jobs left, and what the cache has not used"},
	 job_gc_verb},
};
enum { VERBS = sizeof(verbs) / sizeof(*verbs) };

static void print_usage(void)
{
	printf("Usage: pinfold job VERB [ARGUMENT...]\n\n");
	for (size_t i = 0; i < VERBS; i++)
		printf("  %-8s %s\n", verbs[i].manual.name, verbs[i].manual.help);
	printf("\n`pinfold job VERB --help` tells more; pinfold-job(5) what a job may hold.\n");
}

static const struct job_verb *find_verb(const char *name)
{
	for (size_t i = 0; i < VERBS; i++)
		if (strcmp(verbs[i].manual.name, name) == 0)
			return &verbs[i];
	return NULL;
}

static const struct verb_manual *manual_of(size_t i)
{
	return i < VERBS ? &verbs[i].manual : NULL;
}

int job_words(struct job_call *c, const struct verb_option *rows, struct word_count count,
	      struct err *e)
{
	struct verb_words words = {.argc = c->argc, .argv = c->argv};
	const int done = options_take(&words, rows, &c->manual, count, e);
	c->argc = words.argc;
	c->dashes = words.dashes;
	return done;
}

static int load_file(struct job_call *c, const char *name, struct job *job, struct err *e)
{
	char *text = NULL;
	size_t len = 0;
	if (c->argc != 1)
		return err_usage(e, "one document is named, or --lang");
	if (read_file(c->arena, name, &text, &len, e) < 0)
		return -1;
	return job_read(job,
			&(struct job_text){.name = name,
					   .text = text,
					   .len = len,
					   .configure = config_read},
			c->arena, e);
}

static void write_words(struct json_writer *w, const char *key, char **words, int len)
{
	json_begin(w, key, '[');
	for (int i = 0; i < len; i++)
		json_text(w, NULL, words[i]);
	json_end(w, '[');
}

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

static void write_member(struct json_writer *w, const char *key, const char *value)
{
	if (value)
		json_text(w, key, value);
}

/* What somebody would have written. */
static char *write_document(const struct job_call *c, const struct job_language *l)
{
	const int files = c->dashes >= 0 ? c->dashes : c->argc;
	struct json_writer w;
	json_open(&w, true);
	json_begin(&w, NULL, '{');
	json_begin(&w, "source", '{');
	write_words(&w, "files", c->argv, files);
	json_end(&w, '{');
	json_begin(&w, "lang", '{');
	json_text(&w, "name", l->name);
	write_member(&w, "version", l->version);
	write_member(&w, "build-image", l->build_image);
	write_member(&w, "run-image", l->run_image);
	write_member(&w, "stdin", l->stdin_from);
	json_begin(&w, "files", '[');
	for (int i = 0; i < files; i++)
		json_text(&w, NULL, base_of(c->argv[i]));
	json_end(&w, '[');
	write_words(&w, "args", c->argv + files, c->argc - files);
	json_end(&w, '{');
	json_end(&w, '{');
	return json_finish(&w, true);
}

/* What is said of a program in a language, where none is named, is meant for something else. */
static int refuse_alone(const struct job_language *l, struct err *e)
{
	const char *alone = l->version	     ? "lang-version"
			    : l->build_image ? "build-image"
			    : l->run_image   ? "run-image"
			    : l->stdin_from  ? "stdin"
					     : NULL;
	return alone ? err_usage(e, "--%s is for --lang; a document says it itself", alone) : 0;
}

int job_load(struct job_call *c, const struct job_language *l, struct job *job, struct err *e)
{
	if (!l->name)
		return refuse_alone(l, e) < 0 ? -1 : load_file(c, c->argv[0], job, e);
	char *text = write_document(c, l);
	if (!text)
		return err_host(e, "out of memory");
	const int done = job_read(job,
				  &(struct job_text){.name = "",
						     .text = text,
						     .len = strlen(text),
						     .configure = config_read},
				  c->arena, e);
	free(text);
	return done < 0 ? err_wrap(e, "--lang %.40s", l->name) : 0;
}

const char *job_store(struct job_call *c)
{
	return images_store(c->arena);
}

/* ---- the program ---- */

/* A job that is told to stop before it has begun has a result too, as a run has. What only prints may be stopped. */
static void block_signals(bool runs)
{
	sigset_t set;
	sigemptyset(&set);
	if (runs)
		stop_signals(&set);
	sigaddset(&set, SIGXFSZ);
	sigaddset(&set, SIGPIPE);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

/* Each run of a sweep is a handful of descriptors. */
static void raise_file_limit(void)
{
	struct rlimit l;
	if (getrlimit(RLIMIT_NOFILE, &l) == 0) {
		l.rlim_cur = l.rlim_max;
		setrlimit(RLIMIT_NOFILE, &l);
	}
}

static int run_verb(const struct job_verb *v, int argc, char **argv)
{
	autoarena arena = ARENA_INIT;
	struct err e = ERR_INIT;
	struct job_call c = {.manual = v->manual,
			     .argc = argc,
			     .argv = argv,
			     .arena = &arena,
			     .begun_ns = now_ns()};
	c.manual.name = arena_printf(&arena, "job %s", v->manual.name);
	const int code = v->run(&c, &e);
	if (code >= 0)
		return code;
	complain("job %s: %s", v->manual.name, e.msg);
	return EXIT_REFUSED;
}

int main(int argc, char **argv)
{
	umask(022);
	block_signals(argc > 1 && strcmp(argv[1], "run") == 0);
	raise_file_limit();
	if (argc < 2 || is_help(argv[1])) {
		print_usage();
		return finish_printing(argc < 2 ? EXIT_REFUSED : 0);
	}
	const struct job_verb *v = find_verb(argv[1]);
	if (!v) {
		verb_unknown("job", argv[1], manual_of);
		return EXIT_REFUSED;
	}
	return finish_printing(run_verb(v, argc - 2, argv + 2));
}

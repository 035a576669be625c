/* The arguments of `run`: flags, IMAGE, COMMAND. Two walks over the same words, so that
 * a flag overrides the file of --spec whatever their order. */
#include "spec/keys.h"
#include "spec/parse.h"
#include "spec/spec.h"
#include "spec/value.h"

#include <stdio.h>
#include <string.h>

struct words {
	struct arena *arena;
	int argc;
	char *const *argv;
};

/* One flag, as it stands: "--name", "--name value" or "--name=value". */
struct flag {
	const char *name;  /* without the dashes and the value; the arena's */
	const char *value; /* NULL: none was given */
	int next;	   /* index of the first word behind it */
};

/* For a misspelled one, what the one that was probably meant does. */
static bool takes_value(const char *name)
{
	const char *near = key_find(name) ? name : key_nearest(name);
	if (!near)
		return false;
	const struct key *k = key_find(near);
	return k ? k->type != KEY_BOOL : strcmp(near, "spec") == 0;
}

/* Whether words[at] is a flag; "-" alone is none, "--" ends the flags. */
static bool is_flag(const char *word)
{
	return word[0] == '-' && word[1] != '\0' && strcmp(word, "--") != 0;
}

static void flag_read(struct flag *f, const struct words *w, int at)
{
	const char *word = w->argv[at];
	const char *name = word + (word[1] == '-' ? 2 : 1);
	const char *equals = strchr(name, '=');
	f->name = equals ? arena_strndup(w->arena, name, (size_t)(equals - name)) : name;
	f->value = equals ? equals + 1 : NULL;
	f->next = at + 1;
	/* A value that looks like a flag is a forgotten value; --key=--value says it is meant. */
	if (!equals && takes_value(f->name) && f->next < w->argc &&
	    strncmp(w->argv[f->next], "--", 2) != 0)
		f->value = w->argv[f->next++];
}

/* First walk: is help wanted, which file does --spec name. */
static int scan(const struct words *w, struct spec_args *args, struct err *e)
{
	struct flag f;
	for (int at = 0; at < w->argc && is_flag(w->argv[at]); at = f.next) {
		const char *word = w->argv[at];
		flag_read(&f, w, at);
		if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
			args->help_wanted = true;
			return 0;
		}
		if (word[1] != '-' || strcmp(f.name, "spec") != 0)
			continue;
		if (args->spec_file)
			return err_usage(e, "--spec: given twice; one file says it all");
		if (!f.value || !*f.value)
			return err_usage(e, "--spec: the name of a file is missing");
		args->spec_file = f.value;
	}
	return 0;
}

/* Where a result goes must be known whatever is wrong with the other words, and which files it must
 * not destroy there. What is wrong with these is said when their turn comes. */
static void set_early(struct spec *s, const struct words *w)
{
	struct flag f;
	struct err later;
	for (int at = 0; at < w->argc && is_flag(w->argv[at]); at = f.next) {
		flag_read(&f, w, at);
		const struct key *k = key_find(f.name);
		if (k && key_is_early(k) && w->argv[at][1] == '-' && f.value)
			value_set(s, k, f.value, &later);
	}
}

static int read_file(struct spec *s, const struct spec_args *args, struct err *e)
{
	char *text;
	size_t len;
	if (!args->read_file)
		return err_usage(e, "--spec: no file can be read here");
	if (args->read_file(s->arena, args->spec_file, &text, &len, e) < 0)
		return err_wrap(e, "--spec");
	s->speaking = ORIGIN_FILE;
	return spec_read_json(s, args->spec_file, text, len, e);
}

static int refuse_unknown(const char *word, const char *name, struct err *e)
{
	const char *near = key_nearest(name);
	struct shown shown = show(word);
	if (key_find(name) || strcmp(name, "spec") == 0)
		near = name; /* "-memory" */
	if (near && (strcmp(near, "image") == 0 || strcmp(near, "command") == 0))
		return err_usage(e, "unknown option %s; the %s is given without one", shown.text,
				 near);
	if (near)
		return err_usage(e, "unknown option %s; did you mean --%s?", shown.text, near);
	return err_usage(e, "unknown option %s; --help lists them", shown.text);
}

static int set_flag(struct spec *s, const char *word, const struct flag *f, struct err *e)
{
	const struct key *k = key_find(f->name);
	if (word[1] == '-' && strcmp(f->name, "spec") == 0)
		return 0;
	if (!k || word[1] != '-')
		return refuse_unknown(word, f->name, e);
	const char *value = f->value;
	if (!value && k->type == KEY_BOOL)
		value = "true";
	if (!value)
		return err_usage(e, "--%s: a value is missing (%s)", k->name, k->placeholder);
	if (value_set(s, k, value, e) < 0)
		return err_wrap(e, "--%s", k->name);
	return 0;
}

static int set_rest(struct spec *s, int argc, char *const *argv, struct err *e)
{
	int at = 0;
	if (at < argc && strcmp(argv[at], "--") == 0)
		at++;
	if (at == argc)
		return 0;
	if (spec_set_image(s, argv[at++], e) < 0)
		return -1;
	if (at < argc && strcmp(argv[at], "--") == 0)
		at++;
	if (at == argc)
		return 0;
	return spec_set_command(s, (const char *const *)&argv[at], (size_t)(argc - at), e);
}

/* Second walk. Returns the place behind the flags, -1 on an error. */
static int set_flags(struct spec *s, const struct words *w, struct err *e)
{
	struct flag f;
	int at = 0;
	for (; at < w->argc && is_flag(w->argv[at]); at = f.next) {
		flag_read(&f, w, at);
		if (set_flag(s, w->argv[at], &f, e) < 0)
			return -1;
	}
	return at;
}

int spec_read_argv(struct spec *s, struct spec_args *args, int argc, char *const *argv, struct err *e)
{
	const struct words w = {s->arena, argc, argv};
	set_early(s, &w);
	if (scan(&w, args, e) < 0)
		return -1;
	if (args->help_wanted)
		return 0;
	if ((args->configure && args->configure(s, e) < 0) ||
	    (args->spec_file && read_file(s, args, e) < 0)) {
		set_early(s, &w);
		return -1;
	}
	s->speaking = ORIGIN_FLAG;
	int at = set_flags(s, &w, e);
	if (at < 0 || set_rest(s, argc - at, &argv[at], e) < 0)
		return -1;
	return spec_apply_ceilings(s, e);
}

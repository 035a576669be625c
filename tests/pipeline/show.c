/* What the parts of a job make of their input, for tests.
 *
 *	show diagnostics KIND < OUTPUT		rows: severity|file|line|column|code|message
 *	show jailed KIND < OUTPUT		the same by way of a jail
 *	show template build|run LANG FOLDER FILE... [-- VERSION [OPTION...]] [-- ARG...]
 *						a JSON document
 */
#include "pipeline/diagnostics/diagnostics.h"
#include "pipeline/template.h"
#include "spec/writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int fail(const char *why)
{
	fprintf(stderr, "show: %s\n", why);
	return 1;
}

static void print_rows(const struct diagnostics *d)
{
	for (uint32_t i = 0; i < d->len; i++) {
		const struct diagnostic *row = &d->rows[i];
		printf("%s|%s|%u|%u|%s|%s\n", severity_names[row->severity], row->file, row->line,
		       row->column, row->code, row->message);
	}
}

static int show_diagnostics(enum diagnostics_kind kind)
{
	static char bytes[DIAGNOSTICS_BYTES_MAX + 1];
	static struct diagnostics d;
	diagnostics_read(&d, kind, bytes, fread(bytes, 1, sizeof(bytes), stdin));
	print_rows(&d);
	return 0;
}

static int show_jailed(enum diagnostics_kind kind)
{
	static struct diagnostics d;
	struct err e = ERR_INIT;
	if (diagnostics_jailed(&d, kind, 0, &e) < 0)
		return fail(e.msg);
	print_rows(&d);
	return 0;
}

/* Ends the list at the next "--", and returns where the next one begins. */
static char **part(char **argv)
{
	while (*argv && strcmp(*argv, "--") != 0)
		argv++;
	if (!*argv)
		return argv;
	*argv = NULL;
	return argv + 1;
}

static void print_template(const struct language *l, const struct template_stage *stage,
			   const struct template_ask *ask)
{
	autoarena a = ARENA_INIT;
	struct json_writer w;
	json_open(&w, true);
	json_begin(&w, NULL, '{');
	json_text(&w, "image", stage->image->name);
	json_text(&w, "recipe", template_image_recipe(stage->image, &a));
	json_begin(&w, "command", '[');
	for (const char *const *word = template_command(l, stage, ask, &a); *word; word++)
		json_text(&w, NULL, *word);
	json_end(&w, '[');
	json_begin(&w, "settings", '[');
	for (const struct template_setting *s = stage->settings; s->key; s++) {
		json_begin(&w, NULL, '[');
		json_text(&w, NULL, s->key);
		json_text(&w, NULL, s->value);
		json_end(&w, '[');
	}
	json_end(&w, '[');
	if (l->output)
		json_text(&w, "output", l->output);
	json_text(&w, "says", diagnostics_kind_names[stage->says]);
	json_end(&w, '{');
	char *text = json_finish(&w, true);
	fputs(text ? text : "", stdout);
	free(text);
}

static int show_template(const char *which, char **argv)
{
	const struct language *l = argv[0] && argv[1] ? language_find(argv[0]) : NULL;
	struct err e = ERR_INIT;
	if (!l)
		return fail("no such language");
	char **version = part(argv + 2), **args = part(version);
	const struct template_ask ask = {
		.version = *version,
		.options = *version ? (const char *const *)version + 1 : NULL,
		.files = (const char *const *)argv + 2,
		.args = (const char *const *)args,
		.folder = argv[1],
	};
	if (language_check(l, &ask, &e) < 0)
		return fail(e.msg);
	print_template(l, strcmp(which, "build") == 0 ? &l->build : &l->run, &ask);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return fail(
			"diagnostics KIND, jailed KIND, or template build|run LANG FOLDER FILE...");
	if (strcmp(argv[1], "template") == 0)
		return show_template(argv[2], argv + 3);
	const int kind = diagnostics_kind_of(argv[2]);
	if (kind < 0)
		return fail("no such kind");
	return strcmp(argv[1], "jailed") == 0 ? show_jailed((enum diagnostics_kind)kind)
					      : show_diagnostics((enum diagnostics_kind)kind);
}

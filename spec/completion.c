/* The completion for bash, from the key table. */
#include "spec/help.h"
#include "spec/keys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What completes a value, as bash has it. */
static const char *value_words(const struct key *k)
{
	switch (k->type) {
	case KEY_PATH:
		return strcmp(k->name, "audit") == 0 ? "_pinfold_files; _pinfold_words syslog"
						     : "_pinfold_files";
	case KEY_SINK:
		return "_pinfold_files";
	case KEY_STDIN:
		return "_pinfold_files; _pinfold_words '- null'";
	case KEY_REQUIRE:
		return "_pinfold_list \"$_pinfold_guarantees\"";
	default:
		return NULL;
	}
}

static void enum_case(FILE *to, const struct key *k)
{
	fprintf(to, "\t--%s) _pinfold_words '", k->name);
	for (size_t i = 0; k->words[i]; i++)
		fprintf(to, "%s%s", i ? " " : "", k->words[i]);
	fputs("' ;;\n", to);
}

static void lists(FILE *to)
{
	fputs("_pinfold_flags='--help --spec", to);
	for (size_t i = 0; i < spec_keys_len; i++)
		fprintf(to, " --%s", spec_keys[i].name);
	fputs("'\n_pinfold_commands='run explain doctor image ps kill gc audit completion version help'\n"
	      "_pinfold_image_verbs='pull load import build-debian list inspect tag remove gc verify export'\n"
	      "_pinfold_guarantees='all cgroup",
	      to);
	for (int i = 0; i < G_COUNT; i++)
		fprintf(to, " %s", guarantee_name((enum guarantee_id)i));
	fputs("'\n", to);
}

static void values(FILE *to)
{
	fputs("# The value of the flag $1.\n"
	      "_pinfold_value()\n{\n\tcase $1 in\n\t--spec) _pinfold_files ;;\n",
	      to);
	for (size_t i = 0; i < spec_keys_len; i++) {
		const struct key *k = &spec_keys[i];
		const char *words = value_words(k);
		if (k->type == KEY_ENUM)
			enum_case(to, k);
		else if (words)
			fprintf(to, "\t--%s) %s ;;\n", k->name, words);
	}
	fputs("\tesac\n}\n", to);
}

/* Flags without a value, as a pattern of `case`. */
static void bare_flags(FILE *to)
{
	fputs("\t\t--help|-h", to);
	for (size_t i = 0; i < spec_keys_len; i++) {
		if (spec_keys[i].type == KEY_BOOL)
			fprintf(to, "|--%s", spec_keys[i].name);
	}
	fputs("|--*=*) ;;\n", to);
}

static const char words_and_files[] =
	"_pinfold_add()\n{\n\tlocal word\n"
	"\twhile IFS= read -r word; do COMPREPLY+=(\"$word\"); done < <(compgen \"$@\" -- \"$cur\")\n}\n"
	"_pinfold_words()\n{\n\t_pinfold_add -W \"$1\"\n}\n"
	"# Words with commas between them: the last one is completed.\n"
	"_pinfold_list()\n{\n\tlocal before='' whole=$cur\n"
	"\t[[ $cur == *,* ]] && before=${cur%,*},\n"
	"\tcur=${cur##*,}\n\t_pinfold_words \"$1\"\n\tcur=$whole\n"
	"\tCOMPREPLY=(\"${COMPREPLY[@]/#/$before}\")\n}\n"
	"_pinfold_files()\n{\n\tcompopt -o filenames 2>/dev/null\n\t_pinfold_add -f\n}\n"
	"# Names of stored images.\n"
	"_pinfold_stored()\n{\n\t_pinfold_words \"$(pinfold image list --names 2>/dev/null)\"\n}\n"
	"_pinfold_image()\n{\n\t_pinfold_files\n\t_pinfold_words @host\n\t_pinfold_stored\n}\n";

/* A word of one of the commands beside run and explain. */
static const char others[] =
	"_pinfold_other()\n{\n\tlocal before=${COMP_WORDS[COMP_CWORD - 1]}\n"
	"\tcase ${COMP_WORDS[1]},$cur in\n"
	"\timage,*) ((COMP_CWORD == 2)) && _pinfold_words \"$_pinfold_image_verbs\" || {\n"
	"\t\tif [[ $cur == -* ]]; then _pinfold_words '--json --name --ref --platform --output --format --help'\n"
	"\t\telif [[ ${COMP_WORDS[2]} == @(load|import) ]]; then _pinfold_files\n"
	"\t\telse _pinfold_stored; fi; } ;;\n"
	"\tdoctor,-*|ps,*) _pinfold_words --json ;;\n"
	"\tdoctor,*) _pinfold_image ;;\n"
	"\tgc,*) [[ $before == --cgroup-parent ]] && _pinfold_files || _pinfold_words --cgroup-parent ;;\n"
	"\taudit,-*) _pinfold_words '--id --since --status --json' ;;\n"
	"\taudit,*) _pinfold_files ;;\n"
	"\thelp,*) _pinfold_words \"$_pinfold_commands\" ;;\n"
	"\tesac\n}\n";

static const char place[] =
	"# Sets `at` to the index of IMAGE, or of the word to complete if that comes first, and\n"
	"# `flag` to the flag whose value is to be completed.\n"
	"_pinfold_place()\n{\n\tflag=\n\tfor ((at = 2; at < COMP_CWORD; at++)); do\n"
	"\t\tcase ${COMP_WORDS[at]} in\n\t\t--) ((at++)); return ;;\n";

static const char place_end[] = "\t\t--*)\n\t\t\t# bash splits --key=value at the sign\n"
				"\t\t\t[[ ${COMP_WORDS[at + 1]} == = ]] && ((at++))\n"
				"\t\t\t((at + 1 >= COMP_CWORD)) && flag=${COMP_WORDS[at]}\n"
				"\t\t\t[[ $flag == = ]] && flag=${COMP_WORDS[at - 1]}\n"
				"\t\t\t((at++)) ;;\n"
				"\t\t*) return ;;\n\t\tesac\n\tdone\n}\n";

static const char entry[] =
	"_pinfold()\n{\n\tlocal cur=${COMP_WORDS[COMP_CWORD]} at flag\n\tCOMPREPLY=()\n"
	"\tif ((COMP_CWORD == 1)); then\n"
	"\t\t_pinfold_words \"$_pinfold_commands\"\n\t\treturn\n\tfi\n"
	"\tcase ${COMP_WORDS[1]} in\n\trun|explain) ;;\n\t*) _pinfold_other; return ;;\n\tesac\n"
	"\t[[ $cur == = ]] && cur=\n"
	"\t_pinfold_place\n"
	"\tif [[ $flag ]]; then\n\t\t_pinfold_value \"$flag\"\n"
	"\telif ((at < COMP_CWORD)); then\n\t\t_pinfold_files\n"
	"\telif [[ $cur == -* ]]; then\n\t\t_pinfold_words \"$_pinfold_flags\"\n"
	"\telse\n\t\t_pinfold_image\n\tfi\n}\n"
	"complete -F _pinfold pinfold\n";

char *spec_completion_text(void)
{
	char *buf = NULL;
	size_t len;
	FILE *to = open_memstream(&buf, &len);
	if (!to)
		return NULL;
	fputs("# bash completion for pinfold, made from its key table\n", to);
	lists(to);
	fputs(words_and_files, to);
	values(to);
	fputs(place, to);
	bare_flags(to);
	fputs(place_end, to);
	fputs(others, to);
	fputs(entry, to);
	if (fclose(to) == 0)
		return buf;
	free(buf);
	return NULL;
}

/* The completion for bash, from the key table. */
#include "spec/help.h"
#include "spec/keys.h"
#include "spec/result.h"

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
	fputs("'\n_pinfold_commands='run explain doctor image job scan ps kill gc audit report completion version help'\n"
	      "_pinfold_image_verbs='pull load import build-debian list inspect tag remove gc verify export'\n"
	      "_pinfold_guarantees='all cgroup",
	      to);
	for (int i = 0; i < G_COUNT; i++)
		fprintf(to, " %s", guarantee_name((enum guarantee_id)i));
	fputs("'\n_pinfold_statuses='", to);
	for (int i = 0; i < RUN_STATUS_COUNT; i++)
		fprintf(to, "%s%s", i ? " " : "", run_status_name((enum run_status)i));
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

/* The options of `image VERB`; what sets bounds is in _pinfold_limits. */
static const char image_flags[] =
	"_pinfold_limits='--limit-bytes --limit-entries --limit-depth --limit-ratio --limit-time'\n"
	"_pinfold_image_flags()\n{\n\tlocal flags=--help\n\tcase $1 in\n"
	"\tlist) flags+=' --json --names' ;;\n"
	"\tinspect|gc|verify) flags+=' --json' ;;\n"
	"\timport) flags+=\" --json $_pinfold_limits\" ;;\n"
	"\tload) flags+=\" --name --ref --as --platform --json $_pinfold_limits\" ;;\n"
	"\tpull) flags+=\" --platform --auth-file --ca-file --insecure-registry --json $_pinfold_limits\" ;;\n"
	"\tbuild-debian) flags+=\" --packages --suite --mirror --components --variant --json $_pinfold_limits\" ;;\n"
	"\texport) flags+=' --output --format' ;;\n"
	"\tesac\n\t_pinfold_words \"$flags\"\n}\n"
	"_pinfold_image_word()\n{\n"
	"\tcase $1,$2,$cur in\n"
	"\tload,--as,*) _pinfold_words 'tree layout docker' ;;\n"
	"\texport,--format,*) _pinfold_words 'tar oci' ;;\n"
	"\t*,--auth-file,*|*,--ca-file,*|*,--output,*) _pinfold_files ;;\n"
	"\t*,-*) _pinfold_image_flags \"$1\" ;;\n"
	"\tload,*|import,*) _pinfold_files ;;\n"
	"\t*) _pinfold_stored ;;\n\tesac\n}\n";

/* The words of `job VERB`. */
static const char job_words[] =
	"_pinfold_job_word()\n{\n\tlocal lang='--lang --lang-version --build-image --run-image --stdin'\n"
	"\tcase $1,$2,$cur in\n"
	"\t*,--lang,*) _pinfold_words 'c c++ python c# java javascript rust go shell' ;;\n"
	"\t*,--build-image,*|*,--run-image,*) _pinfold_image ;;\n"
	"\trun,*,-*) _pinfold_words \"$lang --result --events --artifacts-dir --id --approve --no-cache --help\" ;;\n"
	"\tplan,*,-*) _pinfold_words \"$lang --json --help\" ;;\n"
	"\tcheck,*,-*) _pinfold_words \"$lang --help\" ;;\n"
	"\tgc,*) _pinfold_words '--older --max-size --all --help' ;;\n"
	"\tbudget,*,-*) _pinfold_words '--json --create --cpu-time --wall --memory-hours --runs --money --price-cpu-hour --price-hour --price-memory-hour --price-run --help' ;;\n"
	"\t*) _pinfold_files ;;\n\tesac\n}\n";

/* A word of one of the commands beside run and explain; `=` is a word of its own. */
static const char others[] =
	"_pinfold_other()\n{\n\tlocal before=${COMP_WORDS[COMP_CWORD - 1]}\n"
	"\t[[ $cur == = ]] && cur= || { [[ $before == = ]] && before=${COMP_WORDS[COMP_CWORD - 2]}; }\n"
	"\tcase ${COMP_WORDS[1]},$before,$cur in\n"
	"\timage,*) ((COMP_CWORD == 2)) && _pinfold_words \"$_pinfold_image_verbs\" ||\n"
	"\t\t_pinfold_image_word \"${COMP_WORDS[2]}\" \"$before\" ;;\n"
	"\tgc,--cgroup-parent,*) _pinfold_files ;;\n"
	"\tgc,*) _pinfold_words '--cgroup-parent --help' ;;\n"
	"\taudit,--status,*) _pinfold_words \"$_pinfold_statuses\" ;;\n"
	"\taudit,*,-*) _pinfold_words '--id --since --status --json --help' ;;\n"
	"\taudit,*) _pinfold_files ;;\n"
	"\tjob,*) ((COMP_CWORD == 2)) && _pinfold_words 'run check plan gc budget' ||\n"
	"\t\t_pinfold_job_word \"${COMP_WORDS[2]}\" \"$before\" ;;\n"
	"\tscan,--format,*) _pinfold_words 'text sarif' ;;\n"
	"\tscan,--gate,*) _pinfold_words 'error warning note none' ;;\n"
	"\tscan,*,-*) _pinfold_words '--format --gate --waive --rules --merge --limit-time --propose --help' ;;\n"
	"\tscan,*) _pinfold_files ;;\n"
	"\treport,--output,*|report,-o,*|report,--events,*|report,--artifacts-dir,*) _pinfold_files ;;\n"
	"\treport,*,-*) _pinfold_words '--output --events --artifacts-dir --no-images --help' ;;\n"
	"\treport,*) _pinfold_files ;;\n"
	"\tdoctor,*,-*|ps,*) _pinfold_words '--json --help' ;;\n"
	"\tdoctor,*) _pinfold_image ;;\n"
	"\tkill,*,-*) _pinfold_words --help ;;\n"
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
	fputs(image_flags, to);
	fputs(job_words, to);
	fputs(others, to);
	fputs(entry, to);
	if (fclose(to) == 0)
		return buf;
	free(buf);
	return NULL;
}

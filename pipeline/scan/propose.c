#include "pipeline/scan/propose.h"

#include "spec/writer.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HOSTS_MAX = 64, COMMAND_MAX = 12, RULE_BYTES = 300 };

/* How a language is built and run. "@" is the file to begin with, "%" its name without its folder
 * and extension; below /scratch/source is a copy of the tree. */
static const struct recipe {
	const char *build[COMMAND_MAX], *run[COMMAND_MAX];
	const char *memory, *wall, *entries;
} recipes[LANGUAGES] = {
	[LANGUAGE_PYTHON] = {.run = {"python3", "@"},
			     .memory = "512M",
			     .wall = "60s",
			     .entries = "main.py app.py run.py __main__.py"},
	[LANGUAGE_C] = {.build = {"cc", "-O2", "-Wall", "-o", "program", "@"},
			.run = {"./program"},
			.memory = "256M",
			.wall = "60s",
			.entries = "main.c"},
	[LANGUAGE_CPP] = {.build = {"c++", "-O2", "-Wall", "-o", "program", "@"},
			  .run = {"./program"},
			  .memory = "256M",
			  .wall = "60s",
			  .entries = "main.cpp main.cc main.cxx"},
	[LANGUAGE_CSHARP] = {.build = {"mcs", "-out:program.exe", "@"},
			     .run = {"mono", "program.exe"},
			     .memory = "512M",
			     .wall = "60s",
			     .entries = "Program.cs Main.cs"},
	[LANGUAGE_JAVASCRIPT] = {.run = {"node", "@"},
				 .memory = "512M",
				 .wall = "60s",
				 .entries = "index.js main.js app.js"},
	[LANGUAGE_TYPESCRIPT] = {.build = {"tsc", "--outDir", "out", "@"},
				 .run = {"node", "out/%.js"},
				 .memory = "512M",
				 .wall = "60s",
				 .entries = "index.ts main.ts"},
	[LANGUAGE_TSX] = {.build = {"tsc", "--outDir", "out", "@"},
			  .run = {"node", "out/%.js"},
			  .memory = "512M",
			  .wall = "60s",
			  .entries = "index.tsx main.tsx"},
	[LANGUAGE_JAVA] = {.build = {"javac", "-d", "classes", "@"},
			   .run = {"java", "-cp", "classes", "%"},
			   .memory = "1G",
			   .wall = "60s",
			   .entries = "Main.java App.java"},
	[LANGUAGE_SHELL] = {.run = {"sh", "@"},
			    .memory = "128M",
			    .wall = "60s",
			    .entries = "run.sh main.sh"},
};

static const char *last_component(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

static size_t depth_of(const char *path)
{
	size_t depth = 0;
	for (; *path; path++)
		depth += *path == '/';
	return depth;
}

/* By its name, then by how near to the top it is. */
static bool is_better(enum language l, const char *path, const char *than)
{
	const char *entries = recipes[l].entries, *name = last_component(path),
		   *had = last_component(than);
	const bool good = language_lists(entries, name, strlen(name));
	const bool had_good = language_lists(entries, had, strlen(had));
	if (good != had_good)
		return good;
	return depth_of(path) < depth_of(than);
}

static bool is_text(const char *path)
{
	uint32_t character;
	for (size_t len; *path; path += len)
		if ((len = utf8_next((const unsigned char *)path, &character)) == 0)
			return false;
	return true;
}

/* What java is to run is named by a word of its own, and an option or a file of such is none. */
static bool is_class(const char *path)
{
	const char *name = last_component(path);
	size_t len = strcspn(name, ".");
	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)name[i]) && !strchr("_$", name[i]) &&
		    (unsigned char)name[i] < 0x80)
			return false;
	return len > 0 && strcmp(name + len, ".java") == 0;
}

/* "./" in front of all, so that no name is an option of whoever is told to run it. */
void seen_file(struct seen *s, enum language l, const char *path)
{
	if (strlen(path) < ENTRY_MAX - 2 && is_text(path) && (l != LANGUAGE_JAVA || is_class(path)) &&
	    (!s->entry[l][0] || is_better(l, path, s->entry[l] + 2)))
		snprintf(s->entry[l], ENTRY_MAX, "./%s", path);
}

/* What there is most of, among those that a file was seen of. */
static enum language main_language(const struct seen *s)
{
	enum language best = LANGUAGE_NONE;
	for (int l = 0; l < LANGUAGES; l++)
		if (s->entry[l][0] && (best == LANGUAGE_NONE || s->bytes[l] > s->bytes[best]))
			best = (enum language)l;
	return best;
}

/* Addresses that a rule reaches with "private:" in front alone: who drafts does not open those. */
static bool is_private(const char *host)
{
	static const char *const begins[] = {"0.", "10.", "127.", "169.254.", "192.168."};
	unsigned second = 0;
	for (size_t i = 0; i < sizeof(begins) / sizeof(*begins); i++)
		if (strncmp(host, begins[i], strlen(begins[i])) == 0)
			return true;
	return sscanf(host, "172.%3u.", &second) == 1 && second >= 16 && second < 32;
}

/* A host that a rule may name: labels of letters, digits and hyphens, with a dot between them. */
static bool is_allowed(const char *host)
{
	size_t label = 0;
	if (!strchr(host, '.') || strlen(host) > 253 || is_private(host))
		return false;
	for (const char *c = host; *c; c++) {
		const bool edge = c[1] == '.' || c[1] == '\0';
		if (*c == '.' ? label == 0
			      : !isalnum((unsigned char)*c) && (*c != '-' || label == 0 || edge))
			return false;
		label = *c == '.' ? 0 : label + 1;
		if (label > 63)
			return false;
	}
	return label > 0;
}

/* Plain HTTP where the line says so. */
static void put_rule(struct json_writer *w, const struct scan_finding *f)
{
	char plain[RULE_BYTES], rule[RULE_BYTES];
	snprintf(plain, sizeof(plain), "http://%s", f->host);
	snprintf(rule, sizeof(rule), "%s:%s", f->host, strstr(f->source, plain) ? "80,443" : "443");
	json_text(w, NULL, rule);
}

static void put_hosts(struct json_writer *w, const struct scan_findings *all)
{
	const char *hosts[HOSTS_MAX];
	size_t len = 0;
	json_begin(w, "egress", '{');
	json_begin(w, "allow", '[');
	for (size_t i = 0; i < all->len && len < HOSTS_MAX; i++) {
		size_t at = 0;
		while (at < len && strcmp(hosts[at], all->at[i].host) != 0)
			at++;
		if (at < len || !is_allowed(all->at[i].host))
			continue;
		hosts[len++] = all->at[i].host;
		put_rule(w, &all->at[i]);
	}
	json_end(w, '[');
	json_end(w, '{');
}

static bool found(const struct scan_findings *all, const char *end)
{
	for (size_t i = 0; i < all->len; i++) {
		const char *dot = strchr(all->at[i].id, '.');
		if (dot && strcmp(dot + 1, end) == 0)
			return true;
	}
	return false;
}

/* A word of a command: a name may have what would be a mark of a job's parameter. */
static void put_word(struct json_writer *w, const char *word)
{
	char text[2 * ENTRY_MAX + 32];
	size_t len = 0;
	for (; *word && len < sizeof(text) - 2; word++) {
		if (word[0] == '@' && word[1] == '{')
			text[len++] = '@';
		text[len++] = *word;
	}
	text[len] = '\0';
	json_text(w, NULL, text);
}

/* A word with "%" in it. */
static void put_named(struct json_writer *w, const char *word, const char *entry)
{
	char text[ENTRY_MAX + 16];
	const char *name = last_component(entry), *dot = strrchr(name, '.'),
		   *mark = strchr(word, '%');
	snprintf(text, sizeof(text), "%.*s%.*s%s", (int)(mark - word), word,
		 (int)(dot ? dot - name : (ptrdiff_t)strlen(name)), name, mark + 1);
	put_word(w, text);
}

static void put_command(struct json_writer *w, const char *const *words, const char *entry)
{
	json_begin(w, "command", '[');
	for (; *words; words++)
		if (strchr(*words, '%'))
			put_named(w, *words, entry);
		else
			put_word(w, strcmp(*words, "@") == 0 ? entry : *words);
	json_end(w, '[');
}

static void put_inputs(struct json_writer *w, const char *from)
{
	json_begin(w, "inputs", '{');
	json_begin(w, "copy", '[');
	json_text(w, NULL, from);
	json_end(w, '[');
	json_end(w, '{');
	json_text(w, "workdir", "/scratch/source");
}

static void put_build(struct json_writer *w, const struct recipe *r, const char *entry)
{
	json_begin(w, NULL, '{');
	json_text(w, "name", "build");
	json_text(w, "kind", "build");
	put_inputs(w, "@source:source");
	put_command(w, r->build, entry);
	json_begin(w, "outputs", '[');
	json_text(w, NULL, "source");
	json_end(w, '[');
	json_end(w, '{');
}

static void put_run(struct json_writer *w, const struct recipe *r, const struct scan_findings *all,
		    const char *entry)
{
	json_begin(w, NULL, '{');
	json_text(w, "name", "run");
	put_inputs(w, r->build[0] ? "@build/source:source" : "@source:source");
	put_command(w, r->run, entry);
	json_text(w, "memory", r->memory);
	json_text(w, "wall", r->wall);
	json_text(w, "cpu-time", "30s");
	json_number(w, "pids", found(all, "process") ? 128 : 32);
	put_hosts(w, all);
	json_end(w, '{');
}

char *propose(const struct seen *s, const struct scan_findings *all, const char *path, bool is_folder)
{
	struct json_writer w;
	const enum language l = main_language(s);
	const struct recipe none = {.run = {"true"}, .memory = "128M", .wall = "60s"};
	const struct recipe *r = l == LANGUAGE_NONE ? &none : &recipes[l];
	const char *entry = l == LANGUAGE_NONE ? "" : s->entry[l];
	json_open(&w, true);
	json_begin(&w, NULL, '{');
	json_text(&w, "name", "draft");
	json_text(&w, "image", "@host");
	json_begin(&w, "source", '{');
	if (is_folder) {
		json_text(&w, "folder", path);
	} else {
		json_begin(&w, "files", '[');
		json_text(&w, NULL, path);
		json_end(&w, '[');
	}
	json_end(&w, '{');
	json_begin(&w, "analyse", '{');
	json_text(&w, "gate", "error");
	json_end(&w, '{');
	json_begin(&w, "stages", '[');
	if (r->build[0])
		put_build(&w, r, entry);
	put_run(&w, r, all, entry);
	json_end(&w, '[');
	json_end(&w, '{');
	return json_finish(&w, true);
}

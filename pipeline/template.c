#include "pipeline/template.h"

#include "spec/parse.h"

#include <string.h>

#define WORDS(...)    ((const char *const[]){__VA_ARGS__, NULL})
#define SETTINGS(...) ((const struct template_setting[]){__VA_ARGS__, {NULL, NULL}})

/* ---- images: small, and none of the second kind with a compiler in it ---- */

static const struct template_image c_build = {"c-build", NULL, "gcc,g++,libc6-dev"};
static const struct template_image rust_build = {"rust-build", NULL, "rustc"};
static const struct template_image go_build = {"go-build", NULL, "golang-go"};
static const struct template_image java_build = {"java-build", NULL, "default-jdk-headless"};
static const struct template_image csharp_build = {"csharp-build", NULL, "mono-mcs"};

static const struct template_image native = {"native", NULL, "libstdc++6"};
static const struct template_image java = {"java", NULL, "default-jre-headless"};
static const struct template_image csharp =
	{"csharp", NULL, "mono-runtime,libmono-system4.0-cil,libmono-system-core4.0-cil"};
static const struct template_image python = {"python", NULL, "python3,python3-numpy"};
static const struct template_image node = {"node", NULL, "nodejs"};
static const struct template_image shell = {"shell", NULL, NULL};

/* ---- limits: a build may be large, what it made gets less ---- */

#define BUILD_LIMITS \
	{"memory", "2G"}, {"scratch", "1G"}, {"wall", "5m"}, {"pids", "256"}, {"priority", "low"}
#define RUN_LIMITS                                                                \
	{"memory", "512M"}, {"scratch", "64M"}, {"wall", "60s"}, {"pids", "128"}, \
		{"priority", "low"}
/* A check reads, and is quick. */
#define CHECK_LIMITS RUN_LIMITS

#define NATIVE_OUTPUT "program"
#define NATIVE_RUN                               \
	{.image = &native,                       \
	 .command = WORDS("{output}", "{args}"), \
	 .settings = SETTINGS(RUN_LIMITS),       \
	 .says = DIAGNOSTICS_GCC}

const struct language languages[] = {
	{.names = WORDS("c"),
	 .title = "C",
	 .extensions = WORDS(".c"),
	 .version_flag = "-std=",
	 .versions = WORDS("gnu17", "c89", "c90", "c99", "c11", "c17", "c18", "c2x", "gnu89",
			   "gnu90", "gnu99", "gnu11", "gnu18", "gnu2x"),
	 .build = {.image = &c_build,
		   .command = WORDS("gcc", "{version}", "-O2", "-Wall", "-o", NATIVE_OUTPUT,
				    "{files}", "{options}", "-lm", "-pthread"),
		   .settings = SETTINGS(BUILD_LIMITS),
		   .says = DIAGNOSTICS_GCC},
	 .run = NATIVE_RUN,
	 .output = NATIVE_OUTPUT,
	 .why = "options stand behind the files, as libraries have to"},
	{.names = WORDS("c++", "cpp", "cxx"),
	 .title = "C++",
	 .extensions = WORDS(".cpp", ".cc", ".cxx", ".C"),
	 .version_flag = "-std=",
	 .versions = WORDS("gnu++17", "c++98", "c++03", "c++11", "c++14", "c++17", "c++20", "c++23",
			   "gnu++98", "gnu++03", "gnu++11", "gnu++14", "gnu++20", "gnu++23"),
	 .build = {.image = &c_build,
		   .command = WORDS("g++", "{version}", "-O2", "-Wall", "-o", NATIVE_OUTPUT,
				    "{files}", "{options}", "-pthread"),
		   .settings = SETTINGS(BUILD_LIMITS),
		   .says = DIAGNOSTICS_GCC},
	 .run = NATIVE_RUN,
	 .output = NATIVE_OUTPUT,
	 .why = "options stand behind the files, as libraries have to"},
	{.names = WORDS("python", "py"),
	 .title = "Python",
	 .extensions = WORDS(".py"),
	 /* The cache of bytecode goes where the checked files, which may be read-only, are not. */
	 .build = {.image = &python,
		   .command = WORDS("python3", "{options}", "-m", "py_compile", "{files}"),
		   .settings = SETTINGS(CHECK_LIMITS, {"env", "PYTHONPYCACHEPREFIX=/tmp/cache"}),
		   .says = DIAGNOSTICS_PYTHON},
	 .run = {.image = &python,
		 .command = WORDS("python3", "{main}", "{args}"),
		 .settings = SETTINGS(RUN_LIMITS, {"env", "PYTHONDONTWRITEBYTECODE=1"},
				      {"env", "PYTHONUNBUFFERED=1"}),
		 .says = DIAGNOSTICS_PYTHON},
	 .why = "the interpreter is the compiler: one image"},
	{.names = WORDS("c#", "csharp", "cs"),
	 .title = "C#",
	 .extensions = WORDS(".cs"),
	 .version_flag = "-langversion:",
	 .versions = WORDS("default", "3", "4", "5", "6", "7", "7.1", "7.2", "latest"),
	 .build = {.image = &csharp_build,
		   .command = WORDS("mcs", "{version}", "-out:program.exe", "{options}", "{files}"),
		   .settings = SETTINGS(BUILD_LIMITS),
		   .says = DIAGNOSTICS_MCS},
	 .run = {.image = &csharp,
		 .command = WORDS("mono", "{output}", "{args}"),
		 .settings = SETTINGS(RUN_LIMITS),
		 .says = DIAGNOSTICS_MCS},
	 .output = "program.exe",
	 .why = "Mono: its image has no mcs; it does have Debian's binutils, which its run time depends on"},
	{.names = WORDS("java"),
	 .title = "Java",
	 .extensions = WORDS(".java"),
	 .version_flag = "--release ",
	 .versions = WORDS("17", "7", "8", "9", "10", "11", "12", "13", "14", "15", "16"),
	 .build = {.image = &java_build,
		   .command = WORDS("javac", "{version}", "-d", "classes", "{options}", "{files}"),
		   .settings = SETTINGS(BUILD_LIMITS),
		   .says = DIAGNOSTICS_JAVAC},
	 .run = {.image = &java,
		 .command = WORDS("java", "-cp", "{output}", "{class}", "{args}"),
		 .settings = SETTINGS(RUN_LIMITS),
		 .says = DIAGNOSTICS_JAVAC},
	 .output = "classes",
	 .why = "the main class is named after the main file, and in no package; Debian's java can "
		"compile a source file that it is told to run, though there is no javac"},
	{.names = WORDS("javascript", "js", "node"),
	 .title = "JavaScript",
	 .extensions = WORDS(".js", ".mjs", ".cjs"),
	 .build = {.image = &node,
		   .command = WORDS("node", "{options}", "--check", "{main}"),
		   .settings = SETTINGS(CHECK_LIMITS),
		   .says = DIAGNOSTICS_NODE},
	 .run = {.image = &node,
		 .command = WORDS("node", "{main}", "{args}"),
		 .settings = SETTINGS(RUN_LIMITS),
		 .says = DIAGNOSTICS_NODE},
	 .why = "the interpreter is the compiler: one image; only the main file is checked before it runs"},
	{.names = WORDS("rust", "rs"),
	 .title = "Rust",
	 .extensions = WORDS(".rs"),
	 .version_flag = "--edition ",
	 .versions = WORDS("2021", "2015", "2018"),
	 .build = {.image = &rust_build,
		   .command = WORDS("rustc", "{version}", "-O", "-o", NATIVE_OUTPUT, "{options}",
				    "{main}"),
		   .settings = SETTINGS(BUILD_LIMITS),
		   .says = DIAGNOSTICS_RUSTC},
	 .run = {.image = &native,
		 .command = WORDS("{output}", "{args}"),
		 .settings = SETTINGS(RUN_LIMITS),
		 .says = DIAGNOSTICS_RUSTC},
	 .output = NATIVE_OUTPUT,
	 .why = "one crate: other files are modules of the main one, which rustc finds beside it"},
	{.names = WORDS("go"),
	 .title = "Go",
	 .extensions = WORDS(".go"),
	 .build = {.image = &go_build,
		   .command = WORDS("go", "build", "-trimpath", "-o", NATIVE_OUTPUT, "{options}",
				    "{files}"),
		   .settings = SETTINGS(BUILD_LIMITS, {"env", "GO111MODULE=off"},
					{"env", "CGO_ENABLED=0"}, {"env", "GOPROXY=off"},
					{"env", "GOTOOLCHAIN=local"}),
		   .says = DIAGNOSTICS_GO},
	 .run = {.image = &native,
		 .command = WORDS("{output}", "{args}"),
		 .settings = SETTINGS(RUN_LIMITS),
		 .says = DIAGNOSTICS_GO},
	 .output = NATIVE_OUTPUT,
	 .why = "the standard library alone: what is more has a go.mod, and wants a job with stages"},
	{.names = WORDS("shell", "sh", "bash"),
	 .title = "shell",
	 .extensions = WORDS(".sh", ".bash"),
	 .build = {.image = &shell,
		   .command = WORDS("bash", "{options}", "-n", "{main}"),
		   .settings = SETTINGS(CHECK_LIMITS),
		   .says = DIAGNOSTICS_SHELL},
	 .run = {.image = &shell,
		 .command = WORDS("bash", "{main}", "{args}"),
		 .settings = SETTINGS(RUN_LIMITS),
		 .says = DIAGNOSTICS_SHELL},
	 .why = "there is nothing to compile: the check is of its syntax"},
};
const size_t languages_len = sizeof(languages) / sizeof(languages[0]);

/* ---- which ---- */

static bool is_among(const char *word, const char *const *words)
{
	while (*words && strcmp(*words, word) != 0)
		words++;
	return *words != NULL;
}

const struct language *language_find(const char *name)
{
	for (size_t i = 0; i < languages_len; i++)
		if (is_among(name, languages[i].names))
			return &languages[i];
	return NULL;
}

static const char *base_of(const char *file)
{
	const char *slash = strrchr(file, '/');
	return slash ? slash + 1 : file;
}

/* Where the extension begins; a name that begins with a dot has none. */
static const char *extension_of(const char *file)
{
	const char *base = base_of(file), *dot = strrchr(base, '.');
	return dot && dot != base ? dot : base + strlen(base);
}

const struct language *language_for_file(const char *file)
{
	for (size_t i = 0; i < languages_len; i++)
		if (is_among(extension_of(file), languages[i].extensions))
			return &languages[i];
	return NULL;
}

/* ---- whether it makes sense ---- */

/* The words, "a, b or c", cut where there is no more room. */
static void list(char *to, size_t size, const char *const *words)
{
	size_t at = 0;
	*to = '\0';
	for (; *words && at + strlen(*words) + 5 < size; words++) {
		const char *between = at == 0 ? "" : words[1] ? ", " : " or ";
		const size_t between_len = strlen(between), len = strlen(*words);
		memcpy(to + at, between, between_len);
		memcpy(to + at + between_len, *words, len + 1);
		at += between_len + len;
	}
}

static int check_version(const struct language *l, const char *version, struct err *e)
{
	char known[240];
	if (!version)
		return 0;
	if (!l->versions)
		return err_usage(e, "version: for %s there is the image's alone", l->title);
	if (is_among(version, l->versions))
		return 0;
	list(known, sizeof(known), l->versions);
	return err_usage(e, "version: %s is none of %s: %s", show(version).text, l->title, known);
}

/* A relative name without "." and "..", whose every character is one to be seen. */
static bool is_below(const char *file)
{
	if (!*file || *file == '/')
		return false;
	for (const char *part = file; part; part = strchr(part, '/') ? strchr(part, '/') + 1 : NULL) {
		const size_t len = strcspn(part, "/");
		if (len == 0 || (len <= 2 && strspn(part, ".") >= len))
			return false;
	}
	for (const char *c = file; *c; c++)
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			return false;
	return true;
}

static bool is_identifier(const char *from, const char *to)
{
	static const char begin[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_$";
	if (from == to || !strchr(begin, *from))
		return false;
	for (const char *c = from + 1; c < to; c++)
		if (!strchr(begin, *c) && !(*c >= '0' && *c <= '9'))
			return false;
	return true;
}

int language_check(const struct language *l, const struct template_ask *ask, struct err *e)
{
	char known[80];
	if (check_version(l, ask->version, e) < 0)
		return -1;
	if (!ask->files || !ask->files[0])
		return err_usage(e, "files: a %s program has one at least", l->title);
	for (const char *const *f = ask->files; *f; f++)
		if (!is_below(*f))
			return err_usage(e,
					 "files: %s is no name of a file below the source's folder",
					 show(*f).text);
	const char *main = ask->files[0];
	list(known, sizeof(known), l->extensions);
	if (!is_among(extension_of(main), l->extensions))
		return err_usage(e, "files: %s is no %s file: its name ends with %s",
				 show(main).text, l->title, known);
	if (is_among("{class}", l->run.command) && !is_identifier(base_of(main), extension_of(main)))
		return err_usage(e, "files: %s is not named after a class", show(main).text);
	return 0;
}

/* ---- the commands ---- */

struct line {
	struct arena *arena;
	const char **words;
	size_t len;
};

static size_t count(const char *const *words)
{
	size_t n = 0;
	while (words && words[n])
		n++;
	return n;
}

static void add(struct line *to, const char *word)
{
	to->words[to->len++] = word;
}

static void add_all(struct line *to, const char *const *words)
{
	for (; words && *words; words++)
		add(to, *words);
}

static const char *in_folder(struct line *to, const struct template_ask *ask, const char *name)
{
	return arena_printf(to->arena, "%s/%s", ask->folder, name);
}

static void add_version(struct line *to, const struct language *l, const char *version)
{
	if (!l->versions)
		return;
	const char *chosen = version ? version : l->versions[0];
	const size_t len = strlen(l->version_flag);
	if (l->version_flag[len - 1] != ' ') {
		add(to, arena_printf(to->arena, "%s%s", l->version_flag, chosen));
		return;
	}
	add(to, arena_strndup(to->arena, l->version_flag, len - 1));
	add(to, chosen);
}

static void expand(struct line *to, const struct language *l, const struct template_ask *ask,
		   const char *word)
{
	const char *base = base_of(ask->files[0]);
	if (strcmp(word, "{version}") == 0)
		add_version(to, l, ask->version);
	else if (strcmp(word, "{options}") == 0)
		add_all(to, ask->options);
	else if (strcmp(word, "{args}") == 0)
		add_all(to, ask->args);
	else if (strcmp(word, "{main}") == 0)
		add(to, in_folder(to, ask, ask->files[0]));
	else if (strcmp(word, "{output}") == 0)
		add(to, in_folder(to, ask, l->output));
	else if (strcmp(word, "{class}") == 0)
		add(to, arena_strndup(to->arena, base, (size_t)(extension_of(base) - base)));
	else if (strcmp(word, "{files}") == 0)
		for (const char *const *f = ask->files; *f; f++)
			add(to, in_folder(to, ask, *f));
	else
		add(to, word);
}

const char *const *template_command(const struct language *l, const struct template_stage *stage,
				    const struct template_ask *ask, struct arena *a)
{
	/* Each word of the row becomes one, two, or one of these lists. */
	const size_t most = 2 * count(stage->command) + count(ask->options) + count(ask->files) +
			    count(ask->args) + 1;
	struct line line = {.arena = a, .words = arena_alloc(a, most * sizeof(*line.words))};
	for (const char *const *w = stage->command; *w; w++)
		expand(&line, l, ask, *w);
	return line.words;
}

const struct template_image *template_image_find(const char *name)
{
	for (size_t i = 0; i < languages_len; i++) {
		if (strcmp(languages[i].build.image->name, name) == 0)
			return languages[i].build.image;
		if (strcmp(languages[i].run.image->name, name) == 0)
			return languages[i].run.image;
	}
	return NULL;
}

const char *template_image_recipe(const struct template_image *image, struct arena *a)
{
	return arena_printf(a, "pinfold image build-debian%s%s%s%s %s",
			    image->variant ? " --variant " : "", image->variant ? image->variant : "",
			    image->packages ? " --packages " : "",
			    image->packages ? image->packages : "", image->name);
}

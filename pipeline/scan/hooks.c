/* What runs by itself: at install, at build, at test collection, when a tool opens the tree. */
#include "pipeline/scan/reader.h"

#include "spec/locate.h"

#include <ctype.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

enum { MANIFEST_DEPTH_MAX = 64 };

static bool is(const char *a, const char *b)
{
	return strcmp(a, b) == 0;
}

static bool ends_with(const char *text, const char *with)
{
	const size_t a = strlen(text), b = strlen(with);
	return a > b && is(text + a - b, with);
}

/* Where the text stands for the first time behind from; WHOLE where it does not. */
static struct place find(const struct unit *u, const char *text, size_t from)
{
	const char *at = from <= u->len ? memmem(u->text + from, u->len - from, text, strlen(text))
					: NULL;
	if (!at)
		return WHOLE;
	const size_t place = (size_t)(at - u->text);
	return (struct place){place, place + strlen(text)};
}

static bool found(struct place p)
{
	return p.from <= p.end;
}

/* ---- npm ---- */

static void tell_script(struct reader *r, const struct unit *u, const char *name, const char *command)
{
	char quoted[64], detail[WIRE_DETAIL];
	snprintf(quoted, sizeof(quoted), "\"%s\"", name);
	snprintf(detail, sizeof(detail), "%s: %s", name, command);
	const struct place scripts = find(u, "\"scripts\"", 0);
	reader_tell(r, RULE_INSTALL_NPM, u, find(u, quoted, found(scripts) ? scripts.end : 0),
		    detail);
}

static void read_package(struct reader *r, const struct unit *u)
{
	static const char *const names[] = {"preinstall", "install", "postinstall",
					    "preprepare", "prepare", "postprepare",
					    "prepublish"};
	/* npm passes over a byte order mark. */
	const size_t mark = u->len >= 3 && memcmp(u->text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
	const struct json_text j = {u->text + mark, u->len - mark};
	json_error_t je = {.text = "nested too deep"};
	json_t *root = locate_too_deep(&j, MANIFEST_DEPTH_MAX) < j.len
			       ? NULL
			       : json_loadb(j.text, j.len, JSON_ALLOW_NUL, &je);
	if (!root)
		reader_tell(r, RULE_INSTALL_BROKEN, u, WHOLE, je.text);
	json_t *scripts = json_object_get(root, "scripts");
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		json_t *command = json_object_get(scripts, names[i]);
		if (json_is_string(command) && json_string_length(command) > 0)
			tell_script(r, u, names[i], json_string_value(command));
	}
	if (json_is_true(json_object_get(root, "gypfile")))
		reader_tell(r, RULE_NATIVE_BUILD, u, find(u, "\"gypfile\"", 0), "gypfile");
	json_decref(root);
}

/* ---- the others ---- */

/* Whether a line of Python's str.splitlines() begins there, or the text does. */
static bool begins_line(const struct unit *u, size_t at)
{
	static const char *const ends[] = {"\n",	   "\r",	  "\v",
					   "\f",	   "\x1c",	  "\x1d",
					   "\x1e",	   "\xc2\x85",	  "\xe2\x80\xa8",
					   "\xe2\x80\xa9", "\xef\xbb\xbf"};
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		const size_t len = strlen(ends[i]);
		if (at >= len && memcmp(u->text + at - len, ends[i], len) == 0)
			return true;
	}
	return at == 0;
}

/* A line of a .pth that begins with "import" runs at each start of the interpreter. */
static void read_pth(struct reader *r, const struct unit *u)
{
	for (struct place at = find(u, "import", 0); found(at); at = find(u, "import", at.end)) {
		const char behind = u->text[at.end];
		if ((behind != ' ' && behind != '\t') || !begins_line(u, at.from))
			continue;
		at.end = at.from + strcspn(u->text + at.from, "\r\n");
		reader_tell(r, RULE_INSTALL_BUILD, u, at, "a line of a .pth file");
		return;
	}
}

static bool is_git_hook(const char *name)
{
	static const char *const names[] = {"applypatch-msg",	  "pre-applypatch",
					    "post-applypatch",	  "pre-commit",
					    "commit-msg",	  "prepare-commit-msg",
					    "post-commit",	  "pre-rebase",
					    "post-checkout",	  "post-merge",
					    "pre-push",		  "post-rewrite",
					    "fsmonitor-watchman", "post-index-change"};
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (is(name, names[i]))
			return true;
	return false;
}

static bool holds_hooks(const char *folder)
{
	return is(folder, "hooks") || is(folder, ".husky") || is(folder, ".githooks");
}

/* The end of text at that place, whatever the case of its letters: text has small ones. NULs are
 * passed over: what reads such a file takes UTF-16 as well. 0: it does not stand there. */
static size_t end_of(const struct unit *u, const char *text, size_t at)
{
	for (; *text; text++, at++) {
		while (at < u->len && u->text[at] == '\0')
			at++;
		if (at >= u->len || tolower((unsigned char)u->text[at]) != *text)
			return 0;
	}
	return at;
}

static struct place find_any_case(const struct unit *u, const char *text)
{
	for (size_t at = 0; at < u->len; at++) {
		const size_t end = u->text[at] ? end_of(u, text, at) : 0;
		if (end)
			return (struct place){at, end};
	}
	return WHOLE;
}

/* A file by its end or its name, a text in it in small letters (CMake takes both; of an element the
 * name alone, behind which there may be anything), and what that is. */
static const struct {
	const char *end, *text, *detail;
	uint32_t rule;
} texts[] = {
	{".csproj", "<exec", "an MSBuild task", RULE_INSTALL_BUILD},
	{".csproj", "<prebuildevent", "an MSBuild event", RULE_INSTALL_BUILD},
	{".csproj", "<postbuildevent", "an MSBuild event", RULE_INSTALL_BUILD},
	{".fsproj", "<exec", "an MSBuild task", RULE_INSTALL_BUILD},
	{".vbproj", "<exec", "an MSBuild task", RULE_INSTALL_BUILD},
	{".vcxproj", "buildevent>", "an MSBuild event", RULE_INSTALL_BUILD},
	{".vcxproj", "<exec", "an MSBuild task", RULE_INSTALL_BUILD},
	{".cmake", "execute_process", "runs when CMake configures", RULE_INSTALL_BUILD},
	{".targets", "<exec", "an MSBuild task", RULE_INSTALL_BUILD},
	{".props", "<exec", "an MSBuild task", RULE_INSTALL_BUILD},
	{"tasks.json", "folderopen", "a task that runs when the folder is opened", RULE_INSTALL_BUILD},
	{"pyproject.toml", "backend-path", "a build backend of its own", RULE_INSTALL_PYTHON},
	{"binding.gyp", "", "binding.gyp", RULE_NATIVE_BUILD},
	{"CMakeLists.txt", "execute_process", "runs when CMake configures", RULE_INSTALL_BUILD},
	{".gdbinit", "", "gdb reads it", RULE_INSTALL_BUILD},
	{".envrc", "", "direnv reads it", RULE_INSTALL_BUILD},
	{"build.rs", "", "cargo runs it before the build", RULE_INSTALL_BUILD},
	{"setup.py", "", "setup.py", RULE_INSTALL_PYTHON},
	{"conftest.py", "", "conftest.py", RULE_INSTALL_TEST},
	{"sitecustomize.py", "", "runs at each start of the interpreter", RULE_INSTALL_BUILD},
	{"usercustomize.py", "", "runs at each start of the interpreter", RULE_INSTALL_BUILD},
};

static bool is_named(size_t row, const char *name)
{
	const bool extension = texts[row].end[0] == '.' && texts[row].text[0];
	return extension ? ends_with(name, texts[row].end) : is(name, texts[row].end);
}

bool hooks_named(const char *name)
{
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		if (is_named(i, name))
			return true;
	return is(name, "package.json") || ends_with(name, ".pth") || is_git_hook(name);
}

void hooks_read(struct reader *r, const struct unit *u)
{
	if (is(u->name, "package.json"))
		read_package(r, u);
	if (ends_with(u->name, ".pth"))
		read_pth(r, u);
	if (holds_hooks(u->folder) && is_git_hook(u->name))
		reader_tell(r, RULE_INSTALL_BUILD, u, WHOLE, "a git hook");
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		if (!is_named(i, u->name))
			continue;
		const struct place at = texts[i].text[0] ? find_any_case(u, texts[i].text) : WHOLE;
		if (!texts[i].text[0] || found(at))
			reader_tell(r, texts[i].rule, u, at, texts[i].detail);
	}
}

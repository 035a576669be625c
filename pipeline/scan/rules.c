#include "pipeline/scan/rules.h"

#include "base/dir.h"
#include "base/fd.h"
#include "pipeline/scan/predicate.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Bytes of a language's text from start on are that file's, and its patterns that rule's. */
struct piece {
	size_t start;
	const char *file;
	uint32_t rule;
};

void rules_init(struct ruleset *r, struct arena *a)
{
	*r = (struct ruleset){.arena = a};
	r->at = arena_alloc(a, RULES_MAX * sizeof(*r->at));
	for (int i = 0; i < RULE_BUILTINS; i++)
		r->at[i] = *rules_builtin((enum builtin)i);
	r->len = RULE_BUILTINS;
}

/* ---- reading files ---- */

struct source {
	const char *name; /* for messages */
	char *text;
	size_t len;
};

static int read_all(int fd, struct source *s, struct err *e)
{
	while (s->len <= RULE_BYTES_MAX) {
		const ssize_t n = read(fd, s->text + s->len, RULE_BYTES_MAX + 1 - s->len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(e, "read %s", s->name);
		if (n == 0)
			return 0;
		s->len += (size_t)n;
	}
	return err_usage(e, "%s is larger than %d bytes", s->name, RULE_BYTES_MAX);
}

static int read_source(int dir, const char *name, struct arena *a, struct source *s, struct err *e)
{
	struct stat st;
	autoclose int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0 || fstat(fd, &st) < 0)
		return err_sys(e, "open %s", s->name);
	if (!S_ISREG(st.st_mode))
		return err_usage(e, "%s is no file", s->name);
	s->text = arena_alloc(a, RULE_BYTES_MAX + 2);
	s->len = 0;
	return read_all(fd, s, e);
}

/* Behind what is there, with a newline in between. */
static void append(struct arena *a, char **text, size_t *len, const struct source *s)
{
	char *whole = arena_alloc(a, *len + s->len + 2);
	if (*len > 0)
		memcpy(whole, *text, *len);
	memcpy(whole + *len, s->text, s->len);
	whole[*len + s->len] = '\n';
	*text = whole;
	*len += s->len + 1;
}

static int add_rule(struct ruleset *r, const struct source *s, uint32_t *number, struct err *e)
{
	struct rule rule;
	size_t line;
	if (rule_header_read((struct span){s->text, s->len}, &line, r->arena, &rule, e) < 0)
		return err_wrap(e, "%s:%zu", s->name, line);
	for (size_t i = 0; i < r->len; i++)
		if (strcmp(r->at[i].id, rule.id) == 0)
			return err_usage(e, "%s: there is a rule %s already", s->name, rule.id);
	if (r->len == RULES_MAX)
		return err_usage(e, "%s: more than %d rules", s->name, RULES_MAX);
	r->at[r->len] = rule;
	*number = (uint32_t)r->len++;
	return 0;
}

static bool has_folder(enum language l, const char *folder)
{
	for (const char *const *f = languages[l].folders; *f; f++)
		if (strcmp(*f, folder) == 0)
			return true;
	return false;
}

static void add_piece(struct ruleset *r, struct language_rules *lr, const struct source *s,
		      uint32_t rule)
{
	struct piece *pieces = arena_alloc(r->arena, (lr->pieces_len + 1) * sizeof(*pieces));
	if (lr->pieces_len > 0)
		memcpy(pieces, lr->pieces, lr->pieces_len * sizeof(*pieces));
	pieces[lr->pieces_len++] = (struct piece){.start = lr->len, .file = s->name, .rule = rule};
	lr->pieces = pieces;
	append(r->arena, &lr->text, &lr->len, s);
}

static int take_file(struct ruleset *r, const char *folder, const char *file, struct source *s,
		     struct err *e)
{
	uint32_t number = 0;
	const bool names = strcmp(file, "names.scm") == 0;
	if (!names && add_rule(r, s, &number, e) < 0)
		return -1;
	for (int l = 0; l < LANGUAGES; l++) {
		struct language_rules *lr = &r->languages[l];
		if (!has_folder((enum language)l, folder))
			continue;
		if (names)
			append(r->arena, &lr->names_text, &lr->names_len, s);
		else
			add_piece(r, lr, s, number);
	}
	return 0;
}

static int is_rule(const struct dirent *d)
{
	const size_t len = strlen(d->d_name);
	return d->d_name[0] != '.' && len > 4 && strcmp(d->d_name + len - 4, ".scm") == 0;
}

/* In the order of the alphabet, so that rules have the same numbers everywhere. */
static int load_folder(struct ruleset *r, int dir, const char *root, const char *folder,
		       struct err *e)
{
	struct dirent **list;
	autoclose int fd = openat(dir, folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? 0 : err_sys(e, "open %s/%s", root, folder);
	const int len = scandirat(fd, ".", &list, is_rule, alphasort);
	if (len < 0)
		return err_sys(e, "read %s/%s", root, folder);
	int failed = len > RULE_FILES_MAX
			     ? err_usage(e, "%s/%s: more than %d files", root, folder, RULE_FILES_MAX)
			     : 0;
	for (int i = 0; i < len; i++) {
		struct source s = {
			.name = arena_printf(r->arena, "%s/%s/%s", root, folder, list[i]->d_name)};
		if (!failed && read_source(fd, list[i]->d_name, r->arena, &s, e) == 0)
			failed = take_file(r, folder, list[i]->d_name, &s, e);
		else
			failed = -1;
		free(list[i]);
	}
	free(list);
	return failed;
}

static bool is_folder(const char *name)
{
	for (int l = 0; l < LANGUAGES; l++)
		if (has_folder((enum language)l, name))
			return true;
	return false;
}

/* A folder that is no language's would never be looked into: a slip of the pen. */
static int check_folders(int dir, const char *root, struct err *e)
{
	autodir *list = dir_open(openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	for (const struct dirent *one; list && (one = dir_next(list));) {
		struct stat st;
		if (one->d_name[0] == '.' || is_folder(one->d_name))
			continue;
		if (fstatat(dir, one->d_name, &st, 0) == 0 && S_ISDIR(st.st_mode))
			return err_usage(e,
					 "%s/%s: there is no such language: python, c, cpp, csharp, "
					 "javascript, typescript, java, shell",
					 root, one->d_name);
		else if (is_rule(one))
			return err_usage(e, "%s/%s lies in no language's folder", root, one->d_name);
	}
	return errno ? err_sys(e, "read %s", root) : 0;
}

int rules_load(struct ruleset *r, const char *folder, struct err *e)
{
	static const char *const folders[] = {"c",	    "cpp",    "csharp", "java",
					      "javascript", "python", "shell",	"typescript"};
	autoclose int dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return err_sys(e, "open the rules of %s", folder);
	if (check_folders(dir, folder, e) < 0)
		return -1;
	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++)
		if (load_folder(r, dir, folder, folders[i], e) < 0)
			return -1;
	return 0;
}

/* ---- compiling ---- */

static const struct piece *piece_at(const struct language_rules *lr, size_t offset)
{
	size_t i = lr->pieces_len - 1;
	while (i > 0 && lr->pieces[i].start > offset)
		i--;
	return &lr->pieces[i];
}

static size_t line_at(const char *text, size_t from, size_t to)
{
	size_t line = 1;
	for (size_t i = from; i < to; i++)
		line += text[i] == '\n';
	return line;
}

static const char *error_text(TSQueryError error)
{
	switch (error) {
	case TSQueryErrorNodeType:
		return "the grammar has no such node";
	case TSQueryErrorField:
		return "the grammar has no such field";
	case TSQueryErrorCapture:
		return "no such capture";
	case TSQueryErrorStructure:
		return "it can never match";
	default:
		return "it is no query";
	}
}

/* A pattern without a capture, or a file without a pattern, could never find anything. */
static bool captures(const TSQuery *q, uint32_t pattern)
{
	for (uint32_t c = 0; c < ts_query_capture_count(q); c++)
		if (ts_query_capture_quantifier_for_id(q, pattern, c) != TSQuantifierZero)
			return true;
	return false;
}

static int check_pieces(const struct language_rules *lr, struct err *e)
{
	uint32_t pattern = 0;
	const uint32_t len = ts_query_pattern_count(lr->query);
	for (size_t i = 0; i < lr->pieces_len; i++) {
		const struct piece *p = &lr->pieces[i];
		const size_t end = i + 1 < lr->pieces_len ? lr->pieces[i + 1].start : lr->len;
		const uint32_t first = pattern;
		while (pattern < len && ts_query_start_byte_for_pattern(lr->query, pattern) < end)
			pattern++;
		if (pattern == first)
			return err_usage(e, "%s:%zu: there is no query behind the header", p->file,
					 line_at(lr->text, p->start, end - 1));
	}
	return 0;
}

static int compile_rules(struct ruleset *r, enum language l, struct err *e)
{
	struct language_rules *lr = &r->languages[l];
	uint32_t at;
	TSQueryError error;
	lr->query = ts_query_new(languages[l].grammar(), lr->text, (uint32_t)lr->len, &at, &error);
	if (!lr->query) {
		const struct piece *p = piece_at(lr, at);
		return err_usage(e, "%s:%zu: %s (for %s)", p->file, line_at(lr->text, p->start, at),
				 error_text(error), languages[l].name);
	}
	const uint32_t len = ts_query_pattern_count(lr->query);
	lr->patterns = arena_alloc(r->arena, (len + 1) * sizeof(*lr->patterns));
	for (uint32_t i = 0; i < len; i++) {
		const size_t start = ts_query_start_byte_for_pattern(lr->query, i);
		const struct piece *p = piece_at(lr, start);
		lr->patterns[i].rule = p->rule;
		if (predicates_compile(lr->query, i, &lr->patterns[i], r->arena, e) < 0)
			return err_wrap(e, "%s:%zu", p->file, line_at(lr->text, p->start, start));
		if (!captures(lr->query, i))
			return err_usage(e, "%s:%zu: a query without a capture finds nothing",
					 p->file, line_at(lr->text, p->start, start));
	}
	if (check_pieces(lr, e) < 0)
		return -1;
	lr->found = predicates_capture(lr->query, "found");
	return 0;
}

static int compile_names(struct ruleset *r, enum language l, struct err *e)
{
	struct language_rules *lr = &r->languages[l];
	uint32_t at;
	TSQueryError error;
	lr->names = ts_query_new(languages[l].grammar(), lr->names_text, (uint32_t)lr->names_len,
				 &at, &error);
	return lr->names ? 0
			 : err_usage(e, "names.scm of %s, line %zu: %s", languages[l].name,
				     line_at(lr->names_text, 0, at), error_text(error));
}

int rules_compile(struct ruleset *r, enum language l, struct err *e)
{
	struct language_rules *lr = &r->languages[l];
	if (lr->compiled)
		return 0;
	if (lr->len > 0 && compile_rules(r, l, e) < 0)
		return -1;
	if (lr->names_len > 0 && compile_names(r, l, e) < 0)
		return -1;
	lr->compiled = true;
	return 0;
}

void rules_close(struct ruleset *r)
{
	for (int l = 0; l < LANGUAGES; l++) {
		struct language_rules *lr = &r->languages[l];
		const uint32_t len = lr->query && lr->patterns ? ts_query_pattern_count(lr->query)
							       : 0;
		for (uint32_t i = 0; i < len; i++)
			predicates_free(&lr->patterns[i]);
		ts_query_delete(lr->query);
		ts_query_delete(lr->names);
		*lr = (struct language_rules){.text = NULL};
	}
}

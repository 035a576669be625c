#include "pipeline/scan/reader.h"

#include "base/fd.h"
#include "pipeline/scan/literal.h"
#include "pipeline/scan/recipe.h"
#include "spec/writer.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- telling ---- */

/* Line and column from 1; columns count characters. */
static void position(const struct unit *u, size_t at, uint32_t *line, uint32_t *column)
{
	const char *start = u->text, *end = u->text + at;
	uint32_t lines = 1, columns = 1;
	for (const char *n = start; n < end && (n = memchr(n, '\n', (size_t)(end - n))); n++) {
		lines++;
		start = n + 1;
	}
	for (const char *c = start; c < end; c++)
		columns += ((unsigned char)*c & 0xc0) != 0x80;
	*line = lines;
	*column = columns;
}

/* The line that the place begins in, or the part of a long one around it, and where the place is in it. */
static void excerpt(struct record *rec, const struct unit *u, struct place at)
{
	enum { BEFORE = 80 };
	const char *text = u->shown ? u->shown : u->text;
	const char *newline = memrchr(text, '\n', at.from);
	size_t from = newline ? (size_t)(newline + 1 - text) : 0;
	const char *stop = memchr(text + at.from, '\n', u->len - at.from);
	size_t end = stop ? (size_t)(stop - text) : u->len;
	if (end > from && text[end - 1] == '\r')
		end--;
	if (at.from - from > BEFORE && end - from >= sizeof(rec->source))
		from = at.from - BEFORE;
	while (from < at.from && ((unsigned char)text[from] & 0xc0) == 0x80)
		from++;
	wire_text(rec->source, sizeof(rec->source), text + from, end - from);
	const size_t len = strlen(rec->source), place = at.from - from;
	const size_t until = at.end < end ? at.end : end;
	rec->caret = (uint32_t)(place < len ? place : 0);
	rec->caret_len = (uint32_t)(until > at.from && place < len ? until - at.from : 1);
	if (rec->caret + rec->caret_len > len)
		rec->caret_len = (uint32_t)(len > rec->caret ? len - rec->caret : 0);
}

static void send_record(struct reader *r, const struct record *rec)
{
	if (!r->deaf && fd_write_all(r->out, rec, sizeof(*rec)) < 0)
		r->deaf = true;
}

void reader_tell_host(struct reader *r, uint32_t rule, const struct unit *u, struct place at,
		      struct said said)
{
	struct record rec = {.kind = RECORD_FINDING, .rule = rule};
	/* The last one says that there are more. */
	if (r->records >= WIRE_RECORDS_MAX - 2 && rule != RULE_TOO_MANY)
		return;
	if (++r->records == WIRE_RECORDS_MAX - 2)
		reader_tell(r, RULE_TOO_MANY, u, WHOLE, "findings in one file");
	wire_text(rec.inner, sizeof(rec.inner), u->inner, strlen(u->inner));
	wire_text(rec.detail, sizeof(rec.detail), said.detail, strlen(said.detail));
	wire_text(rec.host, sizeof(rec.host), said.host, strlen(said.host));
	if (at.from <= at.end && at.end <= u->len) {
		position(u, at.from, &rec.line, &rec.column);
		position(u, at.end, &rec.end_line, &rec.end_column);
		excerpt(&rec, u, at);
	}
	send_record(r, &rec);
}

void reader_tell(struct reader *r, uint32_t rule, const struct unit *u, struct place at,
		 const char *detail)
{
	reader_tell_host(r, rule, u, at, (struct said){detail, ""});
}

/* ---- source code ---- */

/* What the place is about, where the rule wants it: a URL in it, a constant or a literal that has the form of a host. */
static void find_host(const struct subject *s, TSNode node, char *to, size_t size)
{
	enum { LOOK = 4096 };
	const uint32_t from = ts_node_start_byte(node);
	uint32_t len = ts_node_end_byte(node) - from;
	char text[SPELLED_MAX];
	if (literal_host((struct span){s->text + from, len < LOOK ? len : LOOK}, false, to, size))
		return;
	static const char *const fields[] = {"arguments", "argument_list", "argument"};
	TSNode words = {0};
	for (size_t i = 0; i < 3 && ts_node_is_null(words); i++)
		words = ts_node_child_by_field_name(node, fields[i], (uint32_t)strlen(fields[i]));
	len = ts_node_is_null(words) ? 0 : ts_node_named_child_count(words);
	for (uint32_t i = 0; i < len && i < 8; i++) {
		TSNode word = ts_node_named_child(words, i);
		/* ("host", 443), argument(x), keyword=x, {host: x} */
		for (int deep = 0; deep < 3; deep++) {
			if (names_literal(s->names, word, text, sizeof(text)) &&
			    literal_host((struct span){text, strlen(text)}, true, to, size))
				return;
			const TSNode value = ts_node_child_by_field_name(word, "value", 5);
			if (ts_node_named_child_count(word) == 0)
				break;
			word = ts_node_is_null(value) ? ts_node_named_child(word, 0) : value;
		}
	}
}

static TSNode place_of(const struct language_rules *lr, const TSQueryMatch *m)
{
	for (uint16_t i = 0; i < m->capture_count; i++)
		if ((int)m->captures[i].index == lr->found)
			return m->captures[i].node;
	return m->captures[0].node;
}

static void take_match(struct reader *r, const struct unit *u, const struct language_rules *lr,
		       const struct subject *s, const TSQueryMatch *m)
{
	char detail[SPELLED_MAX], host[WIRE_HOST] = "";
	if (m->capture_count == 0 || !rules_hold(lr, m, s, detail))
		return;
	const TSNode node = place_of(lr, m);
	const uint32_t rule = lr->patterns[m->pattern_index].rule;
	if (r->rules->at[rule].hosts)
		find_host(s, node, host, sizeof(host));
	const struct place at = {ts_node_start_byte(node), ts_node_end_byte(node)};
	reader_tell_host(r, rule, u, at, (struct said){detail, host});
}

/* Bytes of the outermost nodes that are no part of the language. Those deeper down are in a node that is. */
static size_t broken_bytes(TSNode root)
{
	size_t bytes = 0;
	if (!ts_node_has_error(root))
		return 0;
	if (strcmp(ts_node_type(root), "ERROR") == 0)
		return ts_node_end_byte(root) - ts_node_start_byte(root);
	TSTreeCursor c = ts_tree_cursor_new(root);
	for (bool more = ts_tree_cursor_goto_first_child(&c); more;
	     more = ts_tree_cursor_goto_next_sibling(&c)) {
		const TSNode node = ts_tree_cursor_current_node(&c);
		if (strcmp(ts_node_type(node), "ERROR") == 0)
			bytes += ts_node_end_byte(node) - ts_node_start_byte(node);
	}
	ts_tree_cursor_delete(&c);
	return bytes;
}

static void query(struct reader *r, const struct unit *u, enum language l, TSNode root)
{
	autoarena a = ARENA_INIT;
	TSQueryMatch m;
	struct names names;
	const struct language_rules *lr = &r->rules->languages[l];
	names_init(&names, l, u->text, &a);
	names_read(&names, lr->names, root);
	const struct subject s = {.names = &names, .text = u->text, .len = u->len};
	if (!lr->query)
		return;
	ts_query_cursor_exec(r->cursor, lr->query, root);
	while (ts_query_cursor_next_match(r->cursor, &m))
		take_match(r, u, lr, &s, &m);
	if (names.full || *names.crowded)
		reader_tell(r, RULE_TOO_MANY, u, WHOLE, "names that mean others");
}

static bool is_utf16(const struct unit *u)
{
	return u->len >= 2 &&
	       (memcmp(u->text, "\xff\xfe", 2) == 0 || memcmp(u->text, "\xfe\xff", 2) == 0);
}

/* The grammar of shells takes a newline with a backslash behind it for a piece of a word, so that a
 * command that is called past its alias ("\\curl") would be none. Parsed as a blank it is one;
 * every byte stays where it was. */
static TSTree *parse(struct reader *r, const struct unit *u, enum language l)
{
	char *blanked = NULL;
	if (l == LANGUAGE_SHELL && u->len > 0 && memmem(u->text, u->len, "\n\\", 2)) {
		blanked = malloc(u->len);
		if (!blanked)
			return NULL;
		memcpy(blanked, u->text, u->len);
		for (size_t i = 1; i + 1 < u->len; i++)
			if (blanked[i] == '\\' && blanked[i - 1] == '\n' &&
			    isalpha((unsigned char)blanked[i + 1]))
				blanked[i] = ' ';
	}
	TSTree *tree = ts_parser_parse_string(r->parser, NULL, blanked ? blanked : u->text,
					      (uint32_t)u->len);
	free(blanked);
	return tree;
}

void source_read(struct reader *r, const struct unit *u, enum language l)
{
	struct err e = ERR_INIT;
	if (is_utf16(u)) {
		reader_tell(r, RULE_ENCODING, u, WHOLE, "UTF-16");
		return;
	}
	if (u->len > SOURCE_BYTES_MAX) {
		reader_tell(r, RULE_TOO_LARGE, u, WHOLE, languages[l].name);
		return;
	}
	/* The rules are not a stranger's: those of the languages in sight were compiled before. */
	if (rules_compile(r->rules, l, &e) < 0 ||
	    !ts_parser_set_language(r->parser, languages[l].grammar())) {
		reader_tell(r, RULE_CRASHED, u, WHOLE, e.msg);
		return;
	}
	TSTree *tree = parse(r, u, l);
	if (!tree) {
		reader_tell(r, RULE_CRASHED, u, WHOLE, "no tree");
		ts_parser_reset(r->parser);
		return;
	}
	const TSNode root = ts_tree_root_node(tree);
	const struct record read = {.kind = RECORD_LANGUAGE,
				    .rule = (uint32_t)l,
				    .bytes = (uint32_t)u->len};
	/* What stands in a file of another kind says nothing of the tree's language. */
	if (!u->shown)
		send_record(r, &read);
	query(r, u, l, root);
	disguise_read(r, u, l, root);
	if (!u->shown && broken_bytes(root) > u->len / 2 && u->len > 64)
		reader_tell(r, RULE_SYNTAX, u, WHOLE, languages[l].name);
	ts_tree_delete(tree);
}

/* Lines for a shell among others. */
void recipe_read(struct reader *r, const struct unit *u)
{
	autoarena a = ARENA_INIT;
	char *shell = arena_strndup(&a, u->text, u->len);
	struct unit lines = *u;
	recipe_reduce(recipe_of(u->name), shell, u->len);
	lines.text = shell;
	lines.shown = u->text;
	source_read(r, &lines, LANGUAGE_SHELL);
}

/* ---- one file ---- */

static void tell_once(struct reader *r, uint32_t rule, const struct unit *u, bool *said)
{
	/* An archive of a thousand classes is one thing to say. */
	if (u->depth == 0 || !*said)
		reader_tell(r, rule, u, WHOLE, "");
	*said = u->depth > 0;
}

/* Whoever runs it goes by its name: a shell passes over a first line that it does not know, and to
 * JavaScript and C some of them are words. */
static void check_name(struct reader *r, const struct unit *u)
{
	if (language_of(u->name, "", 0) != LANGUAGE_NONE)
		reader_tell(r, RULE_DISGUISED, u, WHOLE,
			    "called source code, it begins as machine code does");
}

void unit_read(struct reader *r, const struct unit *u)
{
	const struct kind k = kind_of(u->name, u->text, u->len < KIND_HEAD ? u->len : KIND_HEAD);
	hooks_read(r, u);
	if ((k.name == KIND_SOURCE || k.name == KIND_TEXT) && archive_behind(u))
		archive_look(r, u);
	switch (k.name) {
	case KIND_SOURCE:
		source_read(r, u, k.language);
		secrets_read(r, u);
		break;
	case KIND_TEXT:
		secrets_read(r, u);
		break;
	case KIND_NOTEBOOK:
		notebook_read(r, u);
		secrets_read(r, u);
		break;
	case KIND_RECIPE:
		recipe_read(r, u);
		secrets_read(r, u);
		break;
	case KIND_ARCHIVE:
		archive_look(r, u);
		break;
	case KIND_ELF:
		check_name(r, u);
		elf_read(r, u);
		break;
	case KIND_BINARY:
		check_name(r, u);
		tell_once(r, RULE_BINARY, u, &r->said_binary);
		break;
	case KIND_BYTECODE:
		check_name(r, u);
		tell_once(r, RULE_BYTECODE, u, &r->said_bytecode);
		break;
	case KIND_OTHER:
		break;
	}
}

/* ---- the loop ---- */

/* All of it: 1; nothing more: 0; -1: cut off. */
static int read_exactly(int fd, void *to, size_t size)
{
	size_t used = 0;
	while (used < size) {
		const ssize_t n = read(fd, (char *)to + used, size - used);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n == 0 && used == 0 ? 0 : -1;
		used += (size_t)n;
	}
	return 1;
}

static int obey(struct reader *r, struct order *o, struct err *e)
{
	char *text = o->size <= ARCHIVE_BYTES_MAX ? malloc((size_t)o->size + 1) : NULL;
	if (!text)
		return err_host(e, "no memory for %u bytes", o->size);
	if (o->size > 0 && read_exactly(r->in, text, o->size) != 1) {
		free(text);
		return err_host(e, "the scanner is gone");
	}
	text[o->size] = '\0';
	o->name[sizeof(o->name) - 1] = o->folder[sizeof(o->folder) - 1] = '\0';
	r->records = 0;
	r->members = r->unpacked = 0;
	r->said_binary = r->said_bytecode = false;
	const struct unit u = {.name = o->name,
			       .folder = o->folder,
			       .inner = "",
			       .text = text,
			       .len = o->size};
	if (o->kind == ORDER_SARIF)
		sarif_log_read(r, &u);
	else
		unit_read(r, &u);
	free(text);
	const struct record done = {.kind = RECORD_DONE};
	send_record(r, &done);
	return 0;
}

int reader_run(int root, void *arg, struct err *e)
{
	struct reader *r = arg;
	struct order o;
	int got;
	(void)root;
	r->parser = ts_parser_new();
	r->cursor = ts_query_cursor_new();
	const struct record ready = {.kind = RECORD_READY};
	send_record(r, &ready);
	while ((got = read_exactly(r->in, &o, sizeof(o))) == 1)
		if (obey(r, &o, e) < 0)
			return -1;
	return got;
}

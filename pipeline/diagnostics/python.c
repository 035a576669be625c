/* CPython: tracebacks, syntax errors, warnings. A column is not read: what the caret points into lost its indentation. */
#include "pipeline/diagnostics/lines.h"

#include <string.h>

struct traceback {
	bool open;
	char file[256]; /* lines are gone when the exception's name comes */
	size_t file_len;
	uint32_t line;
	bool foreign; /* the frame is the library's */
};

static bool is_library(struct piece file)
{
	return piece_begins(file, PIECE("/usr/lib/python")) || piece_begins(file, PIECE("<")) ||
	       piece_begins(file, PIECE("/usr/local/lib/python"));
}

/* `  File "main.py", line 3, in f`: the last of the program's own, or the last of all. */
static bool read_frame(struct traceback *t, struct piece line)
{
	struct piece rest = piece_trim(line), file;
	uint32_t number;
	if (!take(&rest, PIECE("File \"")) || !take_until(&rest, PIECE("\", line "), &file) ||
	    !take_number(&rest, &number))
		return false;
	const bool foreign = is_library(file);
	if (t->open && foreign && !t->foreign)
		return true;
	t->open = true;
	t->foreign = foreign;
	t->line = number;
	file = piece_fit(file, sizeof(t->file));
	memcpy(t->file, file.at, file.len);
	t->file_len = file.len;
	return true;
}

/* "ValueError: what", "KeyboardInterrupt". */
static bool split_name(struct piece line, struct found *f)
{
	struct piece name;
	f->message = line;
	if (!take_until(&f->message, PIECE(": "), &name)) {
		name = piece_ends(line, PIECE(":")) ? piece_upto(line, line.len - 1) : line;
		f->message = name;
	}
	f->code = name;
	return piece_is_name(name);
}

static bool read_exception(struct reader *r, struct traceback *t, struct piece line)
{
	struct found f = {.severity = SEVERITY_ERROR};
	if (!t->open || !split_name(line, &f))
		return false;
	f.place = (struct place){{t->file, t->file_len}, t->line, 0};
	reader_add(r, &f);
	t->open = false;
	return true;
}

/* "main.py:3: SyntaxWarning: what" */
static bool read_warning(struct reader *r, struct piece line)
{
	struct found f = {.severity = SEVERITY_WARNING};
	if (!take_place(&line, &f.place) || !split_name(piece_trim(line), &f) ||
	    !piece_ends(f.code, PIECE("Warning")))
		return false;
	reader_add(r, &f);
	return true;
}

/* py_compile: "Sorry: IndentationError: unexpected indent (main.py, line 2)" */
static bool read_sorry(struct reader *r, struct piece line)
{
	struct found f = {.severity = SEVERITY_ERROR};
	if (!take(&line, PIECE("Sorry: ")) || !split_name(line, &f))
		return false;
	for (size_t at = f.message.len; at-- > 0;) {
		struct piece tail = piece_from(f.message, at);
		if (!take(&tail, PIECE(" (")))
			continue;
		if (take_until(&tail, PIECE(", line "), &f.place.file) &&
		    take_number(&tail, &f.place.line))
			f.message = piece_upto(f.message, at);
		break;
	}
	reader_add(r, &f);
	return true;
}

/* An exception group has a margin: blanks and a bar, or a plus where one of it begins. */
static void take_margin(struct piece *line)
{
	struct piece rest = *line;
	while (take(&rest, PIECE(" ")))
		;
	if (rest.len < line->len && (take(&rest, PIECE("| ")) || take(&rest, PIECE("+ "))))
		*line = rest;
}

/* "  +-+---------------- 1 ----------------": an exception follows, with a traceback of its own or without. */
static bool begins_one(struct piece line)
{
	line = piece_trim(line);
	return piece_begins(line, PIECE("+-")) && piece_ends(line, PIECE(" ----------------"));
}

void read_python(struct reader *r)
{
	struct traceback t = {0};
	struct piece line;
	bool group = false;
	while (reader_next(r, &line)) {
		group |= piece_begins(line, PIECE("  + Exception Group Traceback "));
		if (group && begins_one(line)) {
			t = (struct traceback){.open = true};
			continue;
		}
		if (group)
			take_margin(&line);
		if (piece_begins(line, PIECE("Exception Group Traceback ")))
			t.open = false;
		if (piece_begins(line, PIECE("Traceback (most recent call last):"))) {
			t.open = false;
			continue;
		}
		if (!line.len || read_frame(&t, line) || line.at[0] == ' ' || line.at[0] == '\t')
			continue;
		if (!read_exception(r, &t, line) && !read_sorry(r, line))
			read_warning(r, line);
	}
}

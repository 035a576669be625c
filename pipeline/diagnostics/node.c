/* Node: errors that nobody took, syntax errors, warnings; tsc in both of its forms. */
#include "pipeline/diagnostics/lines.h"

#include <string.h>

/* "main.ts(3,5): error TS...", "main.ts:3:5 - error TS...", "error TS...". */
static bool read_tsc(struct reader *r, struct piece line)
{
	struct found f = {0};
	struct piece rest = line, place;
	if (!take_bracketed(&rest, &f.place)) {
		rest = line;
		if (take_until(&rest, PIECE(" - "), &place) && !read_place(place, &f.place))
			return false;
	}
	if (!split_numbered(rest, PIECE("TS"), &f))
		return false;
	reader_add(r, &f);
	return true;
}

/* "(node:7) [DEP0005] DeprecationWarning: what" */
static bool read_warning(struct reader *r, struct piece line)
{
	struct found f = {.severity = SEVERITY_WARNING};
	struct piece pid, name;
	if (!take(&line, PIECE("(node:")) || !take_until(&line, PIECE(") "), &pid))
		return false;
	if (take(&line, PIECE("[")) && !take_until(&line, PIECE("] "), &f.code))
		return false;
	if (!take_until(&line, PIECE(": "), &name))
		return false;
	if (!f.code.len)
		f.code = name;
	f.message = line;
	reader_add(r, &f);
	return true;
}

/* "TypeError [ERR_INVALID_ARG_TYPE]: what": the code in brackets, else the name. */
static void split_name(struct piece line, struct found *f)
{
	struct piece name, code;
	f->message = line;
	take(&f->message, PIECE("Uncaught "));
	if (!take_until(&f->message, PIECE(": "), &name)) {
		f->message = line;
		f->code = piece_is_name(line) && piece_ends(line, PIECE("Error"))
				  ? line
				  : (struct piece){0};
		return;
	}
	if (take_until(&name, PIECE(" ["), &code) && piece_ends(name, PIECE("]"))) {
		f->code = piece_upto(name, name.len - 1);
		return;
	}
	f->code = name;
	if (!piece_is_name(name)) {
		f->code = (struct piece){0};
		f->message = line;
	}
}

static struct piece without_scheme(struct piece file)
{
	take(&file, PIECE("file://"));
	return file;
}

static bool is_internal(struct piece file)
{
	return piece_begins(file, PIECE("node:")) || piece_begins(file, PIECE("internal/"));
}

/* "    at f (/scratch/main.js:3:9)", "    at /scratch/main.js:3:9" */
static void read_frames(struct reader *r)
{
	struct piece line;
	while (reader_next(r, &line)) {
		struct piece rest = piece_trim(line), name;
		struct place at;
		if (!take(&rest, PIECE("at "))) {
			/* The rest of a message of several lines; the frames come behind it. */
			if (line.len && line.at[0] != '-' && line.at[0] != ' ' &&
			    !piece_begins(line, PIECE("Require stack")))
				reader_back(r);
			if (r->again)
				return;
			continue;
		}
		if (take_until(&rest, PIECE(" ("), &name) && piece_ends(rest, PIECE(")")))
			rest = piece_upto(rest, rest.len - 1);
		rest = without_scheme(rest);
		if (!is_internal(rest) && read_place(rest, &at))
			reader_place(r, &at);
	}
}

struct opened {
	bool open, pointed;
	char file[256];
	struct place place;
};

/* "/scratch/main.js:3" alone on a line opens a report: source, caret, a blank line, the error. */
static bool read_opening(struct opened *o, struct piece line)
{
	struct place at;
	struct piece file = without_scheme(line);
	if (o->open || piece_has(line, PIECE(" ")) || !read_place(file, &at) || at.column ||
	    at.file.len > sizeof(o->file) ||
	    (at.file.at[0] != '/' && at.file.at[0] != '.' && !is_internal(at.file) &&
	     at.file.at[0] != '['))
		return false;
	*o = (struct opened){.open = true};
	memcpy(o->file, at.file.at, at.file.len);
	o->place = (struct place){{o->file, at.file.len}, at.line, 0};
	return true;
}

static void read_error(struct reader *r, struct opened *o, struct piece line)
{
	struct found f = {.severity = SEVERITY_ERROR};
	split_name(line, &f);
	if (!is_internal(o->place.file))
		f.place = o->place;
	o->open = false;
	reader_add(r, &f);
	read_frames(r);
}

void read_node(struct reader *r)
{
	struct opened o = {0};
	struct piece line;
	while (reader_next(r, &line)) {
		if (!line.len || read_opening(&o, line))
			continue;
		if (o.open && !o.pointed) {
			o.place.column = pointed_at(line);
			o.pointed = o.place.column != 0;
		} else if (o.open) {
			read_error(r, &o, line);
		} else if (!read_tsc(r, line)) {
			read_warning(r, line);
		}
	}
}

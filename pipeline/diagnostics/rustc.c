/* rustc as it speaks to people, in its short form and in JSON, and what a panic says. */
#include "pipeline/diagnostics/lines.h"

/* "error[E0425]: what", "warning: what" */
static bool split_code(struct piece line, struct found *f)
{
	if (take(&line, PIECE("error")))
		f->severity = SEVERITY_ERROR;
	else if (take(&line, PIECE("warning")))
		f->severity = SEVERITY_WARNING;
	else
		return false;
	if (take(&line, PIECE("[")) && !take_until(&line, PIECE("]"), &f->code))
		return false;
	if (!take(&line, PIECE(": ")))
		return false;
	f->message = line;
	return true;
}

/* Sums of what was said already. */
static bool is_summary(struct piece message)
{
	return piece_begins(message, PIECE("aborting due to ")) ||
	       piece_begins(message, PIECE("could not compile ")) ||
	       piece_ends(message, PIECE(" warning emitted")) ||
	       piece_ends(message, PIECE(" warnings emitted"));
}

static bool read_head(struct reader *r, struct piece line)
{
	struct found f = {0};
	struct piece rest = line;
	if (take_place(&rest, &f.place)) /* the short form */
		rest = piece_trim(rest);
	else
		rest = line;
	if (!split_code(rest, &f))
		return false;
	if (is_summary(f.message))
		r->last = NULL;
	else
		reader_add(r, &f);
	return true;
}

/* " --> main.rs:2:5", "  = note: `#[warn(unused_variables)]` on by default" */
static bool read_detail(struct reader *r, struct piece line)
{
	struct piece rest = piece_trim(line), lint;
	struct place at;
	if (take(&rest, PIECE("--> "))) {
		if (read_place(rest, &at))
			reader_place(r, &at);
		return true;
	}
	if (!take(&rest, PIECE("= note: `#[")) || !take_until(&rest, PIECE("("), &lint))
		return false;
	if (take_until(&rest, PIECE(")]`"), &lint))
		reader_code(r, lint);
	return true;
}

/* "thread 'main' panicked at 'what', main.rs:2:5"; since 1.73 "... at main.rs:2:5:" and what on the next line. */
static bool read_panic(struct reader *r, struct piece line)
{
	struct found f = {.severity = SEVERITY_ERROR, .code = PIECE("panic")};
	struct piece thread;
	if (!take(&line, PIECE("thread '")) || !take_until(&line, PIECE("' panicked at "), &thread))
		return false;
	if (take(&line, PIECE("'"))) {
		f.message = line;
		for (size_t at = line.len; at-- > 0;) {
			struct piece tail = piece_from(line, at);
			if (!take(&tail, PIECE("', ")))
				continue;
			if (read_place(tail, &f.place))
				f.message = piece_upto(line, at);
			break;
		}
		reader_add(r, &f);
		return true;
	}
	if (!piece_ends(line, PIECE(":")) || !read_place(piece_upto(line, line.len - 1), &f.place))
		return false;
	f.message = PIECE("panicked");
	reader_add(r, &f);
	if (reader_next(r, &line))
		reader_append(r, PIECE(": "), line);
	return true;
}

void read_rustc(struct reader *r)
{
	struct piece line;
	while (reader_next(r, &line)) {
		if (piece_begins(line, PIECE("{")))
			read_rustc_json(r, line);
		else if (!read_detail(r, line) && !read_panic(r, line))
			read_head(r, line);
	}
}

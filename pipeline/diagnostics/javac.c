/* javac, and what a JVM says of an exception that nobody took. */
#include "pipeline/diagnostics/lines.h"

/* "warning: [deprecation] what": the code. */
static void split_code(struct found *f)
{
	struct piece rest = f->message, code;
	if (take(&rest, PIECE("[")) && take_until(&rest, PIECE("] "), &code) && code.len) {
		f->code = code;
		f->message = rest;
	}
}

static bool add(struct reader *r, struct found *f)
{
	split_code(f);
	reader_add(r, f);
	return true;
}

static bool read_placed(struct reader *r, struct piece line)
{
	struct found f = {0};
	return split_placed(line, &f) && add(r, &f);
}

static bool read_plain(struct reader *r, struct piece line)
{
	struct found f = {0};
	return split_severity(line, &f) && add(r, &f);
}

/* "	at Main.main(Main.java:3)": the first that is not of the JDK's own modules. */
static bool read_frame(struct reader *r, struct piece line)
{
	struct piece rest = piece_trim(line), where;
	struct place at;
	if (!take(&rest, PIECE("at ")))
		return false;
	if (piece_begins(rest, PIECE("java.")) || piece_begins(rest, PIECE("jdk.")))
		return true;
	if (take_until(&rest, PIECE("("), &where) && take_until(&rest, PIECE(")"), &where) &&
	    read_place(where, &at))
		reader_place(r, &at);
	return true;
}

/* `Exception in thread "main" java.lang.RuntimeException: what` */
static bool read_exception(struct reader *r, struct piece line)
{
	struct found f = {.severity = SEVERITY_ERROR};
	struct piece thread;
	if (!take(&line, PIECE("Exception in thread \"")) ||
	    !take_until(&line, PIECE("\" "), &thread))
		return false;
	f.message = line;
	if (!take_until(&f.message, PIECE(": "), &f.code))
		f.code = f.message = line;
	if (!piece_is_name(f.code)) {
		f.code = (struct piece){0};
		f.message = line;
	}
	reader_add(r, &f);
	return true;
}

/* What belongs to the row above: the caret, which symbol, where it was looked for. */
static bool read_detail(struct reader *r, struct piece line)
{
	const uint32_t column = pointed_at(line);
	struct piece text = piece_trim(line);
	if (column) {
		reader_column(r, column);
		return true;
	}
	if (!piece_begins(line, PIECE("  ")))
		return false;
	if (take(&text, PIECE("symbol:")))
		reader_append(r, PIECE("; symbol: "), text);
	else if (take(&text, PIECE("location:")))
		reader_append(r, PIECE("; in "), text);
	else
		return false;
	return true;
}

void read_javac(struct reader *r)
{
	struct piece line;
	while (reader_next(r, &line)) {
		if (!line.len || read_detail(r, line) || read_frame(r, line) ||
		    read_exception(r, line))
			continue;
		if (line.at[0] != ' ' && line.at[0] != '\t' && !read_placed(r, line))
			read_plain(r, line);
	}
}

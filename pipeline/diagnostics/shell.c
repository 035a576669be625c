/* bash, dash and busybox, of syntax and at run time. */
#include "pipeline/diagnostics/lines.h"

/* "main.sh: line 3: what" of bash and busybox, "main.sh: 3: what" of dash. */
static bool split_place(struct piece *line, struct found *f)
{
	struct piece rest = *line;
	if (!take_until(&rest, PIECE(": "), &f->place.file) || !f->place.file.len)
		return false;
	take(&rest, PIECE("line "));
	if (!take_number(&rest, &f->place.line) || !take(&rest, PIECE(": ")))
		return false;
	*line = rest;
	return true;
}

static void name_it(struct found *f)
{
	const struct piece m = f->message;
	f->severity = SEVERITY_ERROR;
	if (take(&f->message, PIECE("warning: ")))
		f->severity = SEVERITY_WARNING;
	else if (piece_begins(m, PIECE("syntax error")) || piece_begins(m, PIECE("Syntax error")) ||
		 piece_begins(m, PIECE("unexpected EOF")))
		f->code = PIECE("syntax-error");
	else if (piece_ends(m, PIECE(": command not found")) || piece_ends(m, PIECE(": not found")))
		f->code = PIECE("command-not-found");
}

/* bash quotes the line behind a syntax error: "main.sh: line 3: `fi'". */
static bool is_quote(struct piece message)
{
	return piece_begins(message, PIECE("`")) && piece_ends(message, PIECE("'"));
}

void read_shell(struct reader *r)
{
	struct piece line;
	while (reader_next(r, &line)) {
		struct found f = {0};
		if (!split_place(&line, &f)) {
			f.place = (struct place){0};
			if (!take(&line, PIECE("bash: ")) && !take(&line, PIECE("sh: ")))
				continue;
		}
		f.message = line;
		if (is_quote(f.message))
			continue;
		name_it(&f);
		reader_add(r, &f);
	}
}

/* Mono: its C# compiler, and what its run time says of an exception that nobody took. */
#include "pipeline/diagnostics/lines.h"

/* "Unhandled Exception:" stands before "System.Exception: what"; below it frames, one of which may have a file. */
static void read_unhandled(struct reader *r)
{
	struct found f = {.severity = SEVERITY_ERROR};
	struct piece line, place;
	if (!reader_next(r, &line))
		return;
	f.message = line;
	if (!take_until(&f.message, PIECE(": "), &f.code) || !piece_is_name(f.code)) {
		f.code = piece_is_name(line) ? line : (struct piece){0};
		f.message = line;
	}
	reader_add(r, &f);
	while (reader_next(r, &line)) {
		struct place at;
		place = line;
		if (!piece_begins(line, PIECE("  at "))) {
			reader_back(r);
			return;
		}
		if (take_until(&place, PIECE("] in "), &(struct piece){0}) &&
		    read_place(piece_trim(place), &at) && !piece_begins(at.file, PIECE("<")))
			reader_place(r, &at);
	}
}

void read_mcs(struct reader *r)
{
	struct piece line;
	while (reader_next(r, &line)) {
		struct found f = {0};
		struct piece rest = line;
		if (piece_is(line, PIECE("Unhandled Exception:"))) {
			read_unhandled(r);
			continue;
		}
		const bool placed = take_bracketed(&rest, &f.place);
		if (split_numbered(rest, PIECE("CS"), &f)) {
			reader_add(r, &f);
		} else if (placed && piece_begins(rest, PIECE("(Location of the symbol"))) {
			f.severity = SEVERITY_NOTE;
			f.message = rest;
			reader_add(r, &f);
		}
	}
}

/* go build and go vet, and what the run time says of a panic. Errors of Go have no severity and no code. */
#include "pipeline/diagnostics/lines.h"

/* "./main.go:4:2: undefined: x", "vet: ./main.go:5:3: what" */
static bool read_placed(struct reader *r, struct piece line)
{
	struct found f = {.severity = SEVERITY_ERROR};
	take(&line, PIECE("vet: "));
	if (!take_place(&line, &f.place) || !piece_begins(line, PIECE(" ")))
		return false;
	f.message = piece_trim(line);
	reader_add(r, &f);
	return true;
}

static bool read_plain(struct reader *r, struct piece line)
{
	struct found f = {.severity = SEVERITY_ERROR, .message = line};
	const bool linkers = piece_ends(line,
					PIECE("function main is undeclared in the main package"));
	if (!linkers && !take(&f.message, PIECE("go: ")) && !take(&f.message, PIECE("link: ")))
		return false;
	reader_add(r, &f);
	return true;
}

static bool is_library(struct piece file)
{
	return piece_begins(file, PIECE("/usr/lib/go")) ||
	       piece_begins(file, PIECE("/usr/local/go/")) || piece_begins(file, PIECE("runtime/"));
}

/* "	/scratch/main.go:5 +0x1d": the first that is not the library's. */
static void read_frames(struct reader *r)
{
	struct piece line;
	while (reader_next(r, &line)) {
		struct piece rest = piece_trim(line), before;
		struct place at;
		if (!piece_begins(line, PIECE("\t")))
			continue;
		if (take_until(&rest, PIECE(" +0x"), &before))
			rest = before;
		if (!is_library(rest) && read_place(rest, &at))
			reader_place(r, &at);
	}
}

static bool read_panic(struct reader *r, struct piece line)
{
	struct found f = {.severity = SEVERITY_ERROR, .code = PIECE("panic"), .message = line};
	if (!take(&f.message, PIECE("panic: "))) {
		if (!take(&f.message, PIECE("fatal error: ")))
			return false;
		f.code = PIECE("fatal");
	}
	reader_add(r, &f);
	read_frames(r);
	return true;
}

void read_go(struct reader *r)
{
	struct piece line;
	while (reader_next(r, &line)) {
		if (piece_begins(line, PIECE("\t")))
			reader_append(r, PIECE(" "), line);
		else if (!read_placed(r, line) && !read_panic(r, line))
			read_plain(r, line);
	}
}

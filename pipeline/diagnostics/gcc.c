/* gcc, g++ and clang, their assembler and linkers, and what a sanitizer says at run time. */
#include "pipeline/diagnostics/lines.h"

/* " [-Wunused-variable]" at the end is the code. */
static void split_code(struct found *f)
{
	struct piece m = f->message;
	if (!piece_ends(m, PIECE("]")))
		return;
	for (size_t at = m.len; at-- > 0;) {
		const struct piece tail = piece_from(m, at);
		if (!piece_begins(tail, PIECE(" [-W")))
			continue;
		f->code = piece_upto(piece_from(tail, 2), tail.len - 3);
		f->message = piece_upto(m, at);
		return;
	}
}

/* Programs that speak for themselves, where others name a file. */
static bool is_program(struct piece name)
{
	static const struct piece programs[] = {
		{"gcc", 3},	{"g++", 3},	 {"cc", 2},	      {"c++", 3}, {"cc1", 3},
		{"cc1plus", 7}, {"collect2", 8}, {"ld", 2},	      {"as", 2},  {"lto1", 4},
		{"clang", 5},	{"clang++", 7},	 {"lto-wrapper", 11},
	};
	for (size_t at = name.len; at-- > 0;)
		if (name.at[at] == '/') {
			name = piece_from(name, at + 1);
			break;
		}
	for (size_t i = 0; i < sizeof(programs) / sizeof(*programs); i++)
		if (piece_is(name, programs[i]))
			return true;
	return false;
}

static bool is_linkers(struct piece message)
{
	return piece_begins(message, PIECE("undefined reference to ")) ||
	       piece_begins(message, PIECE("multiple definition of ")) ||
	       piece_begins(message, PIECE("cannot find ")) ||
	       piece_begins(message, PIECE("relocation "));
}

/* "main.c:(.text+0x5): undefined reference to `f'", with "/usr/bin/ld: " in front, or with a line where there is one. */
static bool read_linker(struct reader *r, struct piece line)
{
	struct found f = {.severity = SEVERITY_ERROR, .code = PIECE("ld")};
	struct piece program, section, rest = line;
	if (take_until(&rest, PIECE(": "), &program) && is_program(program))
		line = rest;
	if (is_linkers(line)) {
		f.message = line;
		reader_add(r, &f);
		return true;
	}
	rest = line;
	if (take_place(&rest, &f.place)) {
		f.message = piece_trim(rest);
	} else if (take_until(&rest, PIECE(":("), &f.place.file) &&
		   take_until(&rest, PIECE("): "), &section)) {
		f.message = rest;
	} else {
		rest = line;
		if (!take_until(&rest, PIECE(": "), &f.place.file))
			return false;
		f.message = rest;
	}
	if (!is_linkers(f.message))
		return false;
	reader_add(r, &f);
	return true;
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

static bool read_named(struct reader *r, struct piece line)
{
	struct found f = {0};
	struct piece name;
	if (!take_until(&line, PIECE(": "), &name) || !split_severity(line, &f))
		return false;
	if (!is_program(name))
		f.place.file = name;
	return add(r, &f);
}

/* ---- what ends a program that was built ---- */

/* "program: main.c:3: f: Assertion `x > 0' failed.": assert(3) of glibc. */
static bool read_assertion(struct reader *r, struct piece line)
{
	struct found f = {.severity = SEVERITY_ERROR, .code = PIECE("assert")};
	struct piece before;
	if (!piece_ends(line, PIECE("' failed.")) || !take_until(&line, PIECE(": "), &before) ||
	    !take_place(&line, &f.place) || !piece_has(line, PIECE("Assertion `")))
		return false;
	f.message = piece_from(line, piece_find(line, PIECE("Assertion `")));
	reader_add(r, &f);
	return true;
}

/* "terminate called after throwing an instance of 'std::runtime_error'" of libstdc++, "*** stack
 * smashing detected ***: terminated". */
static bool read_abort(struct reader *r, struct piece line)
{
	struct found f = {.severity = SEVERITY_ERROR, .message = line};
	struct piece rest = line;
	if (take(&rest, PIECE("terminate called after throwing an instance of '")))
		f.code = piece_upto(rest, piece_find(rest, PIECE("'")));
	else if (piece_begins(line, PIECE("terminate called ")) ||
		 (piece_begins(line, PIECE("*** ")) && piece_ends(line, PIECE(" ***: terminated"))))
		f.code = PIECE("abort");
	else
		return false;
	reader_add(r, &f);
	return true;
}

void read_gcc(struct reader *r)
{
	struct piece line;
	bool thrown = false; /* the line before named an exception, and this one may have its words */
	while (reader_next(r, &line)) {
		if (thrown && take(&line, PIECE("  what():  ")))
			reader_append(r, PIECE(": "), line);
		thrown = false;
		if (!line.len || line.at[0] == ' ' || line.at[0] == '\t')
			continue;
		thrown = read_abort(r, line);
		if (!thrown && !read_assertion(r, line) && !read_placed(r, line) &&
		    !read_linker(r, line))
			read_named(r, line);
	}
}

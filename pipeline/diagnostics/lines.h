/* Pieces of hostile text, and the lines of a stream: for the readers of this folder only.
 *
 * A piece is a pointer and a length: nothing here looks for a NUL or beyond the end. "take" functions
 * move the piece's begin behind what they found, and leave it alone where they return false.
 */
#ifndef PINFOLD_PIPELINE_DIAGNOSTICS_LINES_H
#define PINFOLD_PIPELINE_DIAGNOSTICS_LINES_H

#include "pipeline/diagnostics/diagnostics.h"

struct piece {
	const char *at;
	size_t len;
};

#define PIECE(literal) ((struct piece){literal, sizeof(literal) - 1})

bool piece_is(struct piece p, struct piece word);
bool piece_begins(struct piece p, struct piece word);
bool piece_ends(struct piece p, struct piece word);
/* Where word begins in p; p.len: nowhere. */
size_t piece_find(struct piece p, struct piece word);
bool piece_has(struct piece p, struct piece word);
struct piece piece_from(struct piece p, size_t at);
struct piece piece_upto(struct piece p, size_t len);
/* At most so much of it, with no character of UTF-8 cut in two. */
struct piece piece_fit(struct piece p, size_t most);
/* Without blanks and tabs at both ends. */
struct piece piece_trim(struct piece p);
/* Letters, digits, "_", "." and "$", and no digit in front. */
bool piece_is_name(struct piece p);

bool take(struct piece *p, struct piece word);
/* Decimal digits, one at least; a number beyond DIAGNOSTICS_NUMBER_MAX is taken as 0. */
bool take_number(struct piece *p, uint32_t *number);
/* What stands before the first word, and the word. */
bool take_until(struct piece *p, struct piece word, struct piece *before);
/* FILE:LINE:COLUMN: or FILE:LINE: with what follows; FILE is not empty, and the first that fits. */
struct place {
	struct piece file;
	uint32_t line, column;
};
bool take_place(struct piece *p, struct place *to);
/* FILE:LINE or FILE:LINE:COLUMN, to the end of the piece. */
bool read_place(struct piece p, struct place *to);
/* FILE(LINE,COLUMN): with or without what other numbers there are. */
bool take_bracketed(struct piece *p, struct place *to);
/* "error: ", "fatal error: ", "warning: ", "note: " and what else compilers of C say, in any case. */
bool take_severity(struct piece *p, enum severity *to);
/* A line that only points at one above it: the column of its first "^", from 1; 0: it is none. */
uint32_t pointed_at(struct piece line);

struct reader {
	struct diagnostics *to;
	struct diagnostic *last; /* the row that was added last; NULL: none, or it found no room */
	struct piece rest;	 /* what was not read yet */
	size_t line_len;
	bool again;
	char line[DIAGNOSTICS_LINE_MAX]; /* cleaned: no controls but tabs */
};

/* The next line, without its end; valid until the next call. False: there is none. */
bool reader_next(struct reader *r, struct piece *line);
/* The line that was given last will be given once more. */
void reader_back(struct reader *r);

struct found {
	struct place place;
	enum severity severity;
	struct piece code, message;
};
/* Message and severity of "error: what", as take_severity() knows it; false: *f is as it was, as for the next two. */
bool split_severity(struct piece line, struct found *f);
/* "FILE:LINE:COLUMN: error: what". */
bool split_placed(struct piece line, struct found *f);
/* "error CS0103: what", prefix being CS. */
bool split_numbered(struct piece line, struct piece prefix, struct found *f);

void reader_add(struct reader *r, const struct found *f);
/* More about the row that was added last, if there is one: where, if it has no place yet; a code,
 * if it has none; words behind its message. */
void reader_place(struct reader *r, const struct place *place);
void reader_column(struct reader *r, uint32_t column);
void reader_code(struct reader *r, struct piece code);
void reader_append(struct reader *r, struct piece before, struct piece words);

/* One of each kind: all lines to the end. */
void read_gcc(struct reader *r);
void read_python(struct reader *r);
void read_mcs(struct reader *r);
void read_javac(struct reader *r);
void read_node(struct reader *r);
void read_rustc(struct reader *r);
void read_go(struct reader *r);
void read_shell(struct reader *r);

/* A line of rustc's JSON, or of cargo's with one in it. rustc.c's alone. */
void read_rustc_json(struct reader *r, struct piece line);

#endif

#include "pipeline/diagnostics/lines.h"

#include "base/text.h"

#include <string.h>

/* The length of an escape sequence (ECMA-48) at the begin of p, which begins with ESC; it may be cut off. */
static size_t escape_len(struct piece p)
{
	size_t at = 2;
	if (p.len < 2)
		return p.len;
	if (p.at[1] == '[') { /* CSI: to its final byte */
		while (at < p.len && !(p.at[at] >= 0x40 && p.at[at] <= 0x7e))
			at++;
		return at < p.len ? at + 1 : at;
	}
	if (p.at[1] == ']') { /* OSC: to BEL or ESC \ */
		while (at < p.len && p.at[at] != '\a' && p.at[at] != '\033')
			at++;
		return at;
	}
	return 2;
}

static void clean(struct reader *r, struct piece line)
{
	r->line_len = 0;
	while (line.len && r->line_len < sizeof(r->line)) {
		const unsigned char c = (unsigned char)line.at[0];
		const size_t len = c == '\033' ? escape_len(line) : 1;
		if ((c >= 0x20 && c != 0x7f) || c == '\t')
			r->line[r->line_len++] = (char)c;
		line = piece_from(line, len);
	}
}

bool reader_next(struct reader *r, struct piece *line)
{
	if (!r->again) {
		if (!r->rest.len)
			return false;
		const size_t len = piece_find(r->rest, PIECE("\n"));
		clean(r, piece_upto(r->rest, len));
		r->rest = piece_from(r->rest, len + 1);
	}
	r->again = false;
	*line = (struct piece){r->line, r->line_len};
	return true;
}

void reader_back(struct reader *r)
{
	r->again = true;
}

/* ---- what most compilers say alike ---- */

bool split_severity(struct piece line, struct found *f)
{
	if (!take_severity(&line, &f->severity))
		return false;
	f->message = line;
	return true;
}

bool split_placed(struct piece line, struct found *f)
{
	struct place at;
	if (!take_place(&line, &at) || !split_severity(piece_trim(line), f))
		return false;
	f->place = at;
	return true;
}

bool split_numbered(struct piece line, struct piece prefix, struct found *f)
{
	const bool error = take(&line, PIECE("error "));
	struct piece code;
	if ((!error && !take(&line, PIECE("warning "))) || !piece_begins(line, prefix) ||
	    !take_until(&line, PIECE(": "), &code) || !piece_is_name(code))
		return false;
	f->severity = error ? SEVERITY_ERROR : SEVERITY_WARNING;
	f->code = code;
	f->message = line;
	return true;
}

/* ---- rows ---- */

/* A field: tabs become blanks, and what is too long loses its middle. */
static void put(char *to, size_t size, struct piece p)
{
	char text[2048];
	p = piece_fit(piece_trim(p), sizeof(text) - 1);
	if (p.len) /* else there may be no place at all */
		memcpy(text, p.at, p.len);
	text[p.len] = '\0';
	for (char *tab = strchr(text, '\t'); tab; tab = strchr(tab, '\t'))
		*tab = ' ';
	text_fit(to, size, text);
}

void reader_add(struct reader *r, const struct found *f)
{
	struct diagnostics *to = r->to;
	to->seen[f->severity]++;
	r->last = NULL;
	if (to->len == DIAGNOSTICS_MAX)
		return;
	struct diagnostic *row = &to->rows[to->len++];
	put(row->file, sizeof(row->file), f->place.file);
	put(row->code, sizeof(row->code), f->code);
	put(row->message, sizeof(row->message), f->message);
	if (!row->message[0]) {
		const char *word = severity_names[f->severity];
		put(row->message, sizeof(row->message), (struct piece){word, strlen(word)});
	}
	row->line = f->place.line;
	row->column = f->place.column;
	row->severity = f->severity;
	r->last = row;
}

void reader_place(struct reader *r, const struct place *place)
{
	if (!r->last || r->last->file[0])
		return;
	put(r->last->file, sizeof(r->last->file), place->file);
	r->last->line = place->line;
	r->last->column = place->column;
}

void reader_column(struct reader *r, uint32_t column)
{
	if (r->last && r->last->column == 0 && column <= DIAGNOSTICS_NUMBER_MAX)
		r->last->column = column;
}

void reader_code(struct reader *r, struct piece code)
{
	if (r->last && !r->last->code[0])
		put(r->last->code, sizeof(r->last->code), code);
}

void reader_append(struct reader *r, struct piece before, struct piece words)
{
	char text[sizeof(r->last->message)];
	if (!r->last)
		return;
	const size_t had = strlen(r->last->message);
	size_t len = 0;
	const struct piece parts[] = {{r->last->message, had}, before, piece_trim(words)};
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		if (parts[i].len >= sizeof(text) - len)
			return;
		memcpy(text + len, parts[i].at, parts[i].len);
		len += parts[i].len;
	}
	put(r->last->message, sizeof(r->last->message), (struct piece){text, len});
}

#include "pipeline/diagnostics/lines.h"

#include <string.h>
#include <strings.h>

bool piece_is(struct piece p, struct piece word)
{
	return p.len == word.len && memcmp(p.at, word.at, p.len) == 0;
}

bool piece_begins(struct piece p, struct piece word)
{
	return p.len >= word.len && memcmp(p.at, word.at, word.len) == 0;
}

bool piece_ends(struct piece p, struct piece word)
{
	return p.len >= word.len && memcmp(p.at + p.len - word.len, word.at, word.len) == 0;
}

size_t piece_find(struct piece p, struct piece word)
{
	const char *found = p.len ? memmem(p.at, p.len, word.at, word.len) : NULL;
	return found ? (size_t)(found - p.at) : p.len;
}

bool piece_has(struct piece p, struct piece word)
{
	return piece_find(p, word) < p.len;
}

struct piece piece_from(struct piece p, size_t at)
{
	at = at < p.len ? at : p.len;
	return (struct piece){p.at + at, p.len - at};
}

struct piece piece_upto(struct piece p, size_t len)
{
	return (struct piece){p.at, len < p.len ? len : p.len};
}

struct piece piece_fit(struct piece p, size_t most)
{
	if (p.len <= most)
		return p;
	while (most > 0 && ((unsigned char)p.at[most] & 0xc0) == 0x80)
		most--;
	return piece_upto(p, most);
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

struct piece piece_trim(struct piece p)
{
	while (p.len && is_blank(p.at[0]))
		p = piece_from(p, 1);
	while (p.len && is_blank(p.at[p.len - 1]))
		p.len--;
	return p;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
}

bool piece_is_name(struct piece p)
{
	if (!p.len || !is_letter(p.at[0]))
		return false;
	for (size_t i = 1; i < p.len; i++)
		if (!is_letter(p.at[i]) && !is_digit(p.at[i]) && p.at[i] != '.')
			return false;
	return true;
}

bool take(struct piece *p, struct piece word)
{
	if (!piece_begins(*p, word))
		return false;
	*p = piece_from(*p, word.len);
	return true;
}

bool take_number(struct piece *p, uint32_t *number)
{
	uint32_t n = 0;
	size_t len = 0;
	for (; len < p->len && is_digit(p->at[len]); len++)
		if (n <= DIAGNOSTICS_NUMBER_MAX)
			n = n * 10 + (uint32_t)(p->at[len] - '0');
	if (len == 0)
		return false;
	*p = piece_from(*p, len);
	*number = n <= DIAGNOSTICS_NUMBER_MAX ? n : 0;
	return true;
}

bool take_until(struct piece *p, struct piece word, struct piece *before)
{
	const size_t at = piece_find(*p, word);
	if (at == p->len)
		return false;
	*before = piece_upto(*p, at);
	*p = piece_from(*p, at + word.len);
	return true;
}

/* ":LINE" and perhaps ":COLUMN" in front of p. */
static bool take_numbers(struct piece *p, struct place *to)
{
	struct piece rest = *p;
	if (!take(&rest, PIECE(":")) || !take_number(&rest, &to->line))
		return false;
	to->column = 0;
	*p = rest;
	if (take(&rest, PIECE(":")) && take_number(&rest, &to->column))
		*p = rest;
	return true;
}

bool take_place(struct piece *p, struct place *to)
{
	for (size_t at = 1; at < p->len; at++) {
		struct piece rest = piece_from(*p, at);
		if (rest.at[0] != ':' || !take_numbers(&rest, to) || !take(&rest, PIECE(":")))
			continue;
		to->file = piece_upto(*p, at);
		*p = rest;
		return true;
	}
	return false;
}

bool read_place(struct piece p, struct place *to)
{
	for (size_t at = 1; at < p.len; at++) {
		struct piece rest = piece_from(p, at);
		if (rest.at[0] != ':' || !take_numbers(&rest, to) || rest.len)
			continue;
		to->file = piece_upto(p, at);
		return true;
	}
	return false;
}

bool take_bracketed(struct piece *p, struct place *to)
{
	for (size_t at = 1; at < p->len; at++) {
		struct piece rest = piece_from(*p, at);
		uint32_t more;
		if (!take(&rest, PIECE("(")) || !take_number(&rest, &to->line))
			continue;
		to->column = 0;
		if (take(&rest, PIECE(",")) && !take_number(&rest, &to->column))
			continue;
		while (take(&rest, PIECE(",")) && take_number(&rest, &more))
			;
		if (!take(&rest, PIECE("): ")))
			continue;
		to->file = piece_upto(*p, at);
		*p = rest;
		return true;
	}
	return false;
}

bool take_severity(struct piece *p, enum severity *to)
{
	static const struct {
		struct piece word;
		enum severity severity;
	} rows[] = {
		{{"error:", 6}, SEVERITY_ERROR},
		{{"fatal error:", 12}, SEVERITY_ERROR},
		{{"internal compiler error:", 24}, SEVERITY_ERROR},
		{{"runtime error:", 14}, SEVERITY_ERROR},
		{{"sorry, unimplemented:", 21}, SEVERITY_ERROR},
		{{"warning:", 8}, SEVERITY_WARNING},
		{{"note:", 5}, SEVERITY_NOTE},
		{{"remark:", 7}, SEVERITY_NOTE},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct piece word = rows[i].word;
		if (p->len < word.len || strncasecmp(p->at, word.at, word.len) != 0)
			continue;
		*p = piece_trim(piece_from(*p, word.len));
		*to = rows[i].severity;
		return true;
	}
	return false;
}

uint32_t pointed_at(struct piece line)
{
	size_t at = 0;
	while (at < line.len && is_blank(line.at[at]))
		at++;
	if (at == line.len || line.at[at] != '^')
		return 0;
	for (size_t i = at; i < line.len; i++)
		if (line.at[i] != '^' && line.at[i] != '~' && !is_blank(line.at[i]))
			return 0;
	return (uint32_t)at + 1;
}

/* --error-format=json of rustc, one document a line; --message-format=json of cargo has it as a member. */
#include "pipeline/diagnostics/lines.h"

#include <jansson.h>
#include <string.h>

static struct piece text_of(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);
	return json_is_string(value)
		       ? (struct piece){json_string_value(value), json_string_length(value)}
		       : PIECE("");
}

static uint32_t number_of(const json_t *object, const char *key)
{
	const json_int_t n = json_integer_value(json_object_get(object, key));
	return n > 0 && n <= DIAGNOSTICS_NUMBER_MAX ? (uint32_t)n : 0;
}

/* The primary place, else none. */
static struct place place_of(const json_t *message)
{
	size_t i;
	const json_t *span;
	json_array_foreach(json_object_get(message, "spans"), i,
			   span) if (json_is_true(json_object_get(span,
								  "is_primary"))) return (struct place){
		text_of(span, "file_name"), number_of(span, "line_start"),
		number_of(span, "column_start")};
	return (struct place){0};
}

static bool severity_of(const json_t *message, enum severity *to)
{
	const struct piece level = text_of(message, "level");
	if (piece_begins(level, PIECE("error")))
		*to = SEVERITY_ERROR;
	else if (piece_is(level, PIECE("warning")))
		*to = SEVERITY_WARNING;
	else if (piece_is(level, PIECE("note")) || piece_is(level, PIECE("help")))
		*to = SEVERITY_NOTE;
	else
		return false;
	return true;
}

/* Strings of JSON may hold any control character. */
static struct piece visible(struct piece p, char *to, size_t size)
{
	size_t len = 0;
	p = piece_fit(p, size);
	for (; len < p.len; len++) {
		const unsigned char c = (unsigned char)p.at[len];
		to[len] = (char)(c < 0x20 || c == 0x7f ? ' ' : c);
	}
	return (struct piece){to, len};
}

static void add_message(struct reader *r, const json_t *message)
{
	char file[512], code[128], text[1024];
	struct found f = {.place = place_of(message)};
	if (!severity_of(message, &f.severity))
		return;
	f.place.file = visible(f.place.file, file, sizeof(file));
	f.code = visible(text_of(json_object_get(message, "code"), "code"), code, sizeof(code));
	f.message = visible(text_of(message, "message"), text, sizeof(text));
	/* A sum of what was said already has no place. */
	if (!f.place.file.len && (piece_begins(f.message, PIECE("aborting due to ")) ||
				  piece_has(f.message, PIECE(" emitted"))))
		return;
	reader_add(r, &f);
}

void read_rustc_json(struct reader *r, struct piece line)
{
	json_t *document = json_loadb(line.at, line.len, JSON_REJECT_DUPLICATES, NULL);
	const json_t *inner = json_object_get(document, "message");
	if (json_is_object(inner))
		add_message(r, inner);
	else if (json_is_string(inner))
		add_message(r, document);
	json_decref(document);
}

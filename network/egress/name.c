#include "network/egress/name.h"

#include <stdio.h>
#include <string.h>

enum { WIRE_BYTES_MAX = 255 };

/* Dots inside a label would become boundaries in the text: they are refused before. */
enum name_fault name_read_wire(struct name *n, const unsigned char *wire, size_t len)
{
	char text[WIRE_BYTES_MAX];
	size_t at = 0, text_len = 0;
	if (len > WIRE_BYTES_MAX)
		return NAME_TOO_LONG;
	while (at < len && wire[at] != 0) {
		size_t label = wire[at++];
		if (label > NAME_LABEL_BYTES_MAX || label >= len - at)
			return NAME_LABEL_LONG;
		if (memchr(wire + at, '.', label))
			return NAME_CHARACTER;
		if (text_len > 0)
			text[text_len++] = '.';
		memcpy(text + text_len, wire + at, label);
		text_len += label;
		at += label;
	}
	if (at + 1 != len)
		return NAME_LABEL_LONG;
	return name_read(n, text, text_len);
}

static char *show_byte(char *to, unsigned char c)
{
	if (c == '.' || c == '\\')
		*to++ = '\\';
	if (c > ' ' && c < 0x7f) {
		*to++ = (char)c;
		return to;
	}
	return to + snprintf(to, sizeof("\\255"), "\\%03u", c);
}

void name_show_wire(char shown[NAME_SHOWN_BYTES], const unsigned char *wire, size_t len)
{
	char *to = shown;
	size_t at = 0;
	if (len > WIRE_BYTES_MAX)
		len = WIRE_BYTES_MAX;
	while (at < len && wire[at] != 0) {
		size_t label = wire[at++];
		if (to != shown)
			*to++ = '.';
		for (; label > 0 && at < len; label--)
			to = show_byte(to, wire[at++]);
	}
	if (to == shown)
		*to++ = '.';
	*to = '\0';
}

bool name_matches(const struct name *n, const struct egress_rule *r)
{
	if (r->target == EGRESS_NAME)
		return name_equal(n, r->name);
	if (r->target != EGRESS_WILDCARD || n->len < r->name->len + 2)
		return false;
	const char *tail = n->text + n->len - r->name->len;
	return tail[-1] == '.' && memcmp(tail, r->name->text, r->name->len) == 0;
}

bool name_allowed(const struct name *n, const struct egress_list *list)
{
	for (size_t i = 0; i < list->len; i++) {
		if (name_matches(n, &list->rules[i]))
			return true;
	}
	return false;
}

static bool more_particular(const struct egress_rule *a, const struct egress_rule *b)
{
	if (a->target != b->target)
		return a->target == EGRESS_NAME;
	return a->name->len > b->name->len;
}

const struct egress_rule *name_find_rule(const struct name *n, const struct egress_list *list,
					 enum egress_transport t, uint16_t port)
{
	const struct egress_rule *best = NULL;
	for (size_t i = 0; i < list->len; i++) {
		const struct egress_rule *r = &list->rules[i];
		if (r->transport == t && name_matches(n, r) && egress_rule_has_port(r, port) &&
		    (!best || more_particular(r, best)))
			best = r;
	}
	return best;
}

/* Rows for the result: what is the same but for time and bytes is one row. The supervisor holds
 * them too, by the same numbers; it gets a new row at once, and one that changed once a second. */
#include "network/broker/broker.h"

#include "spec/spec.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { FLUSH_MS = 1000, RETRY_MS = 50, ROOM = 8 };

struct report {
	struct egress_report *rows;
	bool dirty[EGRESS_ROWS_MAX];
	bool any_dirty;
	size_t len, room, denied;
	uint64_t more;
	int64_t due_ns;
};

struct report *report_open(void)
{
	return calloc(1, sizeof(struct report));
}

static void copy(char *to, size_t size, const char *from)
{
	snprintf(to, size, "%s", from ? from : "");
}

static struct egress_report row_of(const struct broker *b, const struct fact *f)
{
	struct egress_report row = {
		.type = EGRESS_ROW,
		.rule = f->rule ? (uint32_t)(f->rule - b->p->rules->rules) : EGRESS_NO_RULE,
		.verdict = f->verdict,
		.route = f->route,
		.sys = f->sys,
		.has_address = f->address != NULL,
		.port = f->port,
	};
	if (f->address)
		row.address = *f->address;
	copy(row.name, sizeof(row.name), f->name);
	copy(row.reason, sizeof(row.reason), f->reason);
	return row;
}

static bool same(const struct egress_report *a, const struct egress_report *b)
{
	return a->rule == b->rule && a->verdict == b->verdict && a->route == b->route &&
	       a->sys == b->sys && a->port == b->port && a->has_address == b->has_address &&
	       memcmp(&a->address, &b->address, sizeof(a->address)) == 0 &&
	       strcmp(a->name, b->name) == 0 && strcmp(a->reason, b->reason) == 0;
}

static bool grow(struct report *t)
{
	const size_t room = t->room ? 2 * t->room : ROOM;
	struct egress_report *rows = realloc(t->rows, room * sizeof(*rows));
	if (!rows)
		return false;
	t->rows = rows;
	t->room = room;
	return true;
}

/* NULL: there is no room for another. */
static struct egress_report *row_for(struct report *t, const struct egress_report *row)
{
	const bool denied = row->verdict == EGRESS_DENIED;
	for (size_t i = 0; i < t->len; i++)
		if (same(&t->rows[i], row))
			return &t->rows[i];
	if (denied ? t->denied == EGRESS_DENIED_ROWS
		   : t->len - t->denied == EGRESS_ROWS_MAX - EGRESS_DENIED_ROWS)
		return NULL;
	if (t->len == t->room && !grow(t))
		return NULL;
	t->denied += denied;
	struct egress_report *made = &t->rows[t->len];
	*made = *row;
	made->row = (uint32_t)t->len++;
	return made;
}

/* False: the supervisor has no room for it now. */
static bool tell(const struct broker *b, const struct egress_report *row, int flags)
{
	return send(b->p->supervisor, row, sizeof(*row), flags | MSG_NOSIGNAL) == sizeof(*row);
}

static void dirty(struct broker *b, size_t i, int64_t ms)
{
	struct report *t = b->report;
	t->dirty[i] = true;
	if (t->any_dirty)
		return;
	t->any_dirty = true;
	t->due_ns = in_ms(b, ms);
	wake_at(b, t->due_ns);
}

void report_fact(struct broker *b, const struct fact *f)
{
	struct report *t = b->report;
	const struct egress_report wanted = row_of(b, f);
	struct egress_report *row = row_for(t, &wanted);
	if (!row) {
		t->more++;
		if (t->len > 0)
			dirty(b, 0, FLUSH_MS);
		return;
	}
	row->count++;
	row->sent_bytes += f->sent_bytes;
	row->received_bytes += f->received_bytes;
	row->duration_usec += (uint64_t)f->duration_ns / 1000;
	row->more = t->more;
	if (row->count > 1 || !tell(b, row, MSG_DONTWAIT))
		dirty(b, row->row, FLUSH_MS);
}

void report_flush(struct broker *b, bool all)
{
	struct report *t = b->report;
	if (!t->any_dirty)
		return;
	if (!all && b->now_ns < t->due_ns) {
		wake_at(b, t->due_ns);
		return;
	}
	t->any_dirty = false;
	for (size_t i = 0; i < t->len; i++) {
		if (!t->dirty[i])
			continue;
		t->rows[i].more = t->more;
		t->dirty[i] = false;
		/* At the end it is worth waiting for: the supervisor reads, or ends us. */
		if (!tell(b, &t->rows[i], all ? 0 : MSG_DONTWAIT))
			dirty(b, i, RETRY_MS);
	}
}

void report_limit(struct broker *b)
{
	if (b->limit_reached)
		return;
	b->limit_reached = true;
	tell(b, &(struct egress_report){.type = EGRESS_LIMIT}, 0);
}

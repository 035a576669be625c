/* Rows for the result: what is the same but for time and bytes is one row. The supervisor holds
 * them too, by the same numbers; it gets a new row at once, and one that changed a second later,
 * with all that changed in between: more than that it takes for a broker that is not itself, as it
 * does a new row before those that were made earlier. */
#include "network/broker/broker.h"

#include "spec/spec.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { FLUSH_MS = 1000, RETRY_MS = 50 };

/* All of it from the beginning: a row cannot be refused once and be had a moment later. */
struct report {
	struct egress_report rows[EGRESS_ROWS_MAX];
	int64_t due_ns[EGRESS_ROWS_MAX]; /* it changed, and is told then; NEVER: it is as it was told */
	int64_t first_due_ns;		 /* none is due earlier */
	size_t len;
	size_t told; /* so many the supervisor has; each of the others is due */
};

struct report *report_open(void)
{
	struct report *t = calloc(1, sizeof(*t));
	for (size_t i = 0; t && i < EGRESS_ROWS_MAX; i++)
		t->due_ns[i] = NEVER;
	if (t)
		t->first_due_ns = NEVER;
	return t;
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
	       a->others == b->others && a->sys == b->sys && a->port == b->port &&
	       a->has_address == b->has_address &&
	       memcmp(&a->address, &b->address, sizeof(a->address)) == 0 &&
	       strcmp(a->name, b->name) == 0 && strcmp(a->reason, b->reason) == 0;
}

static bool is_cheap(const struct egress_report *row)
{
	return row->route == EGRESS_BY_DNS || row->verdict == EGRESS_BROKEN;
}

/* Questions, and attempts that came to nothing, cost a program next to nothing: of each half of the
 * rows they leave half to what says more. */
static bool has_room(const struct report *t, const struct egress_report *row)
{
	const bool denied = row->verdict == EGRESS_DENIED;
	const size_t room = denied ? EGRESS_DENIED_ROWS : EGRESS_OWN_ROWS - EGRESS_DENIED_ROWS;
	size_t half = 0, cheap = 0;
	for (size_t i = 0; i < t->len; i++) {
		const struct egress_report *r = &t->rows[i];
		if (r->others || (r->verdict == EGRESS_DENIED) != denied)
			continue;
		half++;
		cheap += is_cheap(r);
	}
	return half < room && (!is_cheap(row) || cheap < EGRESS_CHEAP_ROWS);
}

static struct egress_report *find(struct report *t, const struct egress_report *row)
{
	for (size_t i = 0; i < t->len; i++)
		if (same(&t->rows[i], row))
			return &t->rows[i];
	return NULL;
}

static struct egress_report *add(struct report *t, const struct egress_report *row)
{
	struct egress_report *made = &t->rows[t->len];
	*made = *row;
	made->row = (uint32_t)t->len++;
	return made;
}

/* Where there is no room for another it is that of the others, for which there always is. */
static struct egress_report *row_for(struct report *t, const struct egress_report *row)
{
	const struct egress_report others = {.type = EGRESS_ROW,
					     .rule = EGRESS_NO_RULE,
					     .verdict = row->verdict,
					     .route = row->route,
					     .others = true};
	struct egress_report *found = find(t, row);
	if (!found && has_room(t, row))
		return add(t, row);
	if (!found)
		found = find(t, &others);
	return found ? found : add(t, &others);
}

/* False: the supervisor has no room for it now. */
static bool tell(const struct broker *b, const struct egress_report *r, int flags)
{
	return send(b->p->supervisor, r, sizeof(*r), flags | MSG_NOSIGNAL) == sizeof(*r);
}

/* False too where one before it had no room. */
static bool tell_row(struct broker *b, size_t i, int flags)
{
	struct report *t = b->report;
	if (i > t->told || !tell(b, &t->rows[i], flags))
		return false;
	t->told += i == t->told;
	return true;
}

static void tell_in(struct broker *b, size_t i, int64_t ms)
{
	struct report *t = b->report;
	if (t->due_ns[i] == NEVER)
		t->due_ns[i] = in_ms(b, ms);
	if (t->due_ns[i] < t->first_due_ns)
		t->first_due_ns = t->due_ns[i];
	wake_at(b, t->first_due_ns);
}

/* One that is new is told at once. */
static void tell_change(struct broker *b, struct egress_report *row)
{
	if (row->count > 1)
		tell_in(b, row->row, FLUSH_MS);
	else if (!tell_row(b, row->row, MSG_DONTWAIT))
		tell_in(b, row->row, RETRY_MS);
}

void report_fact(struct broker *b, const struct fact *f)
{
	const struct egress_report wanted = row_of(b, f);
	struct egress_report *row = row_for(b->report, &wanted);
	row->count += f->part != FACT_ENDS;
	if (f->part == FACT_BEGINS) {
		tell_change(b, row);
		return;
	}
	row->sent_bytes += f->sent_bytes;
	row->received_bytes += f->received_bytes;
	row->duration_usec += (uint64_t)f->duration_ns / 1000;
	if (f->part == FACT_ENDS)
		tell_in(b, row->row, FLUSH_MS);
	else
		tell_change(b, row);
}

void report_flush(struct broker *b, bool all)
{
	struct report *t = b->report;
	if (t->first_due_ns == NEVER || (!all && b->now_ns < t->first_due_ns)) {
		wake_at(b, t->first_due_ns);
		return;
	}
	t->first_due_ns = NEVER;
	for (size_t i = 0; i < t->len; i++) {
		int64_t ms = FLUSH_MS;
		if (t->due_ns[i] == NEVER)
			continue;
		if (all || b->now_ns >= t->due_ns[i]) {
			t->due_ns[i] = NEVER;
			/* At the end it is worth waiting for: the supervisor reads, or ends us. */
			if (tell_row(b, i, all ? 0 : MSG_DONTWAIT))
				continue;
			ms = RETRY_MS;
		}
		tell_in(b, i, ms);
	}
}

void report_limit(struct broker *b)
{
	if (b->limit_reached)
		return;
	b->limit_reached = true;
	tell(b, &(struct egress_report){.type = EGRESS_LIMIT}, 0);
}

/* Another analyser's log, read in the jail. */
#include "pipeline/scan/reader.h"

#include "base/fd.h"

#include <string.h>

static void send_foreign(struct reader *r, const struct scan_finding *f)
{
	struct record rec = {.kind = RECORD_FOREIGN,
			     .severity = (uint32_t)f->severity,
			     .line = f->line,
			     .column = f->column,
			     .end_line = f->end_line,
			     .end_column = f->end_column};
	wire_text(rec.inner, sizeof(rec.inner), f->path, strlen(f->path));
	wire_text(rec.id, sizeof(rec.id), f->id, strlen(f->id));
	wire_text(rec.detail, sizeof(rec.detail), f->message, strlen(f->message));
	wire_text(rec.host, sizeof(rec.host), f->tool ? f->tool : "", f->tool ? strlen(f->tool) : 0);
	wire_text(rec.source, sizeof(rec.source), f->source, strlen(f->source));
	if (fd_write_all(r->out, &rec, sizeof(rec)) < 0)
		r->deaf = true;
}

void sarif_log_read(struct reader *r, const struct unit *u)
{
	autoarena a = ARENA_INIT;
	struct err e = ERR_INIT;
	struct scan_findings all = {.arena = &a};
	if (scan_sarif_read(u->text, u->len, &all, &e) < 0)
		reader_tell(r, RULE_CRASHED, u, WHOLE, e.msg);
	for (size_t i = 0; i < all.len && !r->deaf; i++)
		send_foreign(r, &all.at[i]);
	if (all.cut)
		reader_tell(r, RULE_TOO_MANY, u, WHOLE, "results in one log");
	scan_free(&all);
}

/* SARIF 2.1.0 out: one run of ours, and one for each other analyser whose findings were taken in. */
#include "pipeline/scan/scan.h"

#include "spec/writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* json_text() would write what is no UTF-8 as an object: here each such byte becomes "\xNN". */
static void put_text(struct json_writer *w, const char *key, const char *text)
{
	const size_t size = 4 * strlen(text) + 1;
	char *clean = malloc(size);
	size_t used = 0;
	if (!clean) {
		w->broken = true;
		return;
	}
	for (const unsigned char *c = (const unsigned char *)text; *c;) {
		uint32_t character;
		const size_t len = utf8_next(c, &character);
		if (len > 0)
			memcpy(clean + used, c, len);
		used += len > 0 ? len : (size_t)snprintf(clean + used, size - used, "\\x%02x", *c);
		c += len > 0 ? len : 1;
	}
	clean[used] = '\0';
	json_text(w, key, clean);
	free(clean);
}

/* RFC 3986: what is no unreserved character, and no '/' or '!', as %NN. */
static void put_uri(struct json_writer *w, const char *path)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/!";
	char *uri = malloc(3 * strlen(path) + 1);
	size_t used = 0;
	if (!uri) {
		w->broken = true;
		return;
	}
	for (const char *c = path; *c; c++) {
		if (strchr(plain, *c))
			uri[used++] = *c;
		else
			used += (size_t)snprintf(uri + used, 4, "%%%02X", (unsigned char)*c);
	}
	uri[used] = '\0';
	json_text(w, "uri", uri);
	free(uri);
}

/* Rules that were found, each once, in the order of their first finding. */
struct used {
	const struct scan_finding **at;
	size_t len;
};

static bool of_tool(const struct scan_finding *f, const char *tool)
{
	return tool ? f->tool && strcmp(f->tool, tool) == 0 : !f->tool;
}

static size_t rule_index(const struct used *u, const char *id)
{
	size_t i = 0;
	while (i < u->len && strcmp(u->at[i]->id, id) != 0)
		i++;
	return i;
}

static bool collect(const struct scan_report *r, const char *tool, struct used *u)
{
	u->at = calloc(r->findings->len + 1, sizeof(*u->at));
	u->len = 0;
	for (size_t i = 0; u->at && i < r->findings->len; i++) {
		const struct scan_finding *f = &r->findings->at[i];
		if (of_tool(f, tool) && rule_index(u, f->id) == u->len)
			u->at[u->len++] = f;
	}
	return u->at != NULL;
}

static void put_message(struct json_writer *w, const char *key, const char *text)
{
	json_begin(w, key, '{');
	put_text(w, "text", text);
	json_end(w, '{');
}

static void put_driver(struct json_writer *w, const char *tool, const struct used *u)
{
	json_begin(w, "tool", '{');
	json_begin(w, "driver", '{');
	put_text(w, "name", tool ? tool : "pinfold");
	if (!tool)
		json_text(w, "version", PINFOLD_VERSION);
	json_begin(w, "rules", '[');
	for (size_t i = 0; i < u->len; i++) {
		json_begin(w, NULL, '{');
		put_text(w, "id", u->at[i]->id);
		if (!tool) {
			put_message(w, "shortDescription", u->at[i]->message);
			put_message(w, "help", u->at[i]->sandbox);
			json_begin(w, "defaultConfiguration", '{');
			json_text(w, "level", scan_severity_name(u->at[i]->severity));
			json_end(w, '{');
		}
		json_end(w, '{');
	}
	json_end(w, '[');
	json_end(w, '{');
	json_end(w, '{');
}

static void put_region(struct json_writer *w, const struct scan_finding *f)
{
	if (f->line == 0)
		return;
	json_begin(w, "region", '{');
	json_number(w, "startLine", f->line);
	if (f->column > 0)
		json_number(w, "startColumn", f->column);
	if (f->end_line > 0)
		json_number(w, "endLine", f->end_line);
	if (f->end_column > 0)
		json_number(w, "endColumn", f->end_column);
	if (*f->source)
		put_message(w, "snippet", f->source);
	json_end(w, '{');
}

static void put_properties(struct json_writer *w, const struct scan_finding *f)
{
	json_begin(w, "properties", '{');
	if (*f->detail)
		put_text(w, "pinfold/detail", f->detail);
	if (*f->host)
		put_text(w, "pinfold/host", f->host);
	if (*f->sandbox)
		put_text(w, "pinfold/sandbox", f->sandbox);
	json_end(w, '{');
}

static void put_suppression(struct json_writer *w, const struct scan_waiver *waiver)
{
	json_begin(w, "suppressions", '[');
	if (waiver) {
		json_begin(w, NULL, '{');
		json_text(w, "kind", "external");
		json_text(w, "status", "accepted");
		put_text(w, "justification", waiver->reason);
		json_end(w, '{');
	}
	json_end(w, '[');
}

static void put_result(struct json_writer *w, const struct scan_finding *f, const struct used *u)
{
	json_begin(w, NULL, '{');
	put_text(w, "ruleId", f->id);
	json_number(w, "ruleIndex", (int64_t)rule_index(u, f->id));
	json_text(w, "level", scan_severity_name(f->severity));
	put_message(w, "message", f->message);
	json_begin(w, "locations", '[');
	if (*f->path) {
		json_begin(w, NULL, '{');
		json_begin(w, "physicalLocation", '{');
		json_begin(w, "artifactLocation", '{');
		put_uri(w, f->path);
		json_end(w, '{');
		put_region(w, f);
		json_end(w, '{');
		json_end(w, '{');
	}
	json_end(w, '[');
	put_suppression(w, f->waived);
	put_properties(w, f);
	json_end(w, '{');
}

static void put_gate(struct json_writer *w, const struct scan_report *r)
{
	json_begin(w, "properties", '{');
	json_text(w, "pinfold/gate",
		  r->gate == SCAN_GATE_NONE ? "none"
					    : scan_severity_name((enum scan_severity)r->gate));
	json_bool(w, "pinfold/stop", r->verdict->stop);
	json_begin(w, "pinfold/waivers", '[');
	for (size_t i = 0; i < r->waivers->len; i++) {
		json_begin(w, NULL, '{');
		put_text(w, "id", r->waivers->at[i].id);
		put_text(w, "path", r->waivers->at[i].path);
		put_text(w, "reason", r->waivers->at[i].reason);
		json_number(w, "used", (int64_t)r->waivers->at[i].used);
		json_end(w, '{');
	}
	json_end(w, '[');
	json_end(w, '{');
}

static void put_run(struct json_writer *w, const struct scan_report *r, const char *tool)
{
	struct used u;
	if (!collect(r, tool, &u)) {
		w->broken = true;
		return;
	}
	json_begin(w, NULL, '{');
	put_driver(w, tool, &u);
	json_begin(w, "invocations", '[');
	json_begin(w, NULL, '{');
	json_bool(w, "executionSuccessful", true);
	json_end(w, '{');
	json_end(w, '[');
	json_text(w, "columnKind", "unicodeCodePoints");
	json_begin(w, "results", '[');
	for (size_t i = 0; i < r->findings->len; i++)
		if (of_tool(&r->findings->at[i], tool))
			put_result(w, &r->findings->at[i], &u);
	json_end(w, '[');
	if (!tool)
		put_gate(w, r);
	json_end(w, '{');
	free(u.at);
}

static bool is_first(const struct scan_findings *all, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (of_tool(&all->at[i], all->at[at].tool))
			return false;
	return true;
}

char *scan_sarif_write(const struct scan_report *r)
{
	struct json_writer w;
	json_open(&w, true);
	json_begin(&w, NULL, '{');
	json_text(&w, "version", "2.1.0");
	json_begin(&w, "runs", '[');
	put_run(&w, r, NULL);
	for (size_t i = 0; i < r->findings->len; i++)
		if (r->findings->at[i].tool && is_first(r->findings, i))
			put_run(&w, r, r->findings->at[i].tool);
	json_end(&w, '[');
	json_end(&w, '{');
	return json_finish(&w, true);
}

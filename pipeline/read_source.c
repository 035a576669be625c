/* Where the code comes from, and what looks at it first. */
#include "pipeline/reading.h"
#include "spec/keys.h"
#include "spec/parse.h"

#include <ctype.h>
#include <string.h>

enum { HTTPS_PORT = 443 };

/* ---- the address ---- */

static int url_refuse(const char *url, const char *why, struct err *e)
{
	return err_usage(e, "%s: %s", show(url).text, why);
}

/* https://HOST[:PORT][/...] of printable characters, and nothing else. */
static int split_url(struct job_source *s, struct arena *a, struct err *e)
{
	static const char scheme[] = "https://";
	const char *url = s->url;
	if (strncmp(url, scheme, sizeof(scheme) - 1) != 0)
		return url_refuse(url,
				  "it does not begin with https://, and nothing else is fetched", e);
	for (const char *c = url; *c; c++)
		if (*c <= ' ' || *c >= 0x7f || *c == '\\' || *c == '"')
			return url_refuse(url, "it has a character in it that no address has", e);
	const char *host = url + sizeof(scheme) - 1;
	const size_t len = strcspn(host, "/?#");
	const char *authority = arena_strndup(a, host, len);
	if (strchr(authority, '@'))
		return url_refuse(url, "it names a user; nothing is fetched with credentials", e);
	const char *colon = authority[0] == '[' ? strstr(authority, "]:") : strchr(authority, ':');
	const char *port = colon ? colon + (*colon == ']' ? 2 : 1) : NULL;
	uint64_t number = HTTPS_PORT;
	if (port && (spec_parse_count(port, &number, e) < 0 || number == 0 || number > UINT16_MAX))
		return url_refuse(url, "its port is none", e);
	char *name = arena_strndup(a, authority,
				   port ? (size_t)(port - 1 - authority) : strlen(authority));
	for (char *c = name; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	s->host = name;
	s->port = (uint16_t)number;
	return *name ? 0 : url_refuse(url, "it has no host", e);
}

static int read_url(struct reading *r, const struct place *p, struct job_source *s, struct err *e)
{
	if (reading_text(r, p, &s->url, e) < 0)
		return -1;
	return split_url(s, r->job->arena, e) < 0 ? reading_refuse(r, p->value.at, p->name, e) : 0;
}

/* ---- the members ---- */

static int take_kind(struct reading *r, const struct place *p, enum source_kind kind, struct err *e)
{
	struct job_source *s = &r->job->source;
	if (s->kind == SOURCE_NONE) {
		s->kind = kind;
		return 0;
	}
	err_usage(e, "a source is one of git, archive, folder and files");
	return reading_refuse(r, p->name_at, NULL, e);
}

static int read_git(struct reading *r, const struct place *p, void *into, struct err *e)
{
	return take_kind(r, p, SOURCE_GIT, e) < 0 ? -1 : read_url(r, p, into, e);
}

static int read_archive(struct reading *r, const struct place *p, void *into, struct err *e)
{
	return take_kind(r, p, SOURCE_ARCHIVE, e) < 0 ? -1 : read_url(r, p, into, e);
}

static int read_folder(struct reading *r, const struct place *p, void *into, struct err *e)
{
	struct job_source *s = into;
	return take_kind(r, p, SOURCE_FOLDER, e) < 0 ? -1 : reading_text(r, p, &s->folder, e);
}

/* Each of them has a name of its own in the tree. */
static int read_files(struct reading *r, const struct place *p, void *into, struct err *e)
{
	struct job_source *s = into;
	if (take_kind(r, p, SOURCE_FILES, e) < 0 || reading_strings(r, p, &s->files, e) < 0)
		return -1;
	const char *wrong = NULL;
	for (const char *const *file = (const char *const *)s->files; *file; file++) {
		const char *slash = strrchr(*file, '/');
		if (!wrong && strchr(slash ? slash + 1 : *file, ':'))
			wrong = *file;
	}
	if (s->files[0] && !wrong)
		return 0;
	if (wrong)
		err_usage(e, "%s has a colon in its name, which no place of an input has",
			  show(wrong).text);
	else
		err_usage(e, "it is empty");
	return reading_refuse(r, p->value.at, p->name, e);
}

static int read_ref(struct reading *r, const struct place *p, void *into, struct err *e)
{
	struct job_source *s = into;
	if (reading_text(r, p, &s->ref, e) < 0)
		return -1;
	/* In front of what is fetched a + is no part of its name, but an order to git. */
	bool good = s->ref[0] != '-' && s->ref[0] != '+' && strlen(s->ref) < 256;
	for (const char *c = s->ref; *c; c++)
		good &= (unsigned char)*c > ' ' && *c != 0x7f && !strchr("^~:?*[\\", *c);
	if (good)
		return 0;
	err_usage(e, "%s is no branch, tag or commit", show(s->ref).text);
	return reading_refuse(r, p->value.at, p->name, e);
}

static int read_digest(struct reading *r, const struct place *p, void *into, struct err *e)
{
	struct job_source *s = into;
	if (reading_text(r, p, &s->digest, e) < 0)
		return -1;
	if (strncmp(s->digest, "sha256:", 7) == 0 && strlen(s->digest) == 71 &&
	    strspn(s->digest + 7, "0123456789abcdef") == 64)
		return 0;
	err_usage(e, "%s is not sha256: and 64 lower-case digits", show(s->digest).text);
	return reading_refuse(r, p->value.at, p->name, e);
}

static const char *const formats[] = {[ARCHIVE_TAR] = "tar", [ARCHIVE_ZIP] = "zip", NULL};

static int read_format(struct reading *r, const struct place *p, void *into, struct err *e)
{
	int word = 0;
	if (reading_word(r, p, formats, &word, e) < 0)
		return -1;
	((struct job_source *)into)->format = (enum archive_format)word;
	return 0;
}

static int read_max_files(struct reading *r, const struct place *p, void *into, struct err *e)
{
	return reading_files(r, p, &((struct job_source *)into)->max_files, e);
}

/* Sandbox keys of the fetch: read as those of a stage. */
static int read_limits(struct reading *r, const struct place *p, void *into, struct err *e)
{
	static const char *const nothing[] = {NULL};
	struct job_source *s = into;
	s->limits = arena_alloc(r->job->arena, sizeof(*s->limits));
	*s->limits = (struct job_stage){.kind = STAGE_BUILD, .name = "fetch", .at = p->value.at};
	if (r->d.j.text[p->value.at] != '{') {
		err_usage(e, "wrong type; here belongs an object");
		return reading_refuse(r, p->value.at, p->name, e);
	}
	if (read_stage_keys(r, p, nothing, s->limits, e) < 0)
		return -1;
	const struct spec *asked = &s->limits->asked;
	if (!asked->image && !asked->command && asked->inputs.len == 0 &&
	    asked->artifacts.len == 0 && asked->egress.allow.len == 0)
		return 0;
	err_usage(e,
		  "image, command, inputs, artifacts and egress.allow of a fetch are not said here");
	return reading_refuse(r, p->value.at, p->name, e);
}

static bool has_suffix(const char *text, const char *suffix)
{
	const size_t len = strlen(text), tail = strlen(suffix);
	return len >= tail && strcmp(text + len - tail, suffix) == 0;
}

static int check_members(struct reading *r, const struct place *p, struct err *e)
{
	const struct job_source *s = &r->job->source;
	const char *odd = NULL;
	if (s->kind == SOURCE_NONE)
		err_usage(e, "a source is one of git, archive, folder and files");
	else if (s->kind != SOURCE_GIT && (s->ref || s->submodules))
		odd = "ref and submodules are for git";
	else if (s->kind != SOURCE_ARCHIVE && s->digest)
		odd = "digest is for an archive";
	else if (s->kind >= SOURCE_FOLDER && (s->image || s->ca || s->allow || s->limits))
		odd = "image, ca, allow and limits are for what is fetched";
	else
		return 0;
	if (odd)
		err_usage(e, "%s", odd);
	return reading_refuse(r, p->value.at, p->name, e);
}

int read_source(struct reading *r, const struct place *p, void *into, struct err *e)
{
	static const struct job_member rows[] = {
		{"git", read_git},
		{"archive", read_archive},
		{"folder", read_folder},
		{"files", read_files},
		{"ref", read_ref},
		{"submodules", member_bool, offsetof(struct job_source, submodules)},
		{"digest", read_digest},
		{"format", read_format},
		{"image", member_text, offsetof(struct job_source, image)},
		{"max-bytes", member_size, offsetof(struct job_source, max_bytes)},
		{"max-files", read_max_files},
		{"ca", member_text, offsetof(struct job_source, ca)},
		{"allow", member_strings, offsetof(struct job_source, allow)},
		{"limits", read_limits},
		{NULL, NULL},
	};
	struct job_source *s = &((struct job *)into)->source;
	*s = (struct job_source){.at = p->value.at,
				 .max_bytes = 256ULL << 20,
				 .max_files = ARTIFACT_FILES_DEFAULT,
				 .format = ARCHIVE_COUNT};
	if (reading_object(r, p, rows, s, e) < 0 || check_members(r, p, e) < 0)
		return -1;
	if (s->kind == SOURCE_GIT && !s->ref)
		s->ref = "HEAD";
	if (s->format == ARCHIVE_COUNT)
		s->format = s->url && has_suffix(s->url, ".zip") ? ARCHIVE_ZIP : ARCHIVE_TAR;
	return 0;
}

/* ---- analyse ---- */

static int read_gate(struct reading *r, const struct place *p, void *into, struct err *e)
{
	static const char *const words[] =
		{[GATE_NONE] = "none", [GATE_NOTE] = "note", [GATE_WARNING] = "warning", [GATE_ERROR] = "error", NULL};
	int word = 0;
	if (reading_word(r, p, words, &word, e) < 0)
		return -1;
	((struct job_analyse *)into)->gate = (enum job_gate)word;
	return 0;
}

static int read_waiver(struct reading *r, const struct place *p, void *into, struct err *e)
{
	static const struct job_member rows[] = {{"id", member_text, offsetof(struct job_waiver, id)},
						 {"path", member_text,
						  offsetof(struct job_waiver, path)},
						 {"reason", member_text,
						  offsetof(struct job_waiver, reason)},
						 {NULL, NULL}};
	struct job_analyse *a = into;
	struct job_waiver *w = &a->waivers[a->waivers_len];
	if (reading_object(r, p, rows, w, e) < 0)
		return -1;
	const bool says = w->reason && w->reason[strspn(w->reason, " \t\r\n")];
	if (w->id && w->path && says) {
		a->waivers_len++;
		return 0;
	}
	err_usage(e, w->reason && !says ? "the reason says nothing"
					: "a waiver has an id, a path and a reason");
	return reading_refuse(r, p->value.at, p->name, e);
}

static int read_waivers(struct reading *r, const struct place *p, void *into, struct err *e)
{
	struct job_analyse *a = into;
	const struct reading_each each = {read_waiver, a, JOB_WAIVERS_MAX};
	if (r->d.j.text[p->value.at] == '[' && reading_count(r, p) == 0)
		return 0;
	a->waivers = arena_alloc(r->job->arena, (reading_count(r, p) + 1) * sizeof(*a->waivers));
	return reading_each(r, p, '[', &each, e);
}

static int read_tool(struct reading *r, const struct place *p, void *into, struct err *e)
{
	static const char *const others[] = {"sarif", NULL};
	struct job_analyse *a = into;
	struct job_stage *s = arena_alloc(r->job->arena, sizeof(*s));
	*s = (struct job_stage){.kind = STAGE_BUILD,
				.name = "analyse",
				.at = p->value.at,
				.cache = true};
	if (r->d.j.text[p->value.at] != '{') {
		err_usage(e, "wrong type; here belongs an object");
		return reading_refuse(r, p->value.at, p->name, e);
	}
	a->tool_sarif = "findings.sarif";
	size_t at = p->value.at;
	for (struct member m; locate_next(&r->d.j, &at, &m);) {
		autodecoded name = {document_decode(&r->d, m.key)};
		const struct place inner = {m.value, m.key.at, "sarif"};
		if (strcmp(json_string_value(name.value) ? json_string_value(name.value) : "",
			   "sarif") == 0 &&
		    reading_text(r, &inner, &a->tool_sarif, e) < 0)
			return -1;
	}
	if (read_stage_keys(r, p, others, s, e) < 0)
		return -1;
	a->tool = s;
	return 0;
}

int read_analyse(struct reading *r, const struct place *p, void *into, struct err *e)
{
	static const struct job_member rows[] = {{"gate", read_gate},
						 {"rules", member_text,
						  offsetof(struct job_analyse, rules)},
						 {"waivers", read_waivers},
						 {"tool", read_tool},
						 {NULL, NULL}};
	static const char *const words[] = {"none", NULL};
	struct job_analyse *a = &((struct job *)into)->analyse;
	a->said = true;
	a->at = p->value.at;
	int word = 0;
	if (r->d.j.text[p->value.at] != '"')
		return reading_object(r, p, rows, a, e);
	a->off = true;
	return reading_word(r, p, words, &word, e);
}

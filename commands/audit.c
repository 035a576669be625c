/* `pinfold audit`: the records of --audit, filtered and for people. What stands in them is not
 * ours: every text is escaped before a terminal sees it. */
#include "commands/commands.h"
#include "spec/parse.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LINE_BYTES_MAX = 1 << 20, TIME_ROOM = 40 };

struct selection {
	const char *id, *status; /* NULL: any */
	char since[TIME_ROOM];	 /* as the records have it, or a beginning of that; "": any */
	bool json;
	unsigned long bad; /* lines that are no record */
};

static const char *text_at(const json_t *record, const char *key)
{
	const char *text = json_string_value(json_object_get(record, key));
	return text ? text : "";
}

static bool is_record(const json_t *record)
{
	return strcmp(text_at(record, "schema"), "pinfold.audit/1") == 0 &&
	       *text_at(record, "event") && *text_at(record, "time") &&
	       json_is_object(json_object_get(record, "who"));
}

static bool is_wanted(const struct selection *f, const json_t *record)
{
	if (f->id && strcmp(text_at(record, "id"), f->id) != 0)
		return false;
	if (f->status && strcmp(text_at(record, "status"), f->status) != 0)
		return false;
	return strcmp(text_at(record, "time"), f->since) >= 0;
}

/* ---- for people ---- */

static void print_number(const char *before, const json_t *in, const char *key)
{
	const json_t *n = json_object_get(in, key);
	if (json_is_integer(n))
		printf("%s%lld", before, (long long)json_integer_value(n));
}

static void print_word(const char *before, const json_t *in, const char *key)
{
	const char *text = text_at(in, key);
	if (!*text)
		return;
	fputs(before, stdout);
	print_text(text);
}

static void print_image(const json_t *record)
{
	const json_t *image = json_object_get(record, "image");
	print_word(" image ", image, "name");
	print_word(" ", image, "digest");
}

static void print_end(const json_t *record)
{
	const json_t *exit = json_object_get(record, "exit");
	const json_t *cause = json_object_get(record, "cause");
	const json_t *denied = json_object_get(record, "denied");
	print_word(" ", record, "status");
	print_number(" code ", exit, "code");
	print_number(" signal ", exit, "signal");
	print_word(" in ", cause, "stage");
	print_word(": ", cause, "message");
	print_number("; denied: system calls ", denied, "syscalls");
	print_number(", network ", denied, "egress");
	print_word("; result ", record, "result_sha256");
}

static void print_record(const json_t *record)
{
	const json_t *who = json_object_get(record, "who");
	const char *event = text_at(record, "event");
	print_text(text_at(record, "time"));
	print_word(" ", record, "id");
	print_number(" uid ", who, "uid");
	print_number(" login ", who, "login_uid");
	print_number(" pid ", who, "pid");
	print_word("  ", record, "event");
	if (strcmp(event, "start") == 0)
		print_image(record);
	print_word(" ", record, "kind");
	print_word(" ", record, "name");
	print_word(": ", record, "reason");
	if (strcmp(event, "end") == 0)
		print_end(record);
	printf("\n");
}

/* ---- reading ---- */

static void take_line(struct selection *f, const char *line, size_t len)
{
	while (len > 0 && (line[len - 1] == '\n' || line[len - 1] == '\r'))
		len--;
	if (len == 0)
		return;
	json_t *record = len > LINE_BYTES_MAX ? NULL
					      : json_loadb(line, len, JSON_REJECT_DUPLICATES, NULL);
	if (!record || !is_record(record)) {
		f->bad++;
	} else if (is_wanted(f, record)) {
		if (f->json) {
			json_dumpf(record, stdout, JSON_COMPACT | JSON_ENSURE_ASCII);
			printf("\n");
		} else {
			print_record(record);
		}
	}
	json_decref(record);
}

static int read_stream(struct selection *f, FILE *from, const char *name, struct err *e)
{
	char *line = NULL;
	size_t room = 0;
	ssize_t len;
	/* Where nothing can be printed any more nobody waits for the end, which a stream may not have. */
	while (!ferror(stdout) && (len = getline(&line, &room, from)) > 0)
		take_line(f, line, (size_t)len);
	free(line);
	return ferror(from) ? err_sys(e, "read %s", name) : 0;
}

static int read_records(struct selection *f, const char *name, struct err *e)
{
	if (strcmp(name, "-") == 0)
		return read_stream(f, stdin, name, e);
	FILE *from = fopen(name, "re");
	if (!from)
		return err_sys(e, "open %s", name);
	const int failed = read_stream(f, from, name, e);
	fclose(from);
	return failed;
}

/* ---- words ---- */

static int set_ago(struct selection *f, const char *text, uint64_t ago_ns, struct err *e)
{
	enum { SECOND_NS = 1000000000 };
	char seconds[TIME_ROOM / 2];
	struct timespec now;
	struct tm utc;
	clock_gettime(CLOCK_REALTIME, &now);
	const uint64_t now_ns = (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
	const uint64_t at_ns = now_ns - ago_ns;
	const time_t at = (time_t)(at_ns / SECOND_NS);
	if (ago_ns > now_ns || !gmtime_r(&at, &utc))
		return err_usage(e, "--since %s is too long ago", show(text).text);
	strftime(seconds, sizeof(seconds), "%Y-%m-%dT%H:%M:%S", &utc);
	snprintf(f->since, sizeof(f->since), "%s.%06u", seconds,
		 (unsigned)(at_ns % SECOND_NS / 1000));
	return 0;
}

/* A day or a moment as the records have it, or how long ago. */
static int set_since(struct selection *f, const char *text, struct err *e)
{
	static const char form[] = "dddd-dd-ddTdd:dd:dd.ddddddZ";
	struct err ignored = ERR_INIT;
	uint64_t ago_ns = 0;
	if (spec_parse_time(text, &ago_ns, &ignored) == 0)
		return set_ago(f, text, ago_ns, e);
	size_t len = strlen(text);
	bool good = len >= strlen("dddd-dd-dd") && len < sizeof(form);
	for (size_t i = 0; good && i < len; i++)
		good = form[i] == 'd' ? text[i] >= '0' && text[i] <= '9' : text[i] == form[i];
	if (!good)
		return err_usage(e,
				 "--since: %s is neither like 2026-11-30, 2026-11-30T17:05:00 (UTC) nor like 2h",
				 show(text).text);
	/* A whole second has no fraction and no Z: both sort behind it. */
	snprintf(f->since, sizeof(f->since), "%.*s", (int)strcspn(text, "Z"), text);
	return 0;
}

static int set_status(struct selection *f, const char *text, struct err *e)
{
	for (int i = 0; i < RUN_STATUS_COUNT; i++)
		if (strcmp(run_status_name((enum run_status)i), text) == 0)
			f->status = text;
	return f->status ? 0
			 : err_usage(e, "--status: %s is no status; see pinfold-result(5)",
				     show(text).text);
}

static int set_option(struct selection *f, const char *option, const char *value, struct err *e)
{
	if (strcmp(option, "--id") == 0)
		f->id = value;
	else if (strcmp(option, "--since") == 0)
		return set_since(f, value, e);
	else
		return set_status(f, value, e);
	return 0;
}

/* The option that takes a value and that word is, alone or with the value behind a "="; NULL: none. */
static const char *takes_value(const char *word)
{
	static const char *const options[] = {"--id", "--since", "--status"};
	const size_t len = strcspn(word, "=");
	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++)
		if (strlen(options[i]) == len && memcmp(options[i], word, len) == 0)
			return options[i];
	return NULL;
}

/* The file's name, or NULL and *e. */
static const char *read_words(struct selection *f, const struct context *c, struct err *e)
{
	const char *name = NULL;
	for (int i = 0; i < c->argc; i++) {
		const char *word = c->argv[i], *option = takes_value(word);
		const char *value = option ? strchr(word, '=') : NULL;
		value = value ? value + 1 : option && i + 1 < c->argc ? c->argv[++i] : NULL;
		if (option && !value) {
			err_usage(e, "%s: a value is missing", option);
			return NULL;
		}
		if (option) {
			if (set_option(f, option, value, e) < 0)
				return NULL;
		} else if (strcmp(word, "--json") == 0) {
			f->json = true;
		} else if ((word[0] != '-' || strcmp(word, "-") == 0) && !name) {
			name = word;
		} else {
			err_usage(e, "unexpected %s; `pinfold audit --help` tells the usage",
				  show(word).text);
			return NULL;
		}
	}
	if (!name)
		err_usage(e, "the name of a file is missing; `pinfold audit --help` tells the usage");
	return name;
}

int command_audit(const struct context *c)
{
	struct selection f = {.id = NULL};
	struct err e = ERR_INIT;
	const char *name = read_words(&f, c, &e);
	if (!name || read_records(&f, name, &e) < 0) {
		complain("audit: %s", e.msg);
		return EXIT_REFUSED;
	}
	if (f.bad == 0)
		return 0;
	complain("audit: %lu line%s of %s %s no record", f.bad, f.bad == 1 ? "" : "s", name,
		 f.bad == 1 ? "is" : "are");
	return EXIT_REFUSED;
}

/* SARIF 2.1.0, ours or another analyser's. */
#include "pipeline/scan/scan.h"

#include "spec/locate.h"
#include "spec/parse.h"
#include "spec/syntax.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

enum { PATH_BYTES_MAX = 4096, ID_BYTES_MAX = 1024 };

/* What a run says before its results. */
struct run {
	json_t *driver, *extensions;
	json_t *by_id; /* rules of both as members: where one id stands more than once the first one counts */
	json_t *artifacts, *invocations;
	const char *tool;
	bool ours;
};

/* "" where it is no text. */
static const char *text_of(json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));
	return text ? text : "";
}

static json_t *at_index(json_t *array, json_t *index)
{
	return json_is_integer(index) && json_integer_value(index) >= 0
		       ? json_array_get(array, (size_t)json_integer_value(index))
		       : NULL;
}

/* 3.27.5: an id may have more components than its rule's, behind slashes. */
static json_t *rule_by_id(const struct run *r, const char *id)
{
	char name[ID_BYTES_MAX];
	json_t *rule = json_object_get(r->by_id, id);
	if (rule || strlen(id) >= sizeof(name))
		return rule;
	snprintf(name, sizeof(name), "%s", id);
	for (char *slash; !rule && (slash = strrchr(name, '/'));) {
		*slash = '\0';
		rule = json_object_get(r->by_id, name);
	}
	return rule;
}

/* 3.52: a rule is the driver's, or that of the extension that the result names. */
static json_t *rule_of(const struct run *r, json_t *result)
{
	json_t *reference = json_object_get(result, "rule"),
	       *component = json_object_get(reference, "toolComponent"),
	       *extension = json_object_get(component, "index"),
	       *index = json_object_get(result, "ruleIndex");
	json_t *from = extension   ? at_index(r->extensions, extension)
		       : component ? NULL
				   : r->driver;
	json_t *rule = at_index(json_object_get(from, "rules"),
				index ? index : json_object_get(reference, "index"));
	const char *id = text_of(result, "ruleId");
	return rule ? rule : rule_by_id(r, *id ? id : text_of(reference, "id"));
}

static bool add_rules(json_t *by_id, json_t *component)
{
	size_t i;
	json_t *rule;
	bool good = by_id != NULL;
	json_array_foreach(json_object_get(component, "rules"), i, rule)
	{
		const char *id = text_of(rule, "id");
		if (good && !json_object_get(by_id, id))
			good = json_object_set(by_id, id, rule) == 0;
	}
	return good;
}

/* A log may have as many rules as results, and each result asks for its own. NULL: no memory. */
static json_t *index_rules(const struct run *r)
{
	size_t i;
	json_t *extension, *by_id = json_object();
	bool good = add_rules(by_id, r->driver);
	json_array_foreach(r->extensions, i, extension)
	{
		good = good && add_rules(by_id, extension);
	}
	if (good)
		return by_id;
	json_decref(by_id);
	return NULL;
}

/* 3.27.9: kinds that say that there is nothing wrong. */
static bool says_well(const char *kind)
{
	return strcmp(kind, "pass") == 0 || strcmp(kind, "notApplicable") == 0 ||
	       strcmp(kind, "informational") == 0;
}

/* 3.20.5: whoever called the analyser may have made a rule an error. What makes one less is not heeded. */
static bool raised(const struct run *r, const char *id)
{
	size_t i, k;
	json_t *invocation, *one;
	bool found = false;
	json_array_foreach(r->invocations, i, invocation)
	{
		json_array_foreach(json_object_get(invocation, "ruleConfigurationOverrides"), k, one)
		{
			const char *of = text_of(json_object_get(one, "descriptor"), "id"),
				   *level = text_of(json_object_get(one, "configuration"), "level");
			found |= *id && strcmp(of, id) == 0 && strcmp(level, "error") == 0;
		}
	}
	return found;
}

/* 3.27.10: the result's own level, the rule's, or "warning". One that the standard does not know is the worst. */
static bool severity_of(const struct run *r, json_t *result, enum scan_severity *to)
{
	json_t *level = json_object_get(result, "level");
	if (says_well(text_of(result, "kind")))
		return false;
	if (!level)
		level = json_object_get(json_object_get(rule_of(r, result), "defaultConfiguration"),
					"level");
	const char *word = level ? json_string_value(level) : "warning";
	if (word && strcmp(word, "none") == 0)
		return false;
	if (!word || !scan_severity_parse(word, to))
		*to = SCAN_ERROR;
	if (!json_object_get(result, "level") && raised(r, text_of(result, "ruleId")))
		*to = SCAN_ERROR;
	return true;
}

static int hex(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *at = c ? strchr(digits, c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c) : NULL;
	return at ? (int)(at - digits) : -1;
}

/* A relative reference (RFC 3986) as a path; file:// of an absolute one is cut off, whatever host it names. */
static void read_uri(const char *uri, char *to)
{
	size_t used = 0;
	if (strncmp(uri, "file://", 7) == 0)
		uri += 7;
	while (*uri && used + 1 < PATH_BYTES_MAX) {
		if (uri[0] == '%' && hex(uri[1]) >= 0 && hex(uri[2]) >= 0 &&
		    (hex(uri[1]) || hex(uri[2]))) {
			to[used++] = (char)(hex(uri[1]) * 16 + hex(uri[2]));
			uri += 3;
		} else {
			to[used++] = *uri++;
		}
	}
	to[used] = '\0';
	while (strncmp(to, "./", 2) == 0)
		memmove(to, to + 2, strlen(to + 2) + 1);
}

static void take_path(const struct run *r, json_t *place, char *to)
{
	json_t *artifact = json_object_get(place, "artifactLocation");
	json_t *index = json_object_get(artifact, "index");
	const char *uri = text_of(artifact, "uri");
	if (!*uri && json_is_integer(index) && json_integer_value(index) >= 0) {
		json_t *row = json_array_get(r->artifacts, (size_t)json_integer_value(index));
		uri = text_of(json_object_get(row, "location"), "uri");
	}
	read_uri(uri, to);
}

static uint32_t number_of(json_t *region, const char *name)
{
	json_t *n = json_object_get(region, name);
	if (!json_is_integer(n) || json_integer_value(n) < 1 || json_integer_value(n) > INT32_MAX)
		return 0;
	return (uint32_t)json_integer_value(n);
}

/* What is left out has defaults (3.30.6 to 3.30.8). */
static void take_region(json_t *place, struct scan_finding *f)
{
	json_t *region = json_object_get(place, "region");
	f->line = number_of(region, "startLine");
	if (f->line == 0)
		return;
	f->column = number_of(region, "startColumn");
	f->column = f->column ? f->column : 1;
	f->end_line = number_of(region, "endLine");
	f->end_line = f->end_line >= f->line ? f->end_line : f->line;
	f->end_column = number_of(region, "endColumn");
	if (f->end_line == f->line && f->end_column < f->column)
		f->end_column = f->column;
	const char *source = text_of(json_object_get(region, "snippet"), "text");
	f->source = strcspn(source, "\n") == strlen(source) ? source : "";
}

static void take_own(json_t *result, struct scan_finding *f)
{
	json_t *own = json_object_get(result, "properties");
	f->tool = NULL;
	f->detail = text_of(own, "pinfold/detail");
	f->host = text_of(own, "pinfold/host");
	f->sandbox = text_of(own, "pinfold/sandbox");
}

/* A message is a text, or the name of one of the rule's. */
static const char *message_of(const struct run *r, json_t *result)
{
	json_t *message = json_object_get(result, "message"), *rule = rule_of(r, result);
	const char *text = text_of(message, "text"), *id = text_of(message, "id");
	if (!*text && *id)
		text = text_of(json_object_get(json_object_get(rule, "messageStrings"), id), "text");
	if (!*text)
		text = text_of(json_object_get(rule, "shortDescription"), "text");
	return text;
}

static int take_result(const struct run *r, json_t *result, struct scan_findings *to, struct err *e)
{
	char path[PATH_BYTES_MAX] = "";
	struct scan_finding f = {.tool = r->tool, .detail = "", .sandbox = "", .host = "", .source = ""};
	if (!json_is_object(result))
		return err_usage(e, "a result is no object");
	if (!severity_of(r, result, &f.severity))
		return 0;
	json_t *location = json_array_get(json_object_get(result, "locations"), 0);
	json_t *place = json_object_get(location, "physicalLocation");
	take_path(r, place, path);
	if (*path) /* a line of no file is no place */
		take_region(place, &f);
	f.path = path;
	f.id = text_of(result, "ruleId");
	if (!*f.id)
		f.id = text_of(rule_of(r, result), "id");
	if (!*f.id)
		f.id = "(no id)";
	f.message = message_of(r, result);
	if (r->ours)
		take_own(result, &f);
	scan_add(to, &f);
	return 0;
}

/* 3.20.14: one that failed did not see all of what it was to look at. */
static bool says_failed(json_t *run)
{
	size_t i;
	json_t *invocation;
	bool failed = false;
	json_array_foreach(json_object_get(run, "invocations"), i, invocation)
	{
		failed |= json_is_false(json_object_get(invocation, "executionSuccessful"));
	}
	return failed;
}

static int take_run(json_t *run, struct scan_findings *to, struct err *e)
{
	size_t i;
	json_t *tool = json_object_get(run, "tool"), *driver = json_object_get(tool, "driver"),
	       *results = json_object_get(run, "results"), *result;
	struct run r = {.driver = driver,
			.extensions = json_object_get(tool, "extensions"),
			.artifacts = json_object_get(run, "artifacts"),
			.invocations = json_object_get(run, "invocations"),
			.tool = text_of(driver, "name")};
	if (!*r.tool)
		return err_usage(e, "a run without tool.driver.name");
	r.ours = strcmp(r.tool, "pinfold") == 0;
	/* 3.14.23: null, or none, where the analyser did not come to look. */
	if (!json_is_array(results))
		return err_usage(e, "a run of %s without results: it did not look",
				 show(r.tool).text);
	if (says_failed(run))
		return err_usage(e, "%s says of itself that it failed", show(r.tool).text);
	r.by_id = index_rules(&r);
	if (!r.by_id)
		return err_host(e, "out of memory");
	int failed = 0;
	json_array_foreach(results, i, result)
	{
		failed = take_result(&r, result, to, e);
		if (failed)
			break;
	}
	json_decref(r.by_id);
	return failed;
}

static int take_log(json_t *log, struct scan_findings *to, struct err *e)
{
	size_t i;
	json_t *runs = json_object_get(log, "runs"), *run;
	const char *version = text_of(log, "version");
	if (strcmp(version, "2.1.0") != 0)
		return err_usage(e, "its version is %s, and not 2.1.0", show(version).text);
	if (!json_is_array(runs) || json_array_size(runs) == 0)
		return err_usage(e, "it has no runs");
	json_array_foreach(runs, i, run) if (take_run(run, to, e) < 0) return -1;
	return 0;
}

int scan_sarif_read(const char *text, size_t len, struct scan_findings *to, struct err *e)
{
	json_error_t je;
	const struct json_text j = {text, len};
	if (len > SARIF_BYTES_MAX)
		return err_usage(e, "it is larger than %d bytes", SARIF_BYTES_MAX);
	if (locate_too_deep(&j, SARIF_DEPTH_MAX) < len)
		return err_usage(e, "it is nested deeper than %d", SARIF_DEPTH_MAX);
	/* Some analysers begin with a byte order mark. */
	if (len >= 3 && memcmp(text, "\357\273\277", 3) == 0) {
		text += 3;
		len -= 3;
	}
	json_t *log = json_loadb(text, len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &je);
	if (!log)
		return err_usage(e, "line %d, column %d: %s", je.line, je.column, syntax_words(&je));
	const size_t before = to->len;
	const int failed = take_log(log, to, e);
	if (failed)
		to->len = before;
	json_decref(log);
	return failed;
}

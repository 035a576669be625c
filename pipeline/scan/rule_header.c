#include "pipeline/scan/rules.h"

#include "spec/parse.h"

#include <ctype.h>
#include <string.h>

enum { VALUE_MAX = 400 };

/* "; key: value" at text, up to the end of the line. */
struct header_line {
	const char *key, *value;
	size_t key_len, value_len;
};

static bool read_line(const char *text, size_t len, struct header_line *to)
{
	size_t at = 0;
	while (at < len && text[at] == ';')
		at++;
	if (at == 0)
		return false;
	while (at < len && text[at] == ' ')
		at++;
	to->key = text + at;
	while (at < len && (islower((unsigned char)text[at]) || text[at] == '-'))
		at++;
	to->key_len = (size_t)(text + at - to->key);
	if (to->key_len == 0 || at >= len || text[at] != ':')
		return false;
	for (at++; at < len && text[at] == ' ';)
		at++;
	to->value = text + at;
	to->value_len = len - at;
	while (to->value_len > 0 && strchr(" \r", to->value[to->value_len - 1]))
		to->value_len--;
	return true;
}

static bool is_id(const char *id)
{
	if (!islower((unsigned char)*id))
		return false;
	for (const char *c = id; *c; c++)
		if (!islower((unsigned char)*c) && !isdigit((unsigned char)*c) && *c != '.' &&
		    *c != '-')
			return false;
	return true;
}

static bool printable(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f)
			return false;
	return true;
}

struct header {
	const char *id, *severity, *message, *sandbox, *hosts;
};

static int check_value(const char *key, const char *value, struct err *e)
{
	enum scan_severity severity;
	if (strcmp(key, "id") == 0 && (!is_id(value) || strlen(value) > 64))
		return err_usage(e, "an id is of a-z, 0-9, '.' and '-', with a letter in front");
	if (strcmp(key, "severity") == 0 && !scan_severity_parse(value, &severity))
		return err_usage(e, "the severity is note, warning or error");
	if (strcmp(key, "hosts") == 0 && strcmp(value, "yes") != 0 && strcmp(value, "no") != 0)
		return err_usage(e, "\"hosts\" is yes or no");
	return 0;
}

static int take_line(const struct header_line *l, struct arena *a, struct header *h, struct err *e)
{
	static const char *const keys[] = {"id", "severity", "message", "sandbox", "hosts"};
	const char **to[] = {&h->id, &h->severity, &h->message, &h->sandbox, &h->hosts};
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		if (strlen(keys[i]) != l->key_len || memcmp(keys[i], l->key, l->key_len) != 0)
			continue;
		if (*to[i])
			return err_usage(e, "\"%s\" stands twice", keys[i]);
		if (l->value_len == 0 || l->value_len > VALUE_MAX ||
		    !printable(l->value, l->value_len))
			return err_usage(e, "\"%s\" is empty, longer than %d bytes or no plain text",
					 keys[i], VALUE_MAX);
		*to[i] = arena_strndup(a, l->value, l->value_len);
		return check_value(keys[i], *to[i], e);
	}
	return err_usage(e, "the header has no %s: id, severity, message, sandbox, hosts",
			 show(arena_strndup(a, l->key, l->key_len)).text);
}

int rule_header_read(struct span text, size_t *line, struct arena *a, struct rule *to, struct err *e)
{
	struct header h = {.id = NULL};
	struct rule made = {.id = NULL};
	for (*line = 1; text.len > 0 && *text.at == ';'; ++*line) {
		const char *newline = memchr(text.at, '\n', text.len);
		const size_t len = newline ? (size_t)(newline - text.at) : text.len;
		const size_t step = len + (newline != NULL);
		struct header_line l;
		if (read_line(text.at, len, &l) && take_line(&l, a, &h, e) < 0)
			return -1;
		text = (struct span){text.at + step, text.len - step};
	}
	if (!h.id || !h.severity || !h.message || !h.sandbox)
		return err_usage(e, "its header lacks \"%s\"",
				 !h.id	       ? "id"
				 : !h.severity ? "severity"
				 : !h.message  ? "message"
					       : "sandbox");
	(void)scan_severity_parse(h.severity, &made.severity);
	made.id = h.id;
	made.message = h.message;
	made.sandbox = h.sandbox;
	made.hosts = h.hosts && strcmp(h.hosts, "yes") == 0;
	*to = made;
	return 0;
}

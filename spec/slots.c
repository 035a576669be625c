#include "spec/slots.h"

#include "spec/parse.h"

#include <string.h>

static const char usual_name[] = "default";

/* It becomes part of a file's name, and no hidden one's. */
static bool is_name(const char *name)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
	const size_t len = strlen(name);
	return len > 0 && len <= SLOTS_NAME_MAX && strspn(name, letters) == len &&
	       !strchr("_.-", name[0]);
}

int slots_parse(const char *text, struct arena *a, struct slots *to, struct err *e)
{
	struct err ignored = ERR_INIT;
	const char *colon = strchr(text, ':');
	const char *name = colon ? colon + 1 : usual_name;
	uint64_t count = 0;
	if (strcmp(text, "none") == 0) {
		*to = (struct slots){.count = 0, .name = usual_name};
		return 0;
	}
	const char *number = colon ? arena_strndup(a, text, (size_t)(colon - text)) : text;
	if (spec_parse_count(number, &count, &ignored) < 0 || count < 1 || count > SLOTS_COUNT_MAX)
		return err_usage(e,
				 "%s is not N or N:NAME with a number from 1 to %d; none shares nothing",
				 show(text).text, SLOTS_COUNT_MAX);
	if (!is_name(name))
		return err_usage(e,
				 "%s is no name for slots: 1 to %d of A-Z a-z 0-9 _ . - with a letter or digit "
				 "first",
				 show(name).text, SLOTS_NAME_MAX);
	*to = (struct slots){.count = count, .name = arena_strdup(a, name)};
	return 0;
}

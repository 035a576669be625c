/* Any bytes as a configuration file, the host's and the user's. Either they are refused, in words that a terminal
 * may see, or what they make keeps to its ceilings and is a spec that can be written and read. */
#include "spec/keys.h"
#include "spec/spec.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int holds)
{
	if (!holds)
		abort();
}

static void check_refusal(const struct err *e, const char *begin)
{
	must(e->kind == ERR_USAGE);
	must(strncmp(e->msg, begin, strlen(begin)) == 0);
	for (const char *c = e->msg; *c; c++)
		must(*c >= 0x20 && *c < 0x7f);
}

static uint64_t number(const struct spec *s, const struct key *k)
{
	return *(const uint64_t *)((const char *)s + k->offset);
}

static void check_ceilings(const struct spec *s)
{
	const struct spec *most = s->rules.ceilings;
	for (size_t i = 0; most && i < spec_keys_len; i++)
		must(!(most->given >> i & 1) ||
		     number(s, &spec_keys[i]) <= number(most, &spec_keys[i]));
}

static void check_paths(const struct spec *s)
{
	for (size_t i = 0; i < s->rules.sensitive_len; i++)
		must(s->rules.sensitive[i][0] == '/');
	for (int i = 0; i < 2; i++)
		must(!s->rules.input_bases[i] || s->rules.input_bases[i][0] == '/');
}

/* The canonical text has every key, so also the two that a whole spec must have. */
static void check_text(struct spec *s, struct arena *a)
{
	const char *const words[] = {"true"};
	struct err e = ERR_INIT;
	struct spec again;
	must(spec_set_image(s, "@host", &e) == 0 && spec_set_command(s, words, 1, &e) == 0);
	char *text = spec_write_json(s);
	must(text && spec_init(&again, a, &e) == 0);
	must(spec_read_json(&again, "fuzz", text, strlen(text), &e) == 0);
	free(text);
	for (size_t i = 0; i < spec_keys_len; i++) {
		char *value = key_value_text(s, &spec_keys[i]);
		must(value != NULL);
		free(value);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	autoarena a = ARENA_INIT;
	struct config_text text = {ORIGIN_HOST, "fuzz", (const char *)data, size};
	struct err e = ERR_INIT;
	struct spec host, user;
	must(spec_init(&host, &a, &e) == 0 && spec_init(&user, &a, &e) == 0);
	const int as_host = spec_read_config(&host, &text, &e);
	if (as_host < 0)
		check_refusal(&e, "fuzz:");
	/* The user's may say less. */
	text.who = ORIGIN_USER;
	if (spec_read_config(&user, &text, &e) < 0)
		check_refusal(&e, "fuzz:");
	else
		must(as_host == 0 && !user.rules.ceilings && !user.rules.locked && !user.rules.audit);
	if (as_host < 0)
		return 0;
	must(spec_apply_ceilings(&host, &e) == 0); /* nobody else has spoken */
	check_ceilings(&host);
	check_paths(&host);
	check_text(&host, &a);
	return 0;
}

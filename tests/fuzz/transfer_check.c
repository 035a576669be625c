/* Any bytes as CSV, text, PNG and ELF; and as a pattern with a name behind a NUL, held against
 * fnmatch(3). What is refused is refused in words that a terminal may see. */
#include "transfer/check.h"
#include "transfer/glob.h"
#include "transfer/store.h"

#include <fnmatch.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
	if (!holds)
		abort();
}

static void check_refusal(const struct err *e)
{
	must(e->kind == ERR_USAGE && e->msg[0]);
	for (const char *c = e->msg; *c; c++)
		must(*c >= 0x20 && *c < 0x7f);
}

static void check_pattern(const uint8_t *data, size_t size)
{
	char pattern[64], name[64];
	const uint8_t *cut = size ? memchr(data, 0, size) : NULL;
	const size_t len = cut ? (size_t)(cut - data) : 0, rest = cut ? size - len - 1 : 0;
	if (!cut || len >= sizeof(pattern) || rest >= sizeof(name))
		return;
	memcpy(pattern, data, len + 1);
	memcpy(name, cut + 1, rest);
	name[rest] = '\0';
	const bool ours = glob_match(pattern, len, name);
	/* Brackets with classes, slashes and ranges beyond ASCII are where fnmatch() knows more. */
	if (strpbrk(pattern, "[\\/") || strpbrk(name, "/"))
		return;
	must(ours == (fnmatch(pattern, name, FNM_PERIOD | FNM_NOESCAPE) == 0));
}

static void check_stored(const uint8_t *data, size_t size)
{
	char path[4096], name[STORE_NAME_BYTES];
	const size_t len = size < sizeof(path) ? size : sizeof(path) - 1;
	memcpy(path, data, len);
	path[len] = '\0';
	if (!path[0])
		return;
	store_name(name, path);
	must(name[0] && name[0] != '.' && name[0] != '-' && strlen(name) < STORE_NAME_BYTES);
	must(strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-+%~") ==
	     strlen(name));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct checked c = {data, size};
	struct err e = ERR_INIT;
	for (int type = ARTIFACT_CSV; type <= ARTIFACT_ELF; type++)
		if (check_bytes((enum artifact_type)type, &c, NULL, &e) < 0)
			check_refusal(&e);
	check_pattern(data, size);
	check_stored(data, size);
	return 0;
}

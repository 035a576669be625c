#include "spec/value.h"

#include "spec/list.h"
#include "spec/parse.h"
#include "spec/slots.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

/* execve(2) takes no single word longer than MAX_ARG_STRLEN, its NUL included. */
enum { WORD_BYTES_MAX = 128 * 1024 - 1, FD_MAX = 1048575, ENV_ROOM = 16 };

/* ---- numbers ---- */

typedef int parse_fn(const char *text, uint64_t *value, struct err *e);
typedef void format_fn(uint64_t value, char buf[PARSE_TEXT_BYTES]);

static const struct {
	parse_fn *parse;
	format_fn *format;
} numbers[KEY_TYPE_COUNT] = {
	[KEY_SIZE] = {spec_parse_size, spec_format_size},
	[KEY_RATE] = {spec_parse_size, spec_format_size},
	[KEY_TIME] = {spec_parse_time, spec_format_time},
	[KEY_COUNT] = {spec_parse_count, spec_format_count},
	[KEY_CPUS] = {spec_parse_cpus, spec_format_cpus},
	[KEY_UID] = {spec_parse_count, spec_format_count},
};

static int refuse_small(const struct key *k, const char *text, uint64_t value, struct err *e)
{
	char min[PARSE_TEXT_BYTES];
	numbers[k->type].format(k->min, min);
	if (value == 0 && k->min == 1 && !k->no_none)
		return err_usage(e, "%s makes no sense; write none to lift the limit",
				 show(text).text);
	const char *hint = k->type == KEY_SIZE ? " (a number alone is bytes; 64M is mebibytes)" : "";
	return err_usage(e, "%s is too little; the least is %s%s", show(text).text, min, hint);
}

static int parse_number(const struct key *k, const char *text, uint64_t *value, struct err *e)
{
	uint64_t v = 0;
	if (numbers[k->type].parse(text, &v, e) < 0)
		return -1;
	if (v == LIMIT_NONE && k->no_none)
		return err_usage(e, "this limit cannot be lifted");
	if (v < k->min)
		return refuse_small(k, text, v, e);
	if (v > k->max && v != LIMIT_NONE) {
		char max[PARSE_TEXT_BYTES];
		numbers[k->type].format(k->max, max);
		return err_usage(e, "%s is too much; the most is %s", show(text).text, max);
	}
	*value = v;
	return 0;
}

static int set_u64(struct spec *s, const struct key *k, const char *text, struct err *e)
{
	return parse_number(k, text, value_field(s, k), e);
}

static int set_u32(struct spec *s, const struct key *k, const char *text, struct err *e)
{
	uint64_t value = 0;
	if (parse_number(k, text, &value, e) < 0)
		return -1;
	*(uint32_t *)value_field(s, k) = (uint32_t)value;
	return 0;
}

static void write_u64(const struct spec *s, const struct key *k, struct json_writer *w)
{
	uint64_t value = *(const uint64_t *)value_field_of(s, k);
	char text[PARSE_TEXT_BYTES];
	if (!k->initial && value == 0) {
		json_null_value(w, key_member(k));
	} else if (value == LIMIT_NONE || k->type == KEY_TIME || k->type == KEY_CPUS) {
		numbers[k->type].format(value, text);
		json_text(w, key_member(k), text);
	} else {
		json_number(w, key_member(k), (int64_t)value);
	}
}

static void write_u32(const struct spec *s, const struct key *k, struct json_writer *w)
{
	json_number(w, key_member(k), *(const uint32_t *)value_field_of(s, k));
}

static void clear_u64(struct spec *s, const struct key *k)
{
	*(uint64_t *)value_field(s, k) = 0;
}

/* ---- words ---- */

/* Enums have the width of int with gcc and clang on Linux; memcpy keeps their type out of it. */
_Static_assert(sizeof(enum ids_mode) == sizeof(int), "KEY_ENUM copies an int");

static int set_enum(struct spec *s, const struct key *k, const char *text, struct err *e)
{
	for (int i = 0; k->words[i]; i++) {
		if (strcmp(k->words[i], text) == 0) {
			memcpy(value_field(s, k), &i, sizeof(i));
			return 0;
		}
	}
	return err_usage(e, "%s is not one of %s", show(text).text, k->placeholder);
}

static void write_enum(const struct spec *s, const struct key *k, struct json_writer *w)
{
	int i;
	memcpy(&i, value_field_of(s, k), sizeof(i));
	json_text(w, key_member(k), k->words[i]);
}

static int set_bool(struct spec *s, const struct key *k, const char *text, struct err *e)
{
	bool value = strcmp(text, "true") == 0;
	if (!value && strcmp(text, "false") != 0)
		return err_usage(e, "%s is neither true nor false", show(text).text);
	*(bool *)value_field(s, k) = value;
	return 0;
}

static void write_bool(const struct spec *s, const struct key *k, struct json_writer *w)
{
	json_bool(w, key_member(k), *(const bool *)value_field_of(s, k));
}

/* ---- texts ---- */

static bool is_alnum(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

static int check_path(const char *text, struct err *e)
{
	if (!*text)
		return err_usage(e, "a path cannot be empty");
	if (strlen(text) >= PATH_MAX)
		return err_usage(e, "the path is too long (%zu bytes; the kernel takes %d)",
				 strlen(text), PATH_MAX - 1);
	return 0;
}

/* It becomes part of a cgroup's and a scope's name, and may start no option. */
static int check_id(const char *text, struct err *e)
{
	size_t len = strlen(text);
	bool good = is_alnum(text[0]) && len <= 64;
	for (size_t i = 1; good && i < len; i++)
		good = is_alnum(text[i]) || strchr("_.-", text[i]);
	if (good)
		return 0;
	return err_usage(e,
			 "%s is not an id: 1 to 64 of A-Z a-z 0-9 _ . - with a letter or digit first",
			 show(text).text);
}

/* RFC 1123: labels of 1 to 63 letters, digits and inner hyphens; utsname has room for 64. */
static int check_hostname(const char *text, struct err *e)
{
	size_t len = strlen(text);
	bool good = len >= 1 && len <= 64;
	size_t label = 0;
	for (size_t i = 0; good && i <= len; i++) {
		char c = text[i];
		if (c == '.' || c == '\0') {
			good = label >= 1 && label <= 63 && text[i - 1] != '-';
			label = 0;
		} else {
			good = is_alnum(c) || (c == '-' && label > 0);
			label++;
		}
	}
	if (good)
		return 0;
	return err_usage(e,
			 "%s is not a host name (letters, digits, inner hyphens; 64 bytes at most)",
			 show(text).text);
}

static int check_workdir(const char *text, struct err *e)
{
	if (text[0] != '/')
		return err_usage(e, "%s is not an absolute path inside the sandbox", show(text).text);
	return check_path(text, e);
}

/* A path, or fd:N. A file whose name begins with "fd:" is written ./fd:... */
static int check_sink(const char *text, struct err *e)
{
	if (strncmp(text, "fd:", 3) != 0)
		return check_path(text, e);
	struct err ignored;
	uint64_t fd;
	if (spec_parse_count(text + 3, &fd, &ignored) < 0 || fd > FD_MAX)
		return err_usage(e, "%s is not fd:N with the number of an open file",
				 show(text).text);
	return 0;
}

typedef int check_fn(const char *text, struct err *e);

static check_fn *const text_checks[KEY_TYPE_COUNT] = {
	[KEY_ID] = check_id,	 [KEY_HOSTNAME] = check_hostname, [KEY_WORKDIR] = check_workdir,
	[KEY_PATH] = check_path, [KEY_SINK] = check_sink,
};

static int set_text(struct spec *s, const struct key *k, const char *text, struct err *e)
{
	if (text_checks[k->type](text, e) < 0)
		return -1;
	*(const char **)value_field(s, k) = arena_strdup(s->arena, text);
	return 0;
}

static void write_text(const struct spec *s, const struct key *k, struct json_writer *w)
{
	const char *text = *(const char *const *)value_field_of(s, k);
	if (text)
		json_text(w, key_member(k), text);
	else
		json_null_value(w, key_member(k));
}

static void clear_text(struct spec *s, const struct key *k)
{
	*(const char **)value_field(s, k) = NULL;
}

/* ---- stdin ---- */

static int set_stdin(struct spec *s, const struct key *k, const char *text, struct err *e)
{
	(void)k;
	enum stdin_kind kind = STDIN_FILE;
	if (strcmp(text, "null") == 0)
		kind = STDIN_NULL;
	else if (strcmp(text, "-") == 0)
		kind = STDIN_CALLER;
	else if (check_path(text, e) < 0)
		return -1;
	s->stdin_kind = kind;
	s->stdin_file = kind == STDIN_FILE ? arena_strdup(s->arena, text) : NULL;
	return 0;
}

static void write_stdin(const struct spec *s, const struct key *k, struct json_writer *w)
{
	if (s->stdin_kind == STDIN_FILE)
		json_text(w, key_member(k), s->stdin_file);
	else
		json_text(w, key_member(k), s->stdin_kind == STDIN_CALLER ? "-" : "null");
}

static void clear_stdin(struct spec *s, const struct key *k)
{
	(void)k;
	s->stdin_kind = STDIN_NULL;
	s->stdin_file = NULL;
}

/* ---- env: kept sorted by name, each name once ---- */

int value_check_word(const char *what, const char *text, struct err *e)
{
	size_t len = strlen(text);
	if (len > WORD_BYTES_MAX)
		return err_usage(e, "%s: argument too long (%zu bytes; the kernel takes %d)", what,
				 len, WORD_BYTES_MAX);
	return 0;
}

static size_t name_len(const char *text)
{
	return strcspn(text, "=");
}

static int check_env(const char *text, struct err *e)
{
	size_t len = name_len(text);
	if (text[len] != '=')
		return err_usage(e, "%s is not NAME=VALUE (nothing is taken over from the caller's)",
				 show(text).text);
	bool good = len > 0 && !(text[0] >= '0' && text[0] <= '9');
	for (size_t i = 0; good && i < len; i++)
		good = is_alnum(text[i]) || text[i] == '_';
	if (!good)
		return err_usage(e, "%s: a name has letters, digits and _, and no digit first",
				 show(text).text);
	return value_check_word("the variable", text, e);
}

static int compare_names(const char *a, const char *b)
{
	size_t la = name_len(a), lb = name_len(b);
	int order = memcmp(a, b, la < lb ? la : lb);
	if (order)
		return order;
	return (la > lb) - (la < lb);
}

/* The first place whose name is not smaller. */
static size_t env_place(const struct spec *s, const char *text)
{
	size_t low = 0, high = s->env_len;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (compare_names(s->env[middle], text) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Room doubles at the powers of two from ENV_ROOM on; one more place is for the NULL. */
static void env_grow(struct spec *s)
{
	size_t len = s->env_len;
	if (len < ENV_ROOM || (len & (len - 1)))
		return;
	const char **env = arena_alloc(s->arena, (len * 2 + 1) * sizeof(*env));
	memcpy(env, s->env, len * sizeof(*env));
	s->env = env;
}

static void put_env(struct spec *s, const char *text)
{
	size_t at = env_place(s, text);
	bool replace = at < s->env_len && compare_names(s->env[at], text) == 0;
	const char *copy = arena_strdup(s->arena, text);
	if (!replace) {
		env_grow(s);
		memmove(&s->env[at + 1], &s->env[at], (s->env_len - at) * sizeof(*s->env));
		s->env[++s->env_len] = NULL;
	}
	s->env[at] = copy;
}

static int set_env(struct spec *s, const struct key *k, const char *text, struct err *e)
{
	(void)k;
	if (check_env(text, e) < 0)
		return -1;
	put_env(s, text);
	return 0;
}

int value_add_env(struct spec *s, const char *text, struct err *e)
{
	const size_t len = name_len(text);
	if (len == 0 || text[len] != '=')
		return err_usage(e, "%s is not NAME=VALUE", show(text).text);
	if (value_check_word("the variable", text, e) < 0)
		return -1;
	put_env(s, text);
	return 0;
}

static void write_env(const struct spec *s, const struct key *k, struct json_writer *w)
{
	json_begin(w, key_member(k), '[');
	for (size_t i = 0; i < s->env_len; i++)
		json_text(w, NULL, s->env[i]);
	json_end(w, '[');
}

static void clear_env(struct spec *s, const struct key *k)
{
	(void)k;
	s->env = arena_alloc(s->arena, (ENV_ROOM + 1) * sizeof(*s->env));
	s->env_len = 0;
}

/* ---- slots ---- */

static int set_slots(struct spec *s, const struct key *k, const char *text, struct err *e)
{
	return slots_parse(text, s->arena, value_field(s, k), e);
}

static void write_slots(const struct spec *s, const struct key *k, struct json_writer *w)
{
	const struct slots *slots = value_field_of(s, k);
	char text[PARSE_TEXT_BYTES + SLOTS_NAME_MAX + 2];
	snprintf(text, sizeof(text), "%llu:%s", (unsigned long long)slots->count, slots->name);
	json_text(w, key_member(k), slots->count ? text : "none");
}

/* ---- the types ---- */

static const struct {
	int (*set)(struct spec *s, const struct key *k, const char *text, struct err *e);
	void (*write)(const struct spec *s, const struct key *k, struct json_writer *w);
	void (*clear)(struct spec *s, const struct key *k);
} types[KEY_TYPE_COUNT] = {
	[KEY_SIZE] = {set_u64, write_u64, clear_u64},
	[KEY_RATE] = {set_u64, write_u64, clear_u64},
	[KEY_TIME] = {set_u64, write_u64, clear_u64},
	[KEY_COUNT] = {set_u64, write_u64, clear_u64},
	[KEY_CPUS] = {set_u64, write_u64, clear_u64},
	[KEY_UID] = {set_u32, write_u32, NULL},
	[KEY_ENUM] = {set_enum, write_enum, NULL},
	[KEY_BOOL] = {set_bool, write_bool, NULL},
	[KEY_ID] = {set_text, write_text, clear_text},
	[KEY_HOSTNAME] = {set_text, write_text, clear_text},
	[KEY_WORKDIR] = {set_text, write_text, clear_text},
	[KEY_PATH] = {set_text, write_text, clear_text},
	[KEY_SINK] = {set_text, write_text, clear_text},
	[KEY_STDIN] = {set_stdin, write_stdin, clear_stdin},
	[KEY_ENV] = {set_env, write_env, clear_env},
	[KEY_REQUIRE] = {list_set_require, list_write_require, list_clear_require},
	[KEY_ALLOW] = {list_set_allow, list_write_allow, list_clear_allow},
	[KEY_INPUT] = {list_set_input, list_write_input, list_clear_input},
	[KEY_INPUT_RO] = {list_set_input, list_write_input, list_clear_input},
	[KEY_ARTIFACT] = {list_set_artifact, list_write_artifact, list_clear_artifact},
	[KEY_SLOTS] = {set_slots, write_slots, NULL},
};

bool spec_given(const struct spec *s, size_t offset)
{
	for (size_t i = 0; i < spec_keys_len; i++) {
		if (spec_keys[i].offset == offset)
			return s->given & 1ULL << i;
	}
	return false;
}

/* The scratch is memory: where only the memory is given, the default shrinks with it. */
static void settle_scratch(struct spec *s)
{
	struct err impossible;
	uint64_t usual = 0;
	if (spec_given(s, offsetof(struct spec, limits.scratch_bytes)))
		return;
	spec_parse_size(key_find("scratch")->initial, &usual, &impossible);
	s->limits.scratch_bytes = usual < s->limits.memory_bytes ? usual : s->limits.memory_bytes;
}

/* A terminal that nobody types on would be an odd default. */
static void settle_stdin(struct spec *s)
{
	if (!spec_given(s, offsetof(struct spec, stdin_kind)))
		s->stdin_kind = s->tty ? STDIN_CALLER : STDIN_NULL;
}

static void settle(struct spec *s, const struct key *k)
{
	if (k->offset == offsetof(struct spec, limits.memory_bytes))
		settle_scratch(s);
	else if (k->offset == offsetof(struct spec, tty))
		settle_stdin(s);
}

static bool adds_up(const struct key *k)
{
	return k->type == KEY_ENV || k->type == KEY_REQUIRE || k->type == KEY_ALLOW ||
	       k->type == KEY_INPUT || k->type == KEY_INPUT_RO || k->type == KEY_ARTIFACT;
}

static void mark_given(struct spec *s, const struct key *k)
{
	s->given |= 1ULL << (k - spec_keys);
	uint8_t *sayers = &s->sayers[k - spec_keys];
	if (!adds_up(k) || *sayers == 1 << ORIGIN_DEFAULT)
		*sayers = 0;
	*sayers |= (uint8_t)(1 << s->speaking);
	s->origins[k - spec_keys] = (uint8_t)s->speaking;
	settle(s, k);
}

int value_set(struct spec *s, const struct key *k, const char *text, struct err *e)
{
	if (s->rules.locked >> (k - spec_keys) & 1 && s->speaking != ORIGIN_HOST)
		return err_usage(e, "%s says this for every run; leave it out", s->rules.host_file);
	if (types[k->type].set(s, k, text, e) < 0)
		return -1;
	mark_given(s, k);
	return 0;
}

void value_clear(struct spec *s, const struct key *k)
{
	if (types[k->type].clear)
		types[k->type].clear(s, k);
	s->sayers[k - spec_keys] = 0;
	mark_given(s, k);
}

void value_lower(struct spec *s, const struct key *k, uint64_t value)
{
	*(uint64_t *)value_field(s, k) = value;
	settle(s, k);
}

void value_format(const struct key *k, uint64_t value, char *buf)
{
	numbers[k->type].format(value, buf);
}

char *key_value_text(const struct spec *s, const struct key *k)
{
	char number[PARSE_TEXT_BYTES];
	struct json_writer w;
	if (numbers[k->type].format && k->type != KEY_UID &&
	    (k->initial || *(const uint64_t *)value_field_of(s, k))) {
		numbers[k->type].format(*(const uint64_t *)value_field_of(s, k), number);
		return strdup(number);
	}
	json_open(&w, false);
	json_begin(&w, NULL, '{');
	value_write(s, k, &w);
	json_end(&w, '{');
	char *text = json_finish(&w, false);
	if (!text)
		return NULL;
	/* {"member":VALUE} */
	const size_t before = strlen(key_member(k)) + strlen("{\"\":"),
		     len = strlen(text) - before - 1;
	memmove(text, text + before, len);
	text[len] = '\0';
	return text;
}

void value_write(const struct spec *s, const struct key *k, struct json_writer *w)
{
	types[k->type].write(s, k, w);
}

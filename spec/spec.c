#include "spec/spec.h"

#include "spec/keys.h"
#include "spec/parse.h"
#include "spec/value.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* execve(2) takes at most three quarters of _STK_LIM (8 MiB) of words, whatever RLIMIT_STACK is. */
enum { WORDS_BYTES_MAX = 6 * 1024 * 1024 };

int spec_init(struct spec *s, struct arena *a, struct err *e)
{
	struct spec fresh = {.arena = a};
	for (size_t i = 0; i < spec_keys_len; i++) {
		const struct key *k = &spec_keys[i];
		value_clear(&fresh, k);
		if (k->initial && value_set(&fresh, k, k->initial, e) < 0)
			return err_bug(e, "the default of %s is refused", k->name);
	}
	fresh.given = 0;
	memset(fresh.origins, ORIGIN_DEFAULT, sizeof(fresh.origins));
	memset(fresh.sayers, 1 << ORIGIN_DEFAULT, sizeof(fresh.sayers));
	*s = fresh;
	return 0;
}

int spec_set(struct spec *s, const char *key, const char *value, struct err *e)
{
	const struct key *k = key_find(key);
	const char *near = k ? NULL : key_nearest(key);
	if (!k && near)
		return err_usage(e, "unknown key %s; did you mean %s?", show(key).text, near);
	if (!k)
		return err_usage(e, "unknown key %s", show(key).text);
	if (value_set(s, k, value, e) < 0)
		return err_wrap(e, "%s", k->name);
	return 0;
}

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

int spec_set_image(struct spec *s, const char *image, struct err *e)
{
	enum image_kind kind = IMAGE_NAME;
	if (!*image)
		return err_usage(e, "image: the name is empty");
	if (strlen(image) >= PATH_MAX)
		return err_usage(e, "image: the path is too long (%zu bytes; the kernel takes %d)",
				 strlen(image), PATH_MAX - 1);
	if (begins(image, "/") || begins(image, "./") || begins(image, "../") ||
	    strcmp(image, ".") == 0 || strcmp(image, "..") == 0)
		kind = IMAGE_PATH;
	else if (strcmp(image, "@host") == 0)
		kind = IMAGE_HOST;
	else if (image[0] == '@')
		return err_usage(e, "image: %s is unknown; the one name with @ is @host",
				 show(image).text);
	s->image = image;
	s->image_kind = kind;
	return 0;
}

int spec_set_command(struct spec *s, const char *const *words, size_t len, struct err *e)
{
	if (len == 0)
		return err_usage(e, "command: it has no word");
	if (!*words[0])
		return err_usage(e, "command: its first word is empty");
	for (size_t i = 0; i < len; i++) {
		if (value_check_word("command", words[i], e) < 0)
			return -1;
	}
	const char **copy = arena_alloc(s->arena, (len + 1) * sizeof(*copy));
	memcpy(copy, words, len * sizeof(*copy));
	s->command = copy;
	s->command_len = len;
	return 0;
}

static int check_image_and_command(const struct spec *s, struct err *e)
{
	if (s->image_kind == IMAGE_NONE)
		return err_usage(e, "no image: give a folder (./rootfs), a stored image's name, @host, or \"image\" "
				    "in the spec");
	if (s->command_len == 0)
		return err_usage(e,
				 "no command: give it behind the image, or \"command\" in the spec");
	size_t bytes = 0;
	for (size_t i = 0; i < s->command_len; i++)
		bytes += strlen(s->command[i]) + 1 + sizeof(char *);
	for (size_t i = 0; i < s->env_len; i++)
		bytes += strlen(s->env[i]) + 1 + sizeof(char *);
	if (bytes > WORDS_BYTES_MAX)
		return err_usage(e, "command and env are too long (%zu bytes; the kernel takes %d)",
				 bytes, WORDS_BYTES_MAX);
	return 0;
}

/* The scratch is a tmpfs, so it is memory: what cannot fit must not be promised. */
static int check_scratch(const struct spec *s, struct err *e)
{
	if (s->limits.scratch_bytes <= s->limits.memory_bytes)
		return 0;
	char scratch[PARSE_TEXT_BYTES], memory[PARSE_TEXT_BYTES];
	spec_format_size(s->limits.scratch_bytes, scratch);
	spec_format_size(s->limits.memory_bytes, memory);
	return err_usage(e,
			 "scratch %s is larger than memory %s, which it is made of; lower the one or "
			 "raise the other",
			 scratch, memory);
}

/* A run that could never have its turn is refused now. */
static int check_slots(const struct spec *s, struct err *e)
{
	char memory[PARSE_TEXT_BYTES], most[PARSE_TEXT_BYTES];
	const enum origin queue = (enum origin)s->origins[key_find("queue") - spec_keys];
	if (s->queue_ns != LIMIT_NONE && queue >= ORIGIN_FILE &&
	    s->slots_memory_bytes == LIMIT_NONE && !spec_given(s, offsetof(struct spec, slots)))
		return err_usage(e, "queue is a time to wait for a slot, and there is neither slots nor "
				    "slots-memory");
	if (s->slots_memory_bytes == LIMIT_NONE || s->limits.memory_bytes <= s->slots_memory_bytes)
		return 0;
	spec_format_size(s->limits.memory_bytes, memory);
	spec_format_size(s->slots_memory_bytes, most);
	return err_usage(e, "memory %s is more than slots-memory %s, so there would never be room",
			 memory, most);
}

/* That no file is named for two things is commands/files.c's to see: it takes looking at them. */
static int check_streams(const struct spec *s, struct err *e)
{
	if (s->tty && s->stdin_kind == STDIN_FILE)
		return err_usage(e,
				 "tty and stdin FILE exclude each other: a terminal reads the caller's");
	if (s->tty && s->stderr_file)
		return err_usage(e,
				 "tty and stderr FILE exclude each other: a terminal has one output");
	return 0;
}

static int check_transfer(const struct spec *s, struct err *e)
{
	if (s->artifacts.len > 0 && !s->artifacts_dir)
		return err_usage(e, "artifact: nothing says where to; give artifacts-dir");
	if (s->artifacts.len == 0 && s->artifacts_dir)
		return err_usage(e, "artifacts-dir: nothing is to be kept there; give artifact");
	return input_lists_check(&s->inputs, e);
}

int spec_check(const struct spec *s, struct err *e)
{
	if (check_transfer(s, e) < 0 || check_image_and_command(s, e) < 0 ||
	    check_scratch(s, e) < 0 || check_streams(s, e) < 0 || check_slots(s, e) < 0)
		return -1;
	return 0;
}

static void write_command(const struct spec *s, struct json_writer *w)
{
	json_begin(w, "command", '[');
	for (size_t i = 0; i < s->command_len; i++)
		json_text(w, NULL, s->command[i]);
	json_end(w, '[');
}

static void write_image(const struct spec *s, struct json_writer *w)
{
	if (s->image)
		json_text(w, "image", s->image);
	else
		json_null_value(w, "image");
}

/* The members in the order of their names; two of them are no rows of the table. */
struct written {
	const char *object; /* "" none */
	const char *name;
	const struct key *k;
};

/* An object stands where its name does. */
static int by_name(const void *a, const void *b)
{
	const struct written *x = a, *y = b;
	int order = strcmp(*x->object ? x->object : x->name, *y->object ? y->object : y->name);
	return order ? order : strcmp(x->name, y->name);
}

static size_t list_written(struct written *all)
{
	size_t len = 0;
	for (; len < spec_keys_len; len++) {
		const struct key *k = &spec_keys[len];
		all[len] = (struct written){k->object ? k->object : "", key_member(k), k};
	}
	all[len++] = (struct written){"", "command", NULL};
	all[len++] = (struct written){"", "image", NULL};
	qsort(all, len, sizeof(all[0]), by_name);
	return len;
}

static void write_member(const struct spec *s, const struct written *m, struct json_writer *w)
{
	if (m->k)
		value_write(s, m->k, w);
	else
		(strcmp(m->name, "image") == 0 ? write_image : write_command)(s, w);
}

static bool is_said(const struct spec *s, const struct written *m)
{
	if (m->k)
		return s->given >> (m->k - spec_keys) & 1;
	return strcmp(m->name, "image") == 0 ? s->image != NULL : s->command_len > 0;
}

static char *write_spec(const struct spec *s, bool whole)
{
	struct written all[64];
	size_t len = list_written(all);
	const char *object = "";
	struct json_writer w;
	json_open(&w, false);
	json_begin(&w, NULL, '{');
	for (size_t i = 0; i < len; i++) {
		if (!whole && !is_said(s, &all[i]))
			continue;
		bool other = strcmp(all[i].object, object) != 0;
		if (other && *object)
			json_end(&w, '{');
		if (other && *all[i].object)
			json_begin(&w, all[i].object, '{');
		object = all[i].object;
		write_member(s, &all[i], &w);
	}
	if (*object)
		json_end(&w, '{');
	json_end(&w, '{');
	return json_finish(&w, false);
}

char *spec_write_json(const struct spec *s)
{
	return write_spec(s, true);
}

char *spec_write_given(const struct spec *s)
{
	return write_spec(s, false);
}

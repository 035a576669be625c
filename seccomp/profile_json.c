/* The JSON of a profile. Whatever is not understood is refused: it might be what makes the profile
 * tight. Two formats in one, told apart by their keys: the OCI runtime specification's, and
 * Docker's with names in "archMap", "includes" and "excludes". */
#include "seccomp/profile_reader.h"
#include "spec/syntax.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ERRNO_LIMIT = 4095, NAME_MAX_LEN = 63 };

/* ---- actions ---- */

static const struct {
	const char *name;
	uint32_t action;
} actions[] = {
	{"SCMP_ACT_KILL", SCMP_ACT_KILL_THREAD},
	{"SCMP_ACT_KILL_THREAD", SCMP_ACT_KILL_THREAD},
	{"SCMP_ACT_KILL_PROCESS", SCMP_ACT_KILL_PROCESS},
	{"SCMP_ACT_TRAP", SCMP_ACT_TRAP},
	{"SCMP_ACT_ERRNO", SCMP_ACT_ERRNO(0)},
	{"SCMP_ACT_LOG", SCMP_ACT_LOG},
	{"SCMP_ACT_ALLOW", SCMP_ACT_ALLOW},
};

static int find_action(struct reader *rd, const char *key, const char *name, uint32_t *action)
{
	if (!name)
		return reader_refuse(rd, "%s is missing", key);
	for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++) {
		if (strcmp(actions[i].name, name) == 0) {
			*action = actions[i].action;
			return 0;
		}
	}
	if (strcmp(name, "SCMP_ACT_NOTIFY") == 0)
		return reader_refuse_key(rd, key,
					 "SCMP_ACT_NOTIFY: the one listener of a run is pinfold's own");
	/* A tracer inside would decide, and it would be the program's. */
	if (strcmp(name, "SCMP_ACT_TRACE") == 0)
		return reader_refuse_key(rd, key, "SCMP_ACT_TRACE: there is no tracer to ask");
	return reader_refuse_key(rd, key, "no such action");
}

static int errno_by_name(const char *name)
{
	for (int i = 1; i <= 133; i++) {
		const char *known = strerrorname_np(i);
		if (known && strcmp(known, name) == 0)
			return i;
	}
	return -1;
}

struct action_keys {
	const char *action, *number, *name;
};
static const struct action_keys default_keys = {"defaultAction", "defaultErrnoRet", "defaultErrno"};
static const struct action_keys row_keys = {"action", "errnoRet", "errno"};

static int read_action(struct reader *rd, json_t *object, const struct action_keys *keys,
		       uint32_t *action)
{
	const char *text, *errno_text;
	int64_t number;
	uint32_t found = 0;
	if (reader_get_text(rd, object, keys->action, &text) < 0 ||
	    find_action(rd, keys->action, text, &found) < 0 ||
	    reader_get_number(rd, object, keys->number, &number) < 0 ||
	    reader_get_text(rd, object, keys->name, &errno_text) < 0)
		return -1;
	if (errno_text && *errno_text) {
		int named = errno_by_name(errno_text);
		if (named < 0)
			return reader_refuse_key(rd, keys->name, "no such errno");
		if (number >= 0 && number != named)
			return reader_refuse_key(rd, keys->name,
						 "another errno than the number beside it");
		number = named;
	}
	if (number > ERRNO_LIMIT)
		return reader_refuse_key(rd, keys->number, "not an errno");
	if (number >= 0 && found != SCMP_ACT_ERRNO(0))
		return reader_refuse_key(rd, keys->action, "only SCMP_ACT_ERRNO has an errno");
	*action = found == SCMP_ACT_ERRNO(0) ? SCMP_ACT_ERRNO(number >= 0 ? (uint32_t)number : EPERM)
					     : found;
	return 0;
}

/* ---- conditions ---- */

static const struct {
	const char *name;
	enum scmp_compare op;
} compares[] = {
	{"SCMP_CMP_NE", SCMP_CMP_NE},
	{"SCMP_CMP_LT", SCMP_CMP_LT},
	{"SCMP_CMP_LE", SCMP_CMP_LE},
	{"SCMP_CMP_EQ", SCMP_CMP_EQ},
	{"SCMP_CMP_GE", SCMP_CMP_GE},
	{"SCMP_CMP_GT", SCMP_CMP_GT},
	{"SCMP_CMP_MASKED_EQ", SCMP_CMP_MASKED_EQ},
};

static int read_compare(struct reader *rd, json_t *object, enum scmp_compare *op)
{
	const char *text;
	if (reader_get_text(rd, object, "op", &text) < 0)
		return -1;
	for (size_t i = 0; text && i < sizeof(compares) / sizeof(compares[0]); i++) {
		if (strcmp(compares[i].name, text) == 0) {
			*op = compares[i].op;
			return 0;
		}
	}
	return text ? reader_refuse_key(rd, "op", "no such comparison")
		    : reader_refuse(rd, "op is missing");
}

static int read_arg(struct reader *rd, json_t *object, struct profile_row *row)
{
	static const char *const known[] = {"index", "value", "valueTwo", "op", NULL};
	int64_t index, value, two;
	enum scmp_compare op = SCMP_CMP_EQ;
	if (!json_is_object(object))
		return reader_refuse(rd, "an object belongs there");
	if (reader_check_keys(rd, object, known) < 0 ||
	    reader_get_number(rd, object, "index", &index) < 0 ||
	    reader_get_number(rd, object, "value", &value) < 0 ||
	    reader_get_number(rd, object, "valueTwo", &two) < 0 || read_compare(rd, object, &op) < 0)
		return -1;
	if (index < 0 || index > 5)
		return reader_refuse(rd, "index: a number from 0 to 5 belongs there");
	if (value < 0)
		return reader_refuse(rd, "value is missing");
	for (unsigned int i = 0; i < row->args_len; i++) {
		if (row->args[i].arg == (unsigned int)index)
			return reader_refuse(rd,
					     "a second condition on argument %d: some runtimes take one of them for "
					     "enough; write two rows",
					     (int)index);
	}
	if (op == SCMP_CMP_MASKED_EQ && ((two < 0 ? 0 : two) & ~value))
		return reader_refuse(rd,
				     "valueTwo has bits that the mask (value) has not: it never holds");
	row->args[row->args_len++] = (struct scmp_arg_cmp){
		.arg = (unsigned int)index,
		.op = op,
		.datum_a = (uint64_t)value,
		.datum_b = two < 0 ? 0 : (uint64_t)two,
	};
	return 0;
}

static int read_args(struct reader *rd, json_t *object, struct profile_row *row)
{
	json_t *array, *value;
	size_t i;
	if (reader_get(rd, object, "args", JSON_ARRAY, &array) < 0)
		return -1;
	reader_enter_key(rd, "args");
	json_array_foreach(array, i, value)
	{
		reader_enter_element(rd, i);
		if (read_arg(rd, value, row) < 0)
			return -1;
		reader_leave(rd);
	}
	reader_leave(rd);
	return 0;
}

/* ---- includes and excludes ---- */

/* Docker's names of architectures. */
static const char *docker_arch(uint32_t arch)
{
	return arch == SCMP_ARCH_X86_64 ? "amd64" : arch == SCMP_ARCH_AARCH64 ? "arm64" : "";
}

static bool parse_version(const char *text, long *major, long *minor, bool release)
{
	char *end;
	*major = strtol(text, &end, 10);
	if (end == text || *end != '.' || *major < 0)
		return false;
	const char *second = end + 1;
	*minor = strtol(second, &end, 10);
	return end != second && *minor >= 0 && (release || *end == '\0');
}

static int kernel_is_at_least(struct reader *rd, const char *wanted, bool *yes)
{
	long major, minor, host_major, host_minor;
	if (!parse_version(wanted, &major, &minor, false))
		return reader_refuse_key(rd, "minKernel", "a version like 5.14 belongs there");
	if (!parse_version(rd->context->kernel, &host_major, &host_minor, true))
		return reader_refuse_key(rd, "minKernel", "this kernel's version cannot be told");
	*yes = host_major > major || (host_major == major && host_minor >= minor);
	return 0;
}

struct filter_facts {
	size_t caps, arches;
	bool native;	     /* this machine is among arches */
	bool kernel, recent; /* there is a minKernel, and we have it */
};

static int count_text(struct reader *rd, const char *text, void *ctx)
{
	(void)rd;
	(void)text;
	++*(size_t *)ctx;
	return 0;
}

static int see_arch(struct reader *rd, const char *text, void *ctx)
{
	struct filter_facts *facts = ctx;
	facts->arches++;
	facts->native = facts->native || strcmp(text, docker_arch(rd->context->arch)) == 0;
	return 0;
}

static int read_facts(struct reader *rd, json_t *row, const char *key, struct filter_facts *facts)
{
	static const char *const known[] = {"caps", "arches", "minKernel", NULL};
	json_t *object;
	const char *version;
	if (reader_get(rd, row, key, JSON_OBJECT, &object) < 0)
		return -1;
	*facts = (struct filter_facts){0};
	if (!object)
		return 0;
	reader_enter_key(rd, key);
	if (reader_check_keys(rd, object, known) < 0 ||
	    reader_for_texts(rd, object, "caps", count_text, &facts->caps) < 0 ||
	    reader_for_texts(rd, object, "arches", see_arch, facts) < 0 ||
	    reader_get_text(rd, object, "minKernel", &version) < 0)
		return -1;
	facts->kernel = version && *version;
	if (facts->kernel && kernel_is_at_least(rd, version, &facts->recent) < 0)
		return -1;
	reader_leave(rd);
	return 0;
}

/* The program has no capability, so that a row for those that have one is not for it. */
static int row_applies(struct reader *rd, json_t *row, bool *applies)
{
	struct filter_facts in, out;
	if (read_facts(rd, row, "includes", &in) < 0 || read_facts(rd, row, "excludes", &out) < 0)
		return -1;
	*applies = in.caps == 0 && (in.arches == 0 || in.native) && (!in.kernel || in.recent) &&
		   !out.native && !(out.kernel && out.recent);
	return 0;
}

/* ---- rows ---- */

struct names {
	const char **list; /* NULL: only count */
	size_t len;
};

static int take_name(struct reader *rd, const char *name, void *ctx)
{
	struct names *names = ctx;
	size_t len = strlen(name);
	if (len == 0 || len > NAME_MAX_LEN ||
	    strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") != len)
		return reader_refuse(rd, "not the name of a system call");
	if (names->list)
		names->list[names->len] = arena_strdup(rd->context->arena, name);
	names->len++;
	return 0;
}

static int read_names(struct reader *rd, json_t *object, struct profile_row *row)
{
	const char *single;
	struct names names = {.list = NULL};
	if (reader_get_text(rd, object, "name", &single) < 0 ||
	    reader_for_texts(rd, object, "names", take_name, &names) < 0)
		return -1;
	if (single && *single && names.len > 0)
		return reader_refuse_key(rd, "name", "there are names as well");
	if (single && *single) {
		reader_enter_key(rd, "name");
		if (take_name(rd, single, &names) < 0)
			return -1;
		reader_leave(rd);
	} else if (names.len == 0) {
		return reader_refuse(rd, "a row without names");
	}
	rd->names_len += names.len;
	if (rd->names_len > PROFILE_NAMES_MAX)
		return reader_refuse(rd, "more than %d names", PROFILE_NAMES_MAX);
	names = (struct names){
		.list = arena_alloc(rd->context->arena, names.len * sizeof(*names.list))};
	int got = single && *single ? take_name(rd, single, &names)
				    : reader_for_texts(rd, object, "names", take_name, &names);
	row->names = names.list;
	row->names_len = names.len;
	return got;
}

static int read_row(struct reader *rd, json_t *object, size_t index)
{
	static const char *const known[] = {"names", "name",	"action",   "errnoRet", "errno",
					    "args",  "comment", "includes", "excludes", NULL};
	struct profile_row row = {.index = index};
	const char *comment;
	bool applies = false;
	if (!json_is_object(object))
		return reader_refuse(rd, "an object belongs there");
	if (reader_check_keys(rd, object, known) < 0 ||
	    reader_get_text(rd, object, "comment", &comment) < 0 ||
	    read_names(rd, object, &row) < 0 || read_action(rd, object, &row_keys, &row.action) < 0 ||
	    read_args(rd, object, &row) < 0 || row_applies(rd, object, &applies) < 0)
		return -1;
	if (applies)
		rd->p->rows[rd->p->rows_len++] = row;
	return 0;
}

static int read_rows(struct reader *rd, json_t *root)
{
	json_t *array, *value;
	size_t i;
	if (reader_get(rd, root, "syscalls", JSON_ARRAY, &array) < 0)
		return -1;
	/* every row has a name */
	if (json_array_size(array) > PROFILE_NAMES_MAX)
		return reader_refuse_key(rd, "syscalls", "too many rows");
	rd->p->rows = arena_alloc(rd->context->arena,
				  (json_array_size(array) + 1) * sizeof(*rd->p->rows));
	reader_enter_key(rd, "syscalls");
	json_array_foreach(array, i, value)
	{
		reader_enter_element(rd, i);
		if (read_row(rd, value, i) < 0)
			return -1;
		reader_leave(rd);
	}
	reader_leave(rd);
	return 0;
}

/* ---- architectures ---- */

struct arch_facts {
	size_t others;
	bool native;
};

static const char *oci_arch(uint32_t arch)
{
	return arch == SCMP_ARCH_X86_64	   ? "SCMP_ARCH_X86_64"
	       : arch == SCMP_ARCH_AARCH64 ? "SCMP_ARCH_AARCH64"
					   : "";
}

static int see_oci_arch(struct reader *rd, const char *text, void *ctx)
{
	struct arch_facts *facts = ctx;
	if (strncmp(text, "SCMP_ARCH_", 10) != 0)
		return reader_refuse(rd, "not an architecture");
	if (strcmp(text, oci_arch(rd->context->arch)) == 0)
		facts->native = true;
	else
		facts->others++;
	return 0;
}

static int read_arch_map_row(struct reader *rd, json_t *object, struct arch_facts *facts)
{
	static const char *const known[] = {"architecture", "subArchitectures", NULL};
	const char *arch;
	size_t subs = 0;
	if (!json_is_object(object))
		return reader_refuse(rd, "an object belongs there");
	if (reader_check_keys(rd, object, known) < 0 ||
	    reader_get_text(rd, object, "architecture", &arch) < 0 ||
	    reader_for_texts(rd, object, "subArchitectures", count_text, &subs) < 0)
		return -1;
	if (!arch)
		return reader_refuse(rd, "architecture is missing");
	if (strcmp(arch, oci_arch(rd->context->arch)) == 0) {
		facts->native = true;
		facts->others += subs;
	}
	return 0;
}

static int read_arches(struct reader *rd, json_t *root)
{
	struct arch_facts facts = {0};
	json_t *map, *list, *value;
	size_t i;
	if (reader_for_texts(rd, root, "architectures", see_oci_arch, &facts) < 0 ||
	    reader_get(rd, root, "architectures", JSON_ARRAY, &list) < 0 ||
	    reader_get(rd, root, "archMap", JSON_ARRAY, &map) < 0)
		return -1;
	reader_enter_key(rd, "archMap");
	json_array_foreach(map, i, value)
	{
		reader_enter_element(rd, i);
		if (read_arch_map_row(rd, value, &facts) < 0)
			return -1;
		reader_leave(rd);
	}
	reader_leave(rd);
	if (!facts.native && (json_array_size(list) > 0 || json_array_size(map) > 0))
		return reader_refuse_key(rd, json_array_size(list) > 0 ? "architectures" : "archMap",
					 "the profile is not for this machine");
	if (facts.others > 0)
		profile_warn(&rd->context->warnings,
			     "seccomp profile %s: %zu other architectures are not honoured: a foreign ABI is denied",
			     rd->p->name, facts.others);
	return 0;
}

/* ---- the whole ---- */

static int see_flag(struct reader *rd, const char *text, void *ctx)
{
	if (strncmp(text, "SECCOMP_FILTER_FLAG_", 20) != 0)
		return reader_refuse(rd, "not a flag");
	return count_text(rd, text, ctx);
}

static int read_root(struct reader *rd, json_t *root)
{
	static const char *const known[] = {"defaultAction", "defaultErrnoRet",
					    "defaultErrno",  "architectures",
					    "archMap",	     "flags",
					    "syscalls",	     NULL};
	size_t flags = 0;
	if (!json_is_object(root))
		return reader_refuse(rd, "an object belongs there");
	if (json_object_get(root, "listenerPath") || json_object_get(root, "listenerMetadata"))
		return reader_refuse(rd, "listenerPath: the one listener of a run is pinfold's own");
	if (reader_check_keys(rd, root, known) < 0 ||
	    read_action(rd, root, &default_keys, &rd->p->default_action) < 0 ||
	    read_arches(rd, root) < 0 ||
	    reader_for_texts(rd, root, "flags", see_flag, &flags) < 0 || read_rows(rd, root) < 0)
		return -1;
	if (flags > 0)
		profile_warn(&rd->context->warnings, "seccomp profile %s: its flags are not used",
			     rd->p->name);
	return 0;
}

int profile_read(struct profile *p, struct profile_context *c, struct err *e)
{
	struct reader rd = {.p = p, .context = c, .err = e};
	json_error_t je;
	size_t deep = locate_too_deep(&p->text, READER_DEPTH_MAX);
	if (deep < p->text.len) {
		size_t line, column;
		locate_position(&p->text, deep, &line, &column);
		return err_usage(e, "%s:%zu:%zu: nested deeper than a profile can be", p->name,
				 line, column);
	}
	json_t *root = json_loadb(p->text.text, p->text.len, JSON_REJECT_DUPLICATES, &je);
	if (!root)
		return syntax_refuse(p->name, &p->text, &je, e);
	int got = read_root(&rd, root);
	json_decref(root);
	return got;
}

#include "pipeline/diagnostics/diagnostics.h"

#include "pipeline/diagnostics/lines.h"

#include <string.h>

const char *const severity_names[SEVERITIES] = {
	[SEVERITY_NOTE] = "note",
	[SEVERITY_WARNING] = "warning",
	[SEVERITY_ERROR] = "error",
};

const char *const diagnostics_kind_names[DIAGNOSTICS_KINDS] = {
	[DIAGNOSTICS_GCC] = "gcc",   [DIAGNOSTICS_PYTHON] = "python",
	[DIAGNOSTICS_MCS] = "mcs",   [DIAGNOSTICS_JAVAC] = "javac",
	[DIAGNOSTICS_NODE] = "node", [DIAGNOSTICS_RUSTC] = "rustc",
	[DIAGNOSTICS_GO] = "go",     [DIAGNOSTICS_SHELL] = "shell",
};

static void (*const readers[DIAGNOSTICS_KINDS])(struct reader *) = {
	[DIAGNOSTICS_GCC] = read_gcc,	[DIAGNOSTICS_PYTHON] = read_python,
	[DIAGNOSTICS_MCS] = read_mcs,	[DIAGNOSTICS_JAVAC] = read_javac,
	[DIAGNOSTICS_NODE] = read_node, [DIAGNOSTICS_RUSTC] = read_rustc,
	[DIAGNOSTICS_GO] = read_go,	[DIAGNOSTICS_SHELL] = read_shell,
};

int diagnostics_kind_of(const char *name)
{
	for (int i = 0; i < DIAGNOSTICS_KINDS; i++)
		if (strcmp(diagnostics_kind_names[i], name) == 0)
			return i;
	return -1;
}

void diagnostics_read(struct diagnostics *to, enum diagnostics_kind kind, const char *bytes,
		      size_t len)
{
	struct reader r;
	memset(to, 0, sizeof(*to));
	to->cut = len > DIAGNOSTICS_BYTES_MAX;
	r.to = to;
	r.last = NULL;
	r.rest = (struct piece){bytes, to->cut ? (size_t)DIAGNOSTICS_BYTES_MAX : len};
	r.line_len = 0;
	r.again = false;
	readers[kind](&r);
}

/* A field that ends, and in which nothing speaks to a terminal. */
static bool is_text(const char *field, size_t size)
{
	const size_t len = strnlen(field, size);
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)field[i] < 0x20 || field[i] == 0x7f)
			return false;
	return len < size;
}

static bool is_row(const struct diagnostic *d)
{
	return is_text(d->file, sizeof(d->file)) && is_text(d->code, sizeof(d->code)) &&
	       is_text(d->message, sizeof(d->message)) && d->message[0] &&
	       (unsigned)d->severity < SEVERITIES && d->line <= DIAGNOSTICS_NUMBER_MAX &&
	       d->column <= DIAGNOSTICS_NUMBER_MAX;
}

int diagnostics_check(const struct diagnostics *d, struct err *e)
{
	uint64_t rows[SEVERITIES] = {0};
	if (d->len > DIAGNOSTICS_MAX || *(const unsigned char *)&d->cut > 1)
		return err_bug(e, "diagnostics: the jail says what cannot be");
	for (uint32_t i = 0; i < d->len; i++) {
		if (!is_row(&d->rows[i]))
			return err_bug(e, "diagnostics: row %u from the jail is none", i);
		rows[d->rows[i].severity]++;
	}
	for (int i = 0; i < SEVERITIES; i++)
		if (d->seen[i] < rows[i] || d->seen[i] > DIAGNOSTICS_BYTES_MAX)
			return err_bug(e, "diagnostics: the jail's numbers contradict its rows");
	return 0;
}

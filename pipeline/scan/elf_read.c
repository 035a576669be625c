/* An ELF file in one line. */
#include "pipeline/scan/reader.h"

#include "pipeline/scan/elf.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct line {
	char text[1024];
	size_t used;
};

static void put(struct line *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void put(struct line *l, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	const int n = vsnprintf(l->text + l->used, sizeof(l->text) - l->used, fmt, ap);
	va_end(ap);
	l->used += n > 0 ? (size_t)n : 0;
	if (l->used >= sizeof(l->text))
		l->used = sizeof(l->text) - 1;
}

/* What is of most weight first: the record is shorter than what may be said. */
void elf_read(struct reader *r, const struct unit *u)
{
	struct elf f;
	struct err e = ERR_INIT;
	struct line l = {.used = 0};
	if (elf_parse(u->text, u->len, &f, &e) < 0) {
		reader_tell(r, RULE_ELF, u, WHOLE, e.msg);
		return;
	}
	put(&l, "%d-bit %s %s", f.bits, f.machine, f.type);
	if (f.executable_stack)
		put(&l, ", executable stack");
	for (size_t i = 0; i < f.imports_len; i++)
		put(&l, "%s%s", i ? " " : ", imports ", f.imports[i]);
	if (f.interpreter[0])
		put(&l, ", interpreter %s", f.interpreter);
	for (size_t i = 0; i < f.needed_len && i < ELF_NEEDED_MAX; i++)
		put(&l, "%s%s", i ? " " : ", needs ", f.needed[i]);
	if (f.needed_len > ELF_NEEDED_MAX)
		put(&l, " and %zu more", f.needed_len - ELF_NEEDED_MAX);
	reader_tell(r, RULE_ELF, u, WHOLE, l.text);
}

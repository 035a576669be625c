#include "transfer/check.h"

#include "transfer/utf8.h"

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* One that is whole and does not fit is JSON all the same. */
static int check_json(const struct checked *c, const struct tree *schema, struct err *e)
{
	struct tree t;
	if (tree_read(&t, (const char *)c->bytes, c->len, e) < 0)
		return err_wrap(e, "not json");
	const int rc = schema ? schema_holds(schema, &t, e) : 0;
	tree_close(&t);
	return rc < 0 ? err_wrap(e, "does not fit the schema") : 0;
}

static int check_other(enum artifact_type type, const struct checked *c, struct err *e)
{
	switch (type) {
	case ARTIFACT_CSV:
		return check_csv(c, e);
	case ARTIFACT_TEXT:
		return check_text(c, e);
	case ARTIFACT_PNG:
		return check_png(c, e);
	case ARTIFACT_ELF:
		return check_elf(c, e);
	case ARTIFACT_JSON:
	case ARTIFACT_ANY:
	case ARTIFACT_TREE:
	case ARTIFACT_TYPE_COUNT:
		break;
	}
	return 0;
}

int check_bytes(enum artifact_type type, const struct checked *c, const struct tree *schema,
		struct err *e)
{
	if (type == ARTIFACT_JSON)
		return check_json(c, schema, e);
	return check_other(type, c, e) < 0 ? err_wrap(e, "not %s", artifact_type_name(type)) : 0;
}

int check_text(const struct checked *c, struct err *e)
{
	size_t line = 1, begin = 0;
	for (size_t at = 0, len; at < c->len; at += len) {
		uint32_t value = 0;
		len = utf8_decode(c->bytes + at, c->len - at, &value);
		if (len == 0)
			return err_usage(e, "line %zu, column %zu: not UTF-8", line, at - begin + 1);
		const bool control = value < 0x20 || (value >= 0x7f && value < 0xa0);
		if (control && !(value && value < 0x20 && strchr("\t\n\f\r", (int)value)))
			return err_usage(e, "line %zu, column %zu: a control character (0x%02x)",
					 line, at - begin + 1, value);
		if (value == '\n') {
			line++;
			begin = at + 1;
		}
	}
	return 0;
}

/* ---- CSV ---- */

struct csv {
	const unsigned char *p, *end;
	size_t record;
};

static int csv_wrong(const struct csv *c, const char *what, struct err *e)
{
	return err_usage(e, "record %zu: %s", c->record, what);
}

static bool at_break(const struct csv *c)
{
	return *c->p == '\n' || (*c->p == '\r' && c->end - c->p > 1 && c->p[1] == '\n');
}

static int skip_quoted(struct csv *c, struct err *e)
{
	for (const unsigned char *p = c->p + 1;; p += 2) {
		p = p < c->end ? memchr(p, '"', (size_t)(c->end - p)) : NULL;
		if (!p)
			return csv_wrong(c, "a quoted field does not end", e);
		if (c->end - p > 1 && p[1] == '"')
			continue;
		c->p = p + 1;
		if (c->p < c->end && *c->p != ',' && !at_break(c))
			return csv_wrong(c, "something stands behind a quoted field", e);
		return 0;
	}
}

static int skip_field(struct csv *c, struct err *e)
{
	if (c->p < c->end && *c->p == '"')
		return skip_quoted(c, e);
	for (; c->p < c->end && *c->p != ',' && !at_break(c); c->p++) {
		if (*c->p == '"')
			return csv_wrong(c, "a quote in a field that does not begin with one", e);
		if (*c->p == '\r')
			return csv_wrong(c, "a carriage return without a newline", e);
	}
	return 0;
}

/* How many fields; -1. Stands behind the record's end. */
static int skip_record(struct csv *c, struct err *e)
{
	const unsigned char *begin = c->p;
	for (int fields = 1;; fields++, c->p++) {
		if (skip_field(c, e) < 0)
			return -1;
		if (c->p - begin > CSV_RECORD_MAX)
			return csv_wrong(c, "longer than 1 MiB", e);
		if (c->p < c->end && *c->p == ',') {
			if (fields == CSV_COLUMNS_MAX)
				return csv_wrong(c, "more than 4096 fields", e);
			continue;
		}
		if (c->p < c->end)
			c->p += *c->p == '\r' ? 2 : 1;
		return fields;
	}
}

int check_csv(const struct checked *all, struct err *e)
{
	struct csv c = {.p = all->bytes, .end = all->bytes + all->len, .record = 1};
	int first = 0;
	if (all->len == 0)
		return err_usage(e, "it is empty");
	if (check_text(all, e) < 0)
		return -1;
	for (; c.p < c.end; c.record++) {
		const int fields = skip_record(&c, e);
		if (fields < 0)
			return -1;
		if (first == 0)
			first = fields;
		if (fields != first)
			return err_usage(e, "record %zu has %d field%s, the first has %d", c.record,
					 fields, fields == 1 ? "" : "s", first);
	}
	return 0;
}

/* ---- ELF ---- */

static bool in_file(const struct checked *c, uint64_t at, uint64_t size, uint64_t count)
{
	uint64_t bytes, end;
	return !__builtin_mul_overflow(size, count, &bytes) &&
	       !__builtin_add_overflow(at, bytes, &end) && end <= c->len;
}

static int check_elf64(const struct checked *c, struct err *e)
{
	Elf64_Ehdr h;
	if (c->len < sizeof(h))
		return err_usage(e, "shorter than an ELF header");
	memcpy(&h, c->bytes, sizeof(h));
	if (h.e_ehsize != sizeof(h) || h.e_version != EV_CURRENT)
		return err_usage(e, "the ELF header's size or version is wrong");
	if (h.e_phnum && (h.e_phentsize != sizeof(Elf64_Phdr) ||
			  !in_file(c, h.e_phoff, h.e_phentsize, h.e_phnum)))
		return err_usage(e, "the program headers are not in the file");
	if (h.e_shnum && (h.e_shentsize != sizeof(Elf64_Shdr) ||
			  !in_file(c, h.e_shoff, h.e_shentsize, h.e_shnum)))
		return err_usage(e, "the section headers are not in the file");
	return 0;
}

static int check_elf32(const struct checked *c, struct err *e)
{
	Elf32_Ehdr h;
	if (c->len < sizeof(h))
		return err_usage(e, "shorter than an ELF header");
	memcpy(&h, c->bytes, sizeof(h));
	if (h.e_ehsize != sizeof(h) || h.e_version != EV_CURRENT)
		return err_usage(e, "the ELF header's size or version is wrong");
	if (h.e_phnum && (h.e_phentsize != sizeof(Elf32_Phdr) ||
			  !in_file(c, h.e_phoff, h.e_phentsize, h.e_phnum)))
		return err_usage(e, "the program headers are not in the file");
	if (h.e_shnum && (h.e_shentsize != sizeof(Elf32_Shdr) ||
			  !in_file(c, h.e_shoff, h.e_shentsize, h.e_shnum)))
		return err_usage(e, "the section headers are not in the file");
	return 0;
}

/* Of this machine's byte order, which is little-endian on all that Pinfold runs on. */
int check_elf(const struct checked *c, struct err *e)
{
	if (c->len < EI_NIDENT || memcmp(c->bytes, ELFMAG, SELFMAG) != 0)
		return err_usage(e, "no ELF file");
	if (c->bytes[EI_VERSION] != EV_CURRENT || c->bytes[EI_DATA] != ELFDATA2LSB)
		return err_usage(e, "ELF of another version or byte order");
	if (c->bytes[EI_CLASS] == ELFCLASS64)
		return check_elf64(c, e);
	return c->bytes[EI_CLASS] == ELFCLASS32 ? check_elf32(c, e)
						: err_usage(e, "ELF of an unknown class");
}

#include "pipeline/scan/elf.h"

#include <elf.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { SEGMENTS_MAX = 256, DYNAMIC_MAX = 1024 };

struct view {
	const unsigned char *at;
	size_t len;
	bool wide, big; /* 64 bits; most significant byte first */
};

/* size bytes at offset as a number; false: they are not all there. */
static bool number(const struct view *v, uint64_t offset, size_t size, uint64_t *to)
{
	uint64_t value = 0;
	if (offset > v->len || size > v->len - offset)
		return false;
	for (size_t i = 0; i < size; i++)
		value |= (uint64_t)v->at[offset + i] << 8 * (v->big ? size - 1 - i : i);
	*to = value;
	return true;
}

/* A field that is at one place in Elf32_X and at another in Elf64_X, as wide as an address. */
static bool word(const struct view *v, uint64_t base, size_t narrow, size_t wide, uint64_t *to)
{
	return number(v, base + (v->wide ? wide : narrow), v->wide ? 8 : 4, to);
}

static void take_text(const struct view *v, uint64_t at, char to[ELF_TEXT])
{
	size_t len = 0;
	while (at < v->len && len < v->len - at && len < ELF_TEXT - 1 && v->at[at + len]) {
		const unsigned char c = v->at[at + len];
		to[len++] = c < 0x20 || c >= 0x7f ? '?' : (char)c;
	}
	to[len] = '\0';
}

static const char *machine_name(uint64_t machine)
{
	static const struct {
		uint16_t number;
		const char *name;
	} machines[] = {{EM_X86_64, "x86-64"},
			{EM_386, "x86"},
			{EM_AARCH64, "arm64"},
			{EM_ARM, "arm"},
			{EM_RISCV, "riscv"},
			{EM_PPC64, "ppc64"},
			{EM_S390, "s390"},
			{EM_MIPS, "mips"},
			{EM_BPF, "bpf"},
			{EM_CUDA, "cuda"},
			{EM_LOONGARCH, "loongarch"}};
	for (size_t i = 0; i < sizeof(machines) / sizeof(*machines); i++)
		if (machines[i].number == machine)
			return machines[i].name;
	return NULL;
}

static void describe(const struct view *v, struct elf *to)
{
	static const char *const types[] = {"no type", "object file", "executable", "shared object",
					    "core file"};
	uint64_t type = 0, machine = 0;
	number(v, 16, 2, &type);
	number(v, 18, 2, &machine);
	snprintf(to->type, sizeof(to->type), "%s",
		 type < 5 ? types[type] : "file of a type of its own");
	const char *name = machine_name(machine);
	if (name)
		snprintf(to->machine, sizeof(to->machine), "%s", name);
	else
		snprintf(to->machine, sizeof(to->machine), "machine %u", (unsigned)machine);
}

/* Program headers. */
struct segment {
	uint64_t type, flags, offset, address, size;
};

static bool segment_at(const struct view *v, uint64_t i, struct segment *s)
{
	uint64_t table, size, count;
	if (!word(v, 0, 28, 32, &table) || !number(v, v->wide ? 54 : 42, 2, &size) ||
	    !number(v, v->wide ? 56 : 44, 2, &count) || i >= count || i >= SEGMENTS_MAX ||
	    table > v->len)
		return false;
	const uint64_t base = table + i * size;
	return number(v, base, 4, &s->type) && number(v, base + (v->wide ? 4 : 24), 4, &s->flags) &&
	       word(v, base, 4, 8, &s->offset) && word(v, base, 8, 16, &s->address) &&
	       word(v, base, 16, 32, &s->size);
}

/* Where in the file an address is. */
static bool offset_of(const struct view *v, uint64_t address, uint64_t *offset)
{
	struct segment s;
	for (uint64_t i = 0; segment_at(v, i, &s); i++)
		if (s.type == PT_LOAD && address >= s.address && address - s.address < s.size) {
			*offset = s.offset + (address - s.address);
			return *offset <= v->len;
		}
	return false;
}

/* What the dynamic section says; offsets are in the file. */
struct dynamic {
	uint64_t strings, symbols;
	bool has_strings, has_symbols;
};

typedef void dynamic_entry(const struct view *v, uint64_t tag, uint64_t value, void *arg);

static void each_dynamic(const struct view *v, const struct segment *s, dynamic_entry *take, void *arg)
{
	const uint64_t size = v->wide ? 16 : 8;
	uint64_t tag, value;
	for (uint64_t at = 0; at + size <= s->size && at < DYNAMIC_MAX * size; at += size) {
		if (!word(v, s->offset + at, 0, 0, &tag) ||
		    !word(v, s->offset + at, 4, 8, &value) || tag == DT_NULL)
			return;
		take(v, tag, value, arg);
	}
}

static void take_table(const struct view *v, uint64_t tag, uint64_t value, void *arg)
{
	struct dynamic *d = arg;
	if (tag == DT_STRTAB)
		d->has_strings = offset_of(v, value, &d->strings);
	if (tag == DT_SYMTAB)
		d->has_symbols = offset_of(v, value, &d->symbols);
}

struct needed {
	struct elf *to;
	uint64_t strings;
};

static void take_needed(const struct view *v, uint64_t tag, uint64_t value, void *arg)
{
	const struct needed *n = arg;
	if (tag != DT_NEEDED || value > v->len)
		return;
	if (n->to->needed_len < ELF_NEEDED_MAX)
		take_text(v, n->strings + value, n->to->needed[n->to->needed_len]);
	n->to->needed_len++;
}

static bool of_note(const char *name)
{
	static const char *const notable[] = {
		"system",	 "popen",	 "execl",      "execle",    "execlp",
		"execv",	 "execve",	 "execvp",     "execvpe",   "fexecve",
		"posix_spawn",	 "posix_spawnp", "fork",       "vfork",	    "clone",
		"dlopen",	 "dlsym",	 "ptrace",     "mprotect",  "memfd_create",
		"socket",	 "connect",	 "bind",       "listen",    "getaddrinfo",
		"gethostbyname", "setuid",	 "seteuid",    "setresuid", "chroot",
		"mount",	 "unshare",	 "setns",      "syscall",   "process_vm_writev",
		"init_module",	 "bpf",		 "kexec_load",
	};
	for (size_t i = 0; i < sizeof(notable) / sizeof(*notable); i++)
		if (strcmp(notable[i], name) == 0)
			return true;
	return false;
}

/* The table of symbols has no length; linkers put the strings behind it. */
static void take_imports(const struct view *v, const struct dynamic *d, struct elf *to)
{
	const uint64_t size = v->wide ? 24 : 16;
	if (!d->has_symbols || d->symbols >= d->strings)
		return;
	const uint64_t count = (d->strings - d->symbols) / size;
	for (uint64_t i = 1; i < count && i < ELF_SYMBOLS_MAX; i++) {
		uint64_t name, section;
		char text[ELF_TEXT];
		const uint64_t base = d->symbols + i * size;
		if (!number(v, base, 4, &name) || !number(v, base + (v->wide ? 6 : 14), 2, &section))
			return;
		if (section != SHN_UNDEF || name > v->len)
			continue;
		take_text(v, d->strings + name, text);
		if (of_note(text) && to->imports_len < ELF_IMPORTS_MAX)
			memcpy(to->imports[to->imports_len++], text, sizeof(text));
	}
}

static void take_segments(const struct view *v, struct elf *to)
{
	struct segment s;
	bool seen = false;
	for (uint64_t i = 0; segment_at(v, i, &s); i++) {
		struct dynamic d = {.has_strings = false};
		if (s.type == PT_INTERP)
			take_text(v, s.offset, to->interpreter);
		if (s.type == PT_GNU_STACK)
			to->executable_stack = s.flags & PF_X;
		if (s.type != PT_DYNAMIC || seen)
			continue;
		seen = true;
		each_dynamic(v, &s, take_table, &d);
		if (!d.has_strings)
			continue;
		struct needed n = {.to = to, .strings = d.strings};
		each_dynamic(v, &s, take_needed, &n);
		take_imports(v, &d, to);
	}
}

int elf_parse(const char *bytes, size_t len, struct elf *to, struct err *e)
{
	struct view v = {.at = (const unsigned char *)bytes, .len = len};
	struct elf made = {.bits = 0};
	if (len < EI_NIDENT + 4 || memcmp(bytes, ELFMAG, SELFMAG) != 0)
		return err_usage(e, "it is no ELF file");
	if ((v.at[EI_CLASS] != ELFCLASS32 && v.at[EI_CLASS] != ELFCLASS64) ||
	    (v.at[EI_DATA] != ELFDATA2LSB && v.at[EI_DATA] != ELFDATA2MSB))
		return err_usage(e, "its header is of no known class or byte order");
	v.wide = v.at[EI_CLASS] == ELFCLASS64;
	v.big = v.at[EI_DATA] == ELFDATA2MSB;
	if (len < (v.wide ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr)))
		return err_usage(e, "it ends within its header");
	made.bits = v.wide ? 64 : 32;
	describe(&v, &made);
	take_segments(&v, &made);
	*to = made;
	return 0;
}

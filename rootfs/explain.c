/* Why exec failed, in words. What is read here is the image's or the program's: at most 4 KiB,
 * regular files only, every offset checked. */
#include "rootfs/internal.h"

#include "base/fd.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { HEAD_BYTES = 4096, NAME_BYTES = 64 };

/* Bytes of the image for a message: printable ASCII, the rest as "?". */
static const char *printable(char *to, size_t size, const char *from, size_t len)
{
	size_t i;
	for (i = 0; i < len && i < size - 1; i++)
		to[i] = from[i] >= ' ' && from[i] <= '~' ? from[i] : '?';
	to[i] = '\0';
	if (i < len)
		memcpy(to + i - 3, "...", 3);
	return to;
}

static const struct {
	uint16_t machine;
	const char *name;
} machines[] = {
	{EM_386, "i386"},	 {EM_X86_64, "x86-64"}, {EM_ARM, "arm"},
	{EM_AARCH64, "aarch64"}, {EM_RISCV, "riscv"},	{EM_PPC64, "ppc64"},
	{EM_S390, "s390"},	 {EM_MIPS, "mips"},	{EM_LOONGARCH, "loongarch"},
};

#if defined(__x86_64__)
enum { OWN_MACHINE = EM_X86_64 };
#elif defined(__aarch64__)
enum { OWN_MACHINE = EM_AARCH64 };
#endif

static const char *machine_name(uint16_t machine, char *buf, size_t size)
{
	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
		if (machines[i].machine == machine)
			return machines[i].name;
	snprintf(buf, size, "ELF machine %u", machine);
	return buf;
}

static void fail(struct err *e, int sys)
{
	e->sys = sys;
}

struct file {
	const char *path; /* printable */
	const char *head;
	size_t len;
	int sys;   /* what exec said */
	int depth; /* an interpreter's interpreter, and so on */
};

enum { DEPTH_MAX = 4 }; /* the kernel follows no more scripts either (exec_binprm()) */

static void explain(const char *path, int sys, int depth, struct err *e);

/* The interpreter of f is name, len bytes: what about it. */
static void explain_interpreter(const struct file *f, const char *name, size_t len, struct err *e)
{
	char path[256], shown[NAME_BYTES];
	if (len == 0 || len >= sizeof(path) || f->depth >= DEPTH_MAX) {
		err_usage(e, "%s: its interpreter is %s", f->path,
			  f->depth >= DEPTH_MAX ? "a script of a script of a script" : "malformed");
		return fail(e, ENOEXEC);
	}
	memcpy(path, name, len);
	path[len] = '\0';
	struct stat st;
	if (stat(path, &st) < 0 && (errno == ENOENT || errno == ENOTDIR)) {
		err_usage(e, "%s: its interpreter %s is not in the image", f->path,
			  printable(shown, sizeof(shown), name, len));
		return fail(e, ENOENT);
	}
	explain(path, f->sys, f->depth + 1, e);
	err_wrap(e, "%s: its interpreter", f->path);
}

static void explain_script(const struct file *f, struct err *e)
{
	const char *line = f->head + 2, *end = memchr(line, '\n', f->len - 2);
	size_t len = end ? (size_t)(end - line) : f->len - 2;
	if (len > 0 && line[len - 1] == '\r') {
		char shown[NAME_BYTES];
		err_usage(e,
			  "%s: its first line begins with #! and ends in a carriage return (Windows line "
			  "ends), so the interpreter is sought as \"%s\\r\"",
			  f->path, printable(shown, sizeof(shown), line, len - 1));
		return fail(e, ENOENT);
	}
	while (len > 0 && (*line == ' ' || *line == '\t'))
		line++, len--;
	size_t word = 0;
	while (word < len && line[word] != ' ' && line[word] != '\t')
		word++;
	explain_interpreter(f, line, word, e);
}

static void explain_elf64(const struct file *f, struct err *e)
{
	Elf64_Ehdr h;
	memcpy(&h, f->head, sizeof(h));
	for (unsigned i = 0; i < h.e_phnum; i++) {
		uint64_t at = h.e_phoff + (uint64_t)i * sizeof(Elf64_Phdr);
		Elf64_Phdr p;
		if (h.e_phoff > f->len || at + sizeof(p) > f->len)
			break;
		memcpy(&p, f->head + at, sizeof(p));
		if (p.p_type != PT_INTERP || p.p_filesz == 0)
			continue;
		if (p.p_offset > f->len || p.p_filesz > f->len - p.p_offset)
			break;
		/* The length counts the NUL at the end. */
		return explain_interpreter(f, f->head + p.p_offset,
					   strnlen(f->head + p.p_offset, p.p_filesz), e);
	}
	err_usage(e, "%s: the kernel refuses this ELF file: %s", f->path, strerrordesc_np(f->sys));
	fail(e, ENOEXEC);
}

static void explain_elf(const struct file *f, struct err *e)
{
	char buf[32];
	uint16_t machine;
	if (f->len < sizeof(Elf64_Ehdr)) {
		err_usage(e, "%s: a truncated ELF file", f->path);
		return fail(e, ENOEXEC);
	}
	memcpy(&machine, f->head + offsetof(Elf64_Ehdr, e_machine), sizeof(machine));
	if (f->head[EI_DATA] == ELFDATA2MSB)
		machine = (uint16_t)(machine << 8 | machine >> 8);
	bool own = machine == OWN_MACHINE && f->head[EI_CLASS] == ELFCLASS64 &&
		   f->head[EI_DATA] == ELFDATA2LSB;
	if (own)
		return explain_elf64(f, e);
	err_usage(e, "%s: wrong architecture: %s%s", f->path, machine_name(machine, buf, sizeof(buf)),
		  machine == OWN_MACHINE ? " with another class or byte order" : "");
	fail(e, ENOEXEC);
}

static void explain_content(int fd, const struct file *unread, struct err *e)
{
	char head[HEAD_BYTES];
	ssize_t n = pread(fd, head, sizeof(head), 0);
	const struct file f = {.path = unread->path,
			       .head = head,
			       .len = n < 0 ? 0 : (size_t)n,
			       .sys = unread->sys,
			       .depth = unread->depth};
	if (n >= SELFMAG && memcmp(head, ELFMAG, SELFMAG) == 0)
		return explain_elf(&f, e);
	if (n >= 2 && head[0] == '#' && head[1] == '!')
		return explain_script(&f, e);
	if (n == 0)
		err_usage(e, "%s: an empty file", f.path);
	else if (n < 0 || f.sys != ENOEXEC)
		err_usage(e, "%s: cannot be executed: %s", f.path, strerrordesc_np(f.sys));
	else
		err_usage(e, "%s: neither an ELF program nor a script with #! in its first line",
			  f.path);
	fail(e, ENOEXEC);
}

/* What is wrong with it before it is even read. */
static bool explain_kind(int fd, const struct file *f, struct err *e)
{
	struct stat st;
	struct statvfs fs;
	if (fstat(fd, &st) < 0)
		return false;
	unsigned mode = st.st_mode & 07777u;
	if (S_ISDIR(st.st_mode))
		err_usage(e, "%s: a folder", f->path);
	else if (!S_ISREG(st.st_mode))
		err_usage(e, "%s: not a regular file", f->path);
	else if (!(mode & 0111))
		err_usage(e, "%s: not executable, its mode is %04o", f->path, mode);
	else if (f->sys == EACCES && fstatvfs(fd, &fs) == 0 && (fs.f_flag & ST_NOEXEC))
		err_usage(e, "%s: on a file system that is mounted noexec", f->path);
	else if (f->sys == EACCES && (mode & 0111) != 0111)
		err_usage(e, "%s: not executable for this user, its mode is %04o", f->path, mode);
	else
		return false;
	fail(e, EACCES);
	return true;
}

static void explain(const char *path, int sys, int depth, struct err *e)
{
	char shown[NAME_BYTES * 2], link[40];
	struct file f = {.path = printable(shown, sizeof(shown), path, strlen(path)),
			 .sys = sys,
			 .depth = depth};
	/* O_PATH first: opening a FIFO or a device has effects. */
	autoclose int at = fd_openat2(AT_FDCWD, path, O_PATH, 0, RESOLVE_NO_MAGICLINKS);
	if (at < 0) {
		bool missing = errno == ENOENT || errno == ENOTDIR;
		err_usage(e, "%s: %s", f.path,
			  errno == ENOENT ? "not in the image" : strerrordesc_np(errno));
		return fail(e, missing ? ENOENT : EACCES);
	}
	if (explain_kind(at, &f, e))
		return;
	if (sys == ENOENT || sys == ENOEXEC || sys == EACCES || sys == EINVAL || sys == ELIBBAD) {
		snprintf(link, sizeof(link), "/proc/self/fd/%d", at);
		autoclose int fd = open(link, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
		if (fd >= 0)
			return explain_content(fd, &f, e);
	}
	err_usage(e, "%s: cannot be executed: %s", f.path, strerrordesc_np(sys));
	fail(e, sys == ENOENT ? EACCES : sys); /* it is there, so it is 126 */
}

void rootfs_explain_exec(const char *path, int sys, struct err *e)
{
	char shown[NAME_BYTES * 2];
	if (sys != E2BIG)
		return explain(path, sys, 0, e);
	err_usage(e, "%s: the arguments and the environment are too long",
		  printable(shown, sizeof(shown), path, strlen(path)));
	fail(e, E2BIG);
}

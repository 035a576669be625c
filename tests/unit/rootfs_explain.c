/* Why exec failed: each case is executed for real, and what the kernel said is explained. */
#include "tests/unit/rootfs_tree.h"

#include <elf.h>
#include <sys/wait.h>

#if defined(__x86_64__)
enum { OWN = EM_X86_64, FOREIGN = EM_AARCH64 };
#define FOREIGN_NAME "aarch64"
#else
enum { OWN = EM_AARCH64, FOREIGN = EM_X86_64 };
#define FOREIGN_NAME "x86-64"
#endif

/* errno of execve(path) in a child; fails if it succeeds. */
static int exec_errno(const char *path)
{
	int fds[2];
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		char *argv[] = {(char *)(uintptr_t)path, NULL}, *envp[] = {NULL};
		execve(path, argv, envp);
		int sys = errno;
		_exit(write(fds[1], &sys, sizeof(sys)) == sizeof(sys) ? 0 : 1);
	}
	close(fds[1]);
	int sys = 0;
	ssize_t n = read(fds[0], &sys, sizeof(sys));
	close(fds[0]);
	waitpid(pid, NULL, 0);
	if (n != sizeof(sys))
		fail_msg("%s could be executed", path);
	return sys;
}

/* want: 127 is ENOENT, 126 everything else (rootfs.h). */
static void explained(const char *path, int want, const char *says)
{
	struct err e = ERR_INIT;
	rootfs_explain_exec(path, exec_errno(path), &e);
	if (!strstr(e.msg, says))
		fail_msg("%s: \"%s\" does not say \"%s\"", path, e.msg, says);
	assert_int_equal(e.sys == ENOENT ? 127 : 126, want);
	assert_int_not_equal(e.kind, ERR_NONE);
	for (const char *c = e.msg; *c; c++)
		assert_true(*c >= ' ' && *c <= '~');
}

struct elf {
	Elf64_Ehdr h;
	Elf64_Phdr p;
	char interpreter[32];
};

static struct elf elf(uint16_t machine, const char *interpreter)
{
	struct elf f = {
		.h = {.e_type = ET_DYN,
		      .e_machine = machine,
		      .e_version = EV_CURRENT,
		      .e_phoff = offsetof(struct elf, p),
		      .e_ehsize = sizeof(Elf64_Ehdr),
		      .e_phentsize = sizeof(Elf64_Phdr),
		      .e_phnum = 1},
		.p = {.p_type = PT_INTERP,
		      .p_offset = offsetof(struct elf, interpreter),
		      .p_filesz = strlen(interpreter) + 1},
	};
	memcpy(f.h.e_ident, ELFMAG, SELFMAG);
	f.h.e_ident[EI_CLASS] = ELFCLASS64;
	f.h.e_ident[EI_DATA] = ELFDATA2LSB;
	f.h.e_ident[EI_VERSION] = EV_CURRENT;
	snprintf(f.interpreter, sizeof(f.interpreter), "%s", interpreter);
	return f;
}

static void missing(void **state)
{
	(void)state;
	struct tree t;
	tree_make(&t);
	tree_link(&t, "dangling", "nowhere");
	tree_link(&t, "loop", "loop");
	tree_text(&t, "file", 0755, "x");
	explained(tree_path(&t, "none"), 127, "not in the image");
	explained(tree_path(&t, "dangling"), 127, "not in the image");
	explained(tree_path(&t, "file/x"), 127, "Not a directory");
	explained(tree_path(&t, "loop"), 126, "symbolic links");
	tree_remove(&t);
}

static void loader(void **state)
{
	(void)state;
	struct tree t;
	tree_make(&t);
	struct elf f = elf(OWN, "/lib99/ld.so");
	tree_file(&t, "dynamic", 0755, &f, sizeof(f));
	explained(tree_path(&t, "dynamic"), 127, "its interpreter /lib99/ld.so is not in the image");
	char line[512];
	snprintf(line, sizeof(line), "#!%s -x\n", tree_path(&t, "dynamic"));
	tree_text(&t, "script", 0755, line);
	explained(tree_path(&t, "script"), 127, "its interpreter /lib99/ld.so is not in the image");
	tree_remove(&t);
}

static void scripts(void **state)
{
	(void)state;
	struct tree t;
	tree_make(&t);
	tree_text(&t, "crlf", 0755, "#!/bin/bash\r\necho hi\r\n");
	tree_text(&t, "none", 0755, "#!/nowhere/python3 -u\n");
	tree_text(&t, "escape", 0755, "#!/\033[31mevil\n");
	tree_text(&t, "blank", 0755, "#!  \n");
	tree_text(&t, "plain", 0755, "echo hi\n");
	explained(tree_path(&t, "crlf"), 127, "carriage return");
	explained(tree_path(&t, "none"), 127, "its interpreter /nowhere/python3 is not in the image");
	explained(tree_path(&t, "escape"), 127, "/?[31mevil");
	explained(tree_path(&t, "blank"), 126, "malformed");
	explained(tree_path(&t, "plain"), 126, "neither an ELF program nor a script");
	tree_remove(&t);
}

static void architecture(void **state)
{
	(void)state;
	struct tree t;
	tree_make(&t);
	struct elf f = elf(FOREIGN, "/lib/ld.so");
	tree_file(&t, "foreign", 0755, &f, sizeof(f));
	explained(tree_path(&t, "foreign"), 126, "wrong architecture: " FOREIGN_NAME);
	f = elf(EM_S390, "/lib/ld.so");
	f.h.e_ident[EI_DATA] = ELFDATA2MSB;
	f.h.e_machine = (uint16_t)(EM_S390 << 8);
	tree_file(&t, "big-endian", 0755, &f, sizeof(f));
	explained(tree_path(&t, "big-endian"), 126, "wrong architecture: s390");
	f = elf(0x1234, "/lib/ld.so");
	tree_file(&t, "unknown", 0755, &f, sizeof(f));
	explained(tree_path(&t, "unknown"), 126, "ELF machine 4660");
	tree_remove(&t);
}

static void malformed(void **state)
{
	(void)state;
	struct tree t;
	tree_make(&t);
	struct elf f = elf(OWN, "/lib/ld.so");
	tree_file(&t, "short", 0755, &f, 20);
	explained(tree_path(&t, "short"), 126, "truncated");
	f.p.p_offset = UINT64_MAX - 4;
	tree_file(&t, "offset", 0755, &f, sizeof(f));
	explained(tree_path(&t, "offset"), 126, "the kernel refuses");
	f = elf(OWN, "/lib/ld.so");
	f.h.e_phoff = UINT64_MAX - 8;
	f.h.e_phnum = UINT16_MAX;
	tree_file(&t, "headers", 0755, &f, sizeof(f));
	explained(tree_path(&t, "headers"), 126, "the kernel refuses");
	tree_text(&t, "empty", 0755, "");
	explained(tree_path(&t, "empty"), 126, "an empty file");
	tree_remove(&t);
}

static void kinds(void **state)
{
	(void)state;
	struct tree t;
	tree_make(&t);
	tree_dir(&t, "folder");
	tree_text(&t, "plain", 0644, "#!/bin/sh\n");
	assert_int_equal(mkfifo(tree_path(&t, "fifo"), 0755), 0);
	explained(tree_path(&t, "folder"), 126, "a folder");
	explained(tree_path(&t, "plain"), 126, "its mode is 0644");
	explained(tree_path(&t, "fifo"), 126,
		  "not a regular file"); /* and does not wait for a writer */
	explained("/dev/null", 126, "not a regular file");
	tree_remove(&t);
}

static void too_long(void **state)
{
	(void)state;
	struct err e = ERR_INIT;
	rootfs_explain_exec("/bin/sh", E2BIG, &e);
	assert_non_null(strstr(e.msg, "too long"));
	assert_int_equal(e.sys, E2BIG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(missing),   cmocka_unit_test(loader),
		cmocka_unit_test(scripts),   cmocka_unit_test(architecture),
		cmocka_unit_test(malformed), cmocka_unit_test(kinds),
		cmocka_unit_test(too_long),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* --seccomp FILE: what a profile says is what the filter does; what is not understood is refused. */
#include "seccomp_profile.h"

/* ---- actions and conditions ---- */

static void test_actions(void **state)
{
	(void)state;
	struct built *b = good(
		HEAD ROW("\"read\"",
			 ALLOW) ROW("\"close\"",
				    "\"SCMP_ACT_ERRNO\"") ROW("\"fsync\"",
							      "\"SCMP_ACT_ERRNO\", \"errnoRet\": 38")
			ROW("\"sync\"",
			    "\"SCMP_ACT_ERRNO\", \"errnoRet\": 0") ROW("\"fdatasync\"",
								       "\"SCMP_ACT_ERRNO\", \"errno\": \"EACCES\"")
				ROW("\"flock\"", "\"SCMP_ACT_KILL\"") ROW("\"fchdir\"",
									  "\"SCMP_ACT_KILL_THREAD\"")
					ROW("\"chdir\"",
					    "\"SCMP_ACT_KILL_PROCESS\"") ROW("\"getcwd\"",
									     "\"SCMP_ACT_TRAP\"")
						ROW("\"umask\"",
						    "\"SCMP_ACT_LOG\"") ",{\"name\": \"lseek\", \"action\": \"SCMP_ACT_ALLOW\", \"args\": null, \"comment\": \"x\", "
									"\"includes\": {}, \"excludes\": null}" TAIL);
	assert_int_equal(answer(b, "read", 0, 0), SECCOMP_RET_ALLOW);
	assert_int_equal(answer(b, "close", 0, 0), SECCOMP_RET_ERRNO | 1);
	assert_int_equal(answer(b, "fsync", 0, 0), SECCOMP_RET_ERRNO | 38);
	assert_int_equal(answer(b, "sync", 0, 0), SECCOMP_RET_ERRNO | 0);
	assert_int_equal(answer(b, "fdatasync", 0, 0), SECCOMP_RET_ERRNO | 13);
	assert_int_equal(answer(b, "flock", 0, 0), SECCOMP_RET_KILL_THREAD);
	assert_int_equal(answer(b, "fchdir", 0, 0), SECCOMP_RET_KILL_THREAD);
	assert_int_equal(answer(b, "chdir", 0, 0), SECCOMP_RET_KILL_PROCESS);
	assert_int_equal(answer(b, "getcwd", 0, 0), SECCOMP_RET_TRAP);
	assert_int_equal(answer(b, "umask", 0, 0), SECCOMP_RET_LOG);
	assert_int_equal(answer(b, "lseek", 0, 0), SECCOMP_RET_ALLOW);
	assert_int_equal(answer(b, "getpid", 0, 0), DEFAULT_RET);
	assert_int_equal(b->r.warnings_len, 0);
	/* EPERM, and nothing else, is counted. */
	assert_int_equal(counted_answer(b, "close"), SECCOMP_RET_USER_NOTIF);
	assert_int_equal(counted_answer(b, "fsync"), SECCOMP_RET_ERRNO | 38);
	assert_int_equal(counted_answer(b, "getpid"), DEFAULT_RET);
}

#define ARG(index, value, two, op)                                           \
	"{\"index\": " #index ", \"value\": " #value ", \"valueTwo\": " #two \
	", \"op\": \"SCMP_CMP_" op "\"}"

static void test_conditions(void **state)
{
	(void)state;
	struct built *b = good(
		HEAD ROW("\"dup\"", ALLOW
			 ", \"args\": [" ARG(0, 5, 0, "EQ") "]") ROW("\"fchmod\"", ALLOW
								     ", \"args\": [" ARG(1, 5, 0,
											 "NE") "]")
			ROW("\"listen\"", ALLOW
			    ", \"args\": [" ARG(1, 5, 0, "LT") "]") ROW("\"shutdown\"", ALLOW
									", \"args\": [" ARG(1, 5, 0,
											    "LE") "]")
				ROW("\"getpgid\"", ALLOW ", \"args\": [" ARG(0, 5, 0, "GT") "]")
					ROW("\"getsid\"",
					    ALLOW ", \"args\": [" ARG(0, 4294967296, 0, "GE") "]")
						ROW("\"clone\"",
						    ALLOW ", \"args\": [" ARG(0, 2114060288, 0,
									      "MASKED_EQ") "]")
							ROW("\"kill\"", ALLOW
							    ", \"args\": [" ARG(0, 1, 0,
										"EQ") "," ARG(1, 9, 0,
											      "EQ") "]")
								ROW("\"kill\"", ALLOW
								    ", \"args\": [" ARG(0, 2, 0,
											"EQ") "]")
									TAIL);
	const struct {
		const char *name;
		uint64_t a0, a1;
		bool allowed;
	} rows[] = {
		{"dup", 5, 0, true},
		{"dup", 4, 0, false},
		{"dup", 5 | 1ULL << 32, 0, false},
		{"fchmod", 0, 5, false},
		{"fchmod", 0, 6, true},
		{"listen", 0, 4, true},
		{"listen", 0, 5, false},
		{"listen", 0, 1ULL << 32, false},
		{"shutdown", 0, 5, true},
		{"shutdown", 0, 6, false},
		{"getpgid", 5, 0, false},
		{"getpgid", 6, 0, true},
		{"getpgid", 1ULL << 32, 0, true},
		{"getsid", 0xffffffff, 0, false},
		{"getsid", 1ULL << 32, 0, true},
		{"clone", 0x11, 0, true},
		{"clone", 0x10000011, 0, false},
		{"clone", 0x11 | 1ULL << 32, 0, true},
		{"kill", 1, 9, true},
		{"kill", 1, 10, false},
		{"kill", 2, 10, true},
		{"kill", 3, 9, false},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint32_t got = answer(b, rows[i].name, rows[i].a0, rows[i].a1);
		if (got != (rows[i].allowed ? SECCOMP_RET_ALLOW : DEFAULT_RET))
			fail_msg("row %zu, %s: 0x%x", i, rows[i].name, got);
	}
	assert_true(warned(b, "passed by a high bit: "));
	assert_true(warned(b, "fchmod"));
	assert_false(warned(b, "dup"));
}

/* Each known name gets an action by its number: every number is answered with its own. */
static void test_every_number(void **state)
{
	(void)state;
	static const char *const texts[] = {ALLOW, "\"SCMP_ACT_LOG\"", "\"SCMP_ACT_TRAP\"",
					    "\"SCMP_ACT_ERRNO\", \"errnoRet\": 5",
					    "\"SCMP_ACT_KILL_PROCESS\""};
	static const uint32_t rets[] = {SECCOMP_RET_ALLOW, SECCOMP_RET_LOG, SECCOMP_RET_TRAP,
					SECCOMP_RET_ERRNO | 5, SECCOMP_RET_KILL_PROCESS};
	static const char *const start[] = {"execve", "sendmsg", "recvmsg", "write", "exit_group"};
	uint32_t want[NUMBERS];
	char *text = arena_alloc(&arena, 1 << 17);
	size_t at = (size_t)sprintf(text, "%s", HEAD);
	for (int n = 0; n < NUMBERS; n++) {
		int nr = n ^ 0x155; /* not in order */
		char name[64];
		syscall_name(filter_native_arch, nr, name, sizeof(name));
		want[nr] = DEFAULT_RET;
		bool known = strncmp(name, "syscall_", 8) != 0 && nr <= 456 && nr != 335 && nr != 336;
		for (size_t i = 0; i < sizeof(start) / sizeof(start[0]); i++) {
			if (strcmp(name, start[i]) == 0) {
				want[nr] = SECCOMP_RET_ALLOW;
				known = false;
			}
		}
		if (known) {
			want[nr] = rets[(nr * 7 + nr / 9) % 5];
			at += (size_t)sprintf(text + at, ",{\"names\": [\"%s\"], \"action\": %s}",
					      name, texts[(nr * 7 + nr / 9) % 5]);
		}
	}
	sprintf(text + at, TAIL);
	struct built *b = good(text);
	for (int nr = 0; nr < NUMBERS; nr++) {
		struct seccomp_data d = {.arch = filter_native_arch, .nr = nr};
		if (bpf_run(b->f.quiet, b->f.quiet_len, &d, NULL) != want[nr])
			fail_msg("number %d", nr);
	}
}

/* ---- what is not in the file ---- */

static void test_foreign(void **state)
{
	(void)state;
	struct built *b = good("{\"defaultAction\": \"SCMP_ACT_ALLOW\", \"syscalls\": []}");
	static const uint32_t arches[] = {AUDIT_ARCH_I386, AUDIT_ARCH_ARM, AUDIT_ARCH_X86_64,
					  AUDIT_ARCH_AARCH64};
	for (size_t i = 0; i < sizeof(arches) / sizeof(arches[0]); i++) {
		struct seccomp_data d = {.arch = arches[i], .nr = 1};
		bool foreign = arches[i] != filter_native_arch;
		assert_int_equal(bpf_run(b->f.quiet, b->f.quiet_len, &d, NULL),
				 foreign ? SECCOMP_RET_ERRNO | EPERM : SECCOMP_RET_ALLOW);
		assert_int_equal(bpf_run(b->f.insns, b->f.len, &d, NULL),
				 foreign ? SECCOMP_RET_USER_NOTIF : SECCOMP_RET_ALLOW);
	}
	struct seccomp_data x32 = {.arch = AUDIT_ARCH_X86_64, .nr = X32_BIT | 1};
	assert_int_equal(bpf_run(b->f.insns, b->f.len, &x32, NULL), SECCOMP_RET_USER_NOTIF);

	b = good("{\"defaultAction\": \"SCMP_ACT_ALLOW\", \"architectures\": "
		 "[\"SCMP_ARCH_X86_64\", \"SCMP_ARCH_AARCH64\", \"SCMP_ARCH_X86\", \"SCMP_ARCH_X32\"]}");
	assert_true(warned(b, "3 other architectures are not honoured"));
	struct seccomp_data i386 = {.arch = AUDIT_ARCH_I386, .nr = 1};
	assert_int_equal(bpf_run(b->f.quiet, b->f.quiet_len, &i386, NULL), SECCOMP_RET_ERRNO | EPERM);
	b = good("{\"defaultAction\": \"SCMP_ACT_ALLOW\", \"archMap\": ["
		 "{\"architecture\": \"SCMP_ARCH_X86_64\", \"subArchitectures\": [\"SCMP_ARCH_X86\"]},"
		 "{\"architecture\": \"SCMP_ARCH_AARCH64\", \"subArchitectures\": [\"SCMP_ARCH_ARM\"]}]}");
	assert_true(warned(b, "1 other architectures"));
}

/* A limit that rests on the filter holds under a profile that allows everything. */
static void test_switches(void **state)
{
	(void)state;
	const char *text = "{\"defaultAction\": \"SCMP_ACT_ALLOW\"}";
	put(text, strlen(text));
	for (int on = 0; on < 4; on++) {
		struct built *b = build_with(NULL, on & 1, on & 2);
		assert_int_equal(b->got, 0);
		assert_int_equal(answer(b, "fcntl", 0, 1031),
				 on & 1 ? SECCOMP_RET_ALLOW : SECCOMP_RET_ERRNO | EPERM);
		assert_int_equal(answer(b, "fcntl", 0, 1031 | 1ULL << 32),
				 on & 1 ? SECCOMP_RET_ALLOW : SECCOMP_RET_ERRNO | EPERM);
		assert_int_equal(answer(b, "fcntl", 1031, 3), SECCOMP_RET_ALLOW);
		assert_int_equal(answer(b, "sched_setaffinity", 0, 0),
				 on & 2 ? SECCOMP_RET_ALLOW : SECCOMP_RET_ERRNO | EPERM);
		assert_int_equal(answer(b, "read", 0, 1031), SECCOMP_RET_ALLOW);
		struct seccomp_data d = {.arch = AUDIT_ARCH_I386, .nr = 72};
		assert_int_equal(bpf_run(b->f.quiet, b->f.quiet_len, &d, NULL),
				 SECCOMP_RET_ERRNO | EPERM);
	}
}

static void test_applies(void **state)
{
	(void)state;
	struct built *b = good(
		HEAD ROW("\"read\"", ALLOW
			 ", \"includes\": {\"caps\": [\"CAP_SYS_ADMIN\"]}") ROW("\"close\"", ALLOW
										", \"excludes\": {\"caps\": [\"CAP_SYS_ADMIN\"]}")
			ROW("\"fsync\"", ALLOW
			    ", \"includes\": {\"minKernel\": \"4.8\"}") ROW("\"sync\"", ALLOW
									    ", \"includes\": {\"minKernel\": \"99.0\"}")
				ROW("\"flock\"", ALLOW ", \"excludes\": {\"minKernel\": \"4.8\"}")
					ROW("\"umask\"", ALLOW
					    ", \"includes\": {\"arches\": [\"amd64\", \"arm64\"]}")
						ROW("\"chdir\"", ALLOW
						    ", \"includes\": {\"arches\": [\"s390x\"]}")
							ROW("\"fchdir\"", ALLOW
							    ", \"excludes\": {\"arches\": [\"amd64\", \"arm64\"]}")
								ROW("\"socketcall\", \"chown32\", \"getuid32\"",
								    ALLOW) TAIL);
	static const char *const allowed[] = {"close", "fsync", "umask"};
	static const char *const refused[] = {"read", "sync", "flock", "chdir", "fchdir"};
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(answer(b, allowed[i], 0, 0), SECCOMP_RET_ALLOW);
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(answer(b, refused[i], 0, 0), DEFAULT_RET);
	assert_int_equal(b->r.warnings_len, 0);
}

static void test_unknown_names(void **state)
{
	(void)state;
	struct built *b = good(HEAD ROW("\"no_such_call\", \"mseal\", \"read\"", ALLOW) TAIL);
	assert_true(warned(b, "skipped names that are not known: no_such_call mseal"));
	assert_int_equal(answer(b, "read", 0, 0), SECCOMP_RET_ALLOW);
	assert_int_equal(answer(b, "mseal", 0, 0), DEFAULT_RET);
	/* As strict as the default: denied either way. */
	b = good(HEAD ROW("\"no_such_call\"", "\"SCMP_ACT_ERRNO\"") TAIL);
	assert_true(warned(b, "no_such_call"));
	b = build(HEAD ROW("\"no_such_call\"", "\"SCMP_ACT_KILL\"") TAIL);
	assert_int_equal(b->got, -1);
	assert_int_equal(b->e.kind, ERR_USAGE);
	assert_non_null(
		strstr(b->e.msg,
		       "profile.json:2:1: no_such_call is not known, and its row is stricter"));
	b = build("{\"defaultAction\": \"SCMP_ACT_ALLOW\", \"syscalls\": [{\"name\": \"mseal\", \"action\": "
		  "\"SCMP_ACT_ERRNO\"}]}");
	assert_int_equal(b->got, -1);
	/* A row that does not apply may say what it likes. */
	good(HEAD ROW("\"no_such_call\"", "\"SCMP_ACT_KILL\", \"includes\": {\"caps\": [\"CAP_X\"]}")
		     TAIL);
	/* Very many: one warning, whole. */
	char *text = arena_alloc(&arena, 1 << 16);
	size_t at = (size_t)sprintf(text, "%s,{\"action\": " ALLOW ", \"names\": [\"read\"", HEAD);
	for (int i = 0; i < 1000; i++)
		at += (size_t)sprintf(text + at, ", \"no_such_call_%d\"", i);
	sprintf(text + at, "]}" TAIL);
	b = good(text);
	assert_int_equal(b->r.warnings_len, 1);
	assert_true(warned(b, " ..."));
}

static void test_contradictions(void **state)
{
	(void)state;
	struct built *b = good(HEAD ROW("\"read\"", ALLOW) ROW("\"read\"", "\"SCMP_ACT_ERRNO\"")
				       ROW("\"close\"", "\"SCMP_ACT_ERRNO\"") ROW("\"close\"", ALLOW)
					       ROW("\"sync\"", ALLOW) ROW("\"sync\"", ALLOW) TAIL);
	assert_int_equal(answer(b, "read", 0, 0), SECCOMP_RET_ERRNO | 1);
	assert_int_equal(answer(b, "close", 0, 0), SECCOMP_RET_ERRNO | 1);
	assert_true(warned(b, "contradict each other the stricter holds: close read") ||
		    warned(b, "contradict each other the stricter holds: read close"));
	/* Another answer that is the default's does not vanish. */
	b = good(HEAD ROW("\"read\"", ALLOW) ROW("\"read\"", "\"SCMP_ACT_ERRNO\", \"errnoRet\": 99")
			 TAIL);
	assert_int_equal(answer(b, "read", 0, 0), DEFAULT_RET);

	static const char *const torn[] = {
		HEAD ROW("\"ioctl\"", ALLOW)
			ROW("\"ioctl\"", "\"SCMP_ACT_ERRNO\", \"args\": [" ARG(1, 21522, 0, "EQ") "]")
				TAIL,
		HEAD ROW("\"ioctl\"",
			 "\"SCMP_ACT_ERRNO\", \"errnoRet\": 99, \"args\": [" ARG(1, 21522, 0, "EQ") "]")
			ROW("\"ioctl\"", ALLOW) TAIL,
		HEAD ROW("\"ioctl\"", ALLOW ", \"args\": [" ARG(0, 1, 0, "EQ") "]")
			ROW("\"ioctl\"", "\"SCMP_ACT_ERRNO\", \"args\": [" ARG(1, 1, 0, "EQ") "]")
				TAIL,
		HEAD ROW("\"ioctl\"", ALLOW ", \"args\": [" ARG(1, 5, 0, "GE") "]")
			ROW("\"ioctl\"", "\"SCMP_ACT_ERRNO\", \"args\": [" ARG(1, 5, 0, "LE") "]")
				TAIL,
		HEAD ROW("\"ioctl\"", ALLOW ", \"args\": [" ARG(1, 15, 1, "MASKED_EQ") "]")
			ROW("\"ioctl\"",
			    "\"SCMP_ACT_ERRNO\", \"args\": [" ARG(1, 240, 16, "MASKED_EQ") "]") TAIL,
	};
	for (size_t i = 0; i < sizeof(torn) / sizeof(torn[0]); i++) {
		b = build(torn[i]);
		if (b->got == 0)
			fail_msg("contradiction %zu was taken", i);
		assert_non_null(strstr(b->e.msg, "ioctl is answered otherwise"));
	}
	b = good(
		HEAD ROW("\"ioctl\"", ALLOW ", \"args\": [" ARG(1, 5, 0, "GT") "]")
			ROW("\"ioctl\"", "\"SCMP_ACT_ERRNO\", \"args\": [" ARG(1, 5, 0, "LE") "]")
				ROW("\"socket\"",
				    "\"SCMP_ACT_ERRNO\", \"errnoRet\": 22, \"args\": [" ARG(0, 16, 0,
											    "EQ") "]")
					ROW("\"socket\"", ALLOW ", \"args\": [" ARG(0, 16, 0, "NE") "]")
						ROW("\"fcntl\"", ALLOW
						    ", \"args\": [" ARG(1, 15, 1, "MASKED_EQ") "]")
							ROW("\"fcntl\"",
							    "\"SCMP_ACT_ERRNO\", \"args\": [" ARG(1, 255,
												  18,
												  "MASKED_EQ") "]")
								TAIL);
	assert_int_equal(answer(b, "ioctl", 0, 6), SECCOMP_RET_ALLOW);
	assert_int_equal(answer(b, "ioctl", 0, 5), SECCOMP_RET_ERRNO | 1);
	assert_int_equal(answer(b, "socket", 16, 0), SECCOMP_RET_ERRNO | 22);
	assert_int_equal(answer(b, "socket", 2, 0), SECCOMP_RET_ALLOW);
	assert_int_equal(answer(b, "fcntl", 0, 17), SECCOMP_RET_ALLOW);
	assert_int_equal(answer(b, "fcntl", 0, 18), SECCOMP_RET_ERRNO | 1);
}

/* ---- what is refused, and where it says so ---- */

static const struct {
	const char *text, *message;
} bad[] = {
	{"", "profile.json:1:1: it is empty"},
	{"null", "1:1: an object belongs here"},
	{"[]", "1:1: an object belongs there"},
	{"{}", "1:1: defaultAction is missing"},
	{"{\"defaultAction\": \"SCMP_ACT_ALLOW\"} x", "something stands behind"},
	{"{\"defaultAction\": \"SCMP_ACT_ALLOW\",}", "not JSON"},
	{"{\"defaultAction\": \"SCMP_ACT_ALLOW\", \"defaultAction\": \"SCMP_ACT_KILL\"}",
	 "a key that is there already"},
	{"{\"defaultAction\": \"ALLOW\"}", "1:19: defaultAction: no such action"},
	{"{\"defaultAction\": 5}", "1:19: defaultAction: a string belongs there"},
	{"{\"defaultAction\": \"SCMP_ACT_NOTIFY\"}", "SCMP_ACT_NOTIFY"},
	{"{\"defaultAction\": \"SCMP_ACT_TRACE\"}", "SCMP_ACT_TRACE"},
	{"{\"defaultAction\": \"SCMP_ACT_ALLOW\", \"defaultErrnoRet\": 1}",
	 "only SCMP_ACT_ERRNO has an errno"},
	{"{\"defaultAction\": \"SCMP_ACT_ERRNO\", \"defaultErrnoRet\": 4096}", "not an errno"},
	{"{\"defaultAction\": \"SCMP_ACT_ERRNO\", \"defaultErrnoRet\": -1}", "a number below zero"},
	{"{\"defaultAction\": \"SCMP_ACT_ERRNO\", \"defaultErrnoRet\": 1.0}", "a whole number"},
	{"{\"defaultAction\": \"SCMP_ACT_ERRNO\", \"defaultErrnoRet\": 1, \"defaultErrno\": \"ENOSYS\"}",
	 "another errno than the number"},
	{"{\"defaultAction\": \"SCMP_ACT_ERRNO\", \"defaultErrno\": \"EWHAT\"}", "no such errno"},
	{"{\"defaultAction\": \"SCMP_ACT_ALLOW\", \"surprise\": 1}", "surprise: unknown key"},
	{"{\"defaultAction\": \"SCMP_ACT_ALLOW\", \"\\u001b[2J\": 1}", "an unknown key"},
	{"{\"defaultAction\": \"SCMP_ACT_ALLOW\", \"listenerPath\": \"/x\"}", "listenerPath"},
	{"{\"defaultAction\": \"SCMP_ACT_ALLOW\", \"architectures\": [\"SCMP_ARCH_S390X\"]}",
	 "not for this machine"},
	{"{\"defaultAction\": \"SCMP_ACT_ALLOW\", \"architectures\": \"SCMP_ARCH_X86_64\"}",
	 "an array belongs there"},
	{"{\"defaultAction\": \"SCMP_ACT_ALLOW\", \"architectures\": [5]}", "strings belong there"},
	{"{\"defaultAction\": \"SCMP_ACT_ALLOW\", \"archMap\": [5]}", "an object belongs there"},
	{"{\"defaultAction\": \"SCMP_ACT_ALLOW\", \"archMap\": [{}]}", "architecture is missing"},
	{"{\"defaultAction\": \"SCMP_ACT_ALLOW\", \"flags\": [\"LOG\"]}", "not a flag"},
	{"{\"defaultAction\": \"SCMP_ACT_ALLOW\", \"syscalls\": {}}", "an array belongs there"},
	{"{\"defaultAction\": \"SCMP_ACT_ALLOW\",\n \"syscalls\": [\n  7]}",
	 "3:3: an object belongs there"},
	{HEAD ",\n{\"action\": " ALLOW "}" TAIL, "2:1: a row without names"},
	{HEAD ",\n{\"names\": [], \"action\": " ALLOW "}" TAIL, "2:1: a row without names"},
	{HEAD ",\n{\"names\": [\"read\"]}" TAIL, "2:1: action is missing"},
	{HEAD ",\n{\"names\": [\"read\"], \"name\": \"read\", \"action\": " ALLOW "}" TAIL,
	 "names as well"},
	{HEAD ROW("\"read\", 5", ALLOW) TAIL, "2:20: names: strings belong there"},
	{HEAD ROW("\"\"", ALLOW) TAIL, "not the name of a system call"},
	{HEAD ROW("\"re\\u0061d;\"", ALLOW) TAIL, "not the name of a system call"},
	{HEAD ROW("\"read\\u0000\"", ALLOW) TAIL, "a text that holds a NUL"},
	{HEAD ROW("\"read\"", "\"SCMP_ACT_NOTIFY\"") TAIL, "SCMP_ACT_NOTIFY"},
	{HEAD ROW("\"read\"", ALLOW ", \"args\": [{}]") TAIL, "op is missing"},
	{HEAD ROW("\"read\"", ALLOW ", \"args\": [{\"op\": \"SCMP_CMP_EQ\", \"value\": 1}]") TAIL,
	 "index"},
	{HEAD ROW("\"read\"", ALLOW ", \"args\": [{\"op\": \"SCMP_CMP_EQ\", \"index\": 1}]") TAIL,
	 "value is missing"},
	{HEAD ROW("\"read\"", ALLOW ", \"args\": [" ARG(6, 1, 0, "EQ") "]") TAIL, "from 0 to 5"},
	{HEAD ROW("\"read\"", ALLOW ", \"args\": [" ARG(0, 1, 0, "LIKE") "]") TAIL,
	 "no such comparison"},
	{HEAD ROW("\"read\"", ALLOW ", \"args\": [" ARG(0, -1, 0, "EQ") "]") TAIL,
	 "a number below zero"},
	{HEAD ROW("\"read\"", ALLOW ", \"args\": [" ARG(0, "1", 0, "EQ") "]") TAIL, "a whole number"},
	{HEAD ROW("\"read\"", ALLOW ", \"args\": [" ARG(0, 99999999999999999999, 0, "EQ") "]") TAIL,
	 "out of range"},
	{HEAD ROW("\"read\"", ALLOW ", \"args\": [" ARG(0, 1, 2, "MASKED_EQ") "]") TAIL,
	 "it never holds"},
	{HEAD ROW("\"read\"", ALLOW ", \"args\": [" ARG(0, 1, 0, "GE") "," ARG(0, 9, 0, "LE") "]")
		 TAIL,
	 "a second condition on argument 0"},
	{HEAD ROW("\"read\"", ALLOW ", \"args\": {}") TAIL, "an array belongs there"},
	{HEAD ROW("\"read\"", ALLOW ", \"includes\": []") TAIL, "an object belongs there"},
	{HEAD ROW("\"read\"", ALLOW ", \"includes\": {\"cap\": []}") TAIL, "cap: unknown key"},
	{HEAD ROW("\"read\"", ALLOW ", \"includes\": {\"caps\": [1]}") TAIL, "strings belong there"},
	{HEAD ROW("\"read\"", ALLOW ", \"includes\": {\"minKernel\": \"five\"}") TAIL,
	 "a version like"},
	{HEAD ROW("\"read\"", ALLOW ", \"includes\": {\"minKernel\": \"5.\"}") TAIL, "a version like"},
	{HEAD ROW("\"read\"", ALLOW ", \"priority\": 3") TAIL, "priority: unknown key"},
	{"{\"defaultAction\": \"SCMP_ACT_KILL\"}", "execve must be allowed"},
	{"{\"defaultAction\": \"SCMP_ACT_ALLOW\", \"syscalls\": [{\"name\": \"sendmsg\", \"action\": \"SCMP_ACT_ERRNO\"}]}",
	 "sendmsg must be allowed"},
	{"{\"defaultAction\": \"SCMP_ACT_ALLOW\", \"syscalls\": [{\"name\": \"write\", \"action\": \"SCMP_ACT_ERRNO\", "
	 "\"args\": [" ARG(0, 1, 0, "EQ") "]}]}",
	 "write must be allowed"},
};

static void test_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct built *b = build(bad[i].text);
		if (b->got != -1 || b->e.kind != ERR_USAGE || !strstr(b->e.msg, bad[i].message))
			fail_msg("text %zu (%.60s): %d %s", i, bad[i].text, b->got,
				 b->got ? b->e.msg : "taken");
		for (const char *c = b->e.msg; *c; c++)
			assert_true(*c >= 0x20 && *c < 0x7f);
	}
}

static void refuse_bytes(const char *text, size_t len, const char *message)
{
	put(text, len);
	struct built *b = build_with(NULL, true, true);
	if (b->got != -1 || b->e.kind != ERR_USAGE || !strstr(b->e.msg, message))
		fail_msg("%s: %d %s", message, b->got, b->got ? b->e.msg : "taken");
}

static void test_bounds(void **state)
{
	(void)state;
	enum { BIG = 4 * 1024 * 1024 + 1 };
	char *text = arena_alloc(&arena, BIG + 64);
	memset(text, ' ', BIG);
	refuse_bytes(text, BIG, "more than 4194304 bytes");
	memset(text, '[', BIG - 1);
	refuse_bytes(text, BIG - 1, "nested deeper");
	size_t at = (size_t)sprintf(text, "{\"defaultAction\": " ALLOW
					  ", \"syscalls\": [{\"action\": " ALLOW
					  ", \"names\": [\"read\"");
	for (int i = 0; i < 20000; i++)
		at += (size_t)sprintf(text + at, ",\"read\"");
	at += (size_t)sprintf(text + at, "]}]}");
	refuse_bytes(text, at, "more than 16384 names");
	at = (size_t)sprintf(text, HEAD);
	for (int i = 0; i < 2000; i++)
		at += (size_t)sprintf(text + at,
				      ROW("\"ioctl\"", ALLOW
					  ", \"args\": [{\"index\": 1, \"value\": %d, \"op\": "
					  "\"SCMP_CMP_EQ\"}]"),
				      3 * i);
	at += (size_t)sprintf(text + at, TAIL);
	refuse_bytes(text, at, "ioctl has too many rows");
	refuse_bytes("{\"a\0\": 1}", 9, "not JSON");
	refuse_bytes("{\"\xff\": 1}", 8, "bytes that are not UTF-8");
}

static void test_files(void **state)
{
	(void)state;
	unlink(path);
	struct built *b = build_with(NULL, true, true);
	assert_int_equal(b->got, -1);
	assert_int_equal(b->e.kind, ERR_USAGE);
	assert_int_equal(mkfifo(path, 0600), 0);
	b = build_with(NULL, true, true); /* does not wait for a writer */
	assert_non_null(strstr(b->e.msg, "not a file"));
	unlink(path);
	assert_int_equal(mkdir(path, 0700), 0);
	b = build_with(NULL, true, true);
	assert_non_null(strstr(b->e.msg, "not a file"));
	rmdir(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_actions),	      cmocka_unit_test(test_conditions),
		cmocka_unit_test(test_every_number),  cmocka_unit_test(test_foreign),
		cmocka_unit_test(test_switches),      cmocka_unit_test(test_applies),
		cmocka_unit_test(test_unknown_names), cmocka_unit_test(test_contradictions),
		cmocka_unit_test(test_refused),	      cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_files),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}

/* A profile as BPF, by libseccomp. What libseccomp would settle silently is settled here: of two
 * rows that answer the same call differently it keeps the one without conditions, the one that came
 * first, or whichever its tree meets first, and a row with the default action it does not take at
 * all. So of two rows without conditions the stricter holds, with a warning (profiles that are
 * shipped have such), and other rows with different answers must be about calls that cannot be the
 * same one, or are refused. */
#include "seccomp/profile.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fd.h"

enum { NUMBERS = 1024, PROLOGUE_LEN = 6, CALL_ROWS_MAX = 1024 };

struct call_row {
	const struct profile_row *row;
	struct call_row *next;
};

/* The rows that name one call. */
struct call {
	const char *name;
	struct call_row *rows, **tail;
	size_t len;
	const struct profile_row *unconditional; /* the strictest of them */
};

struct compiler {
	const struct profile *p;
	struct profile_context *context;
	scmp_filter_ctx ctx;
	struct err *err;
	struct call calls[NUMBERS];
	char unknown[PROFILE_WARNING_SIZE]; /* names, for a warning */
	char wide[PROFILE_WARNING_SIZE];
	char torn[PROFILE_WARNING_SIZE];
};

static void context_release(scmp_filter_ctx *ctx)
{
	if (*ctx)
		seccomp_release(*ctx);
}

static int refuse_row(struct compiler *c, const struct profile_row *row, const char *name,
		      const char *what)
{
	size_t line, column;
	profile_row_position(c->p, row, &line, &column);
	return err_usage(c->err, "%s:%zu:%zu: %s %s", c->p->name, line, column, name, what);
}

static bool has_word(const char *list, const char *word)
{
	size_t len = strlen(word);
	for (const char *at = strstr(list, word); at; at = strstr(at + 1, word)) {
		if ((at == list || at[-1] == ' ') && (at[len] == ' ' || at[len] == '\0'))
			return true;
	}
	return false;
}

/* Add a name to a list for a warning, once, as long as there is room. */
static void list_name(char *list, const char *name)
{
	size_t at = strlen(list);
	if (has_word(list, name))
		return;
	if (at + strlen(name) + 3 < PROFILE_WARNING_SIZE / 2)
		snprintf(list + at, PROFILE_WARNING_SIZE - at, "%s%s", at ? " " : "", name);
	else if (at > 0 && list[at - 1] != '.')
		snprintf(list + at, PROFILE_WARNING_SIZE - at, " ...");
}

/* The kernel's order, from the strictest. */
static int looseness(uint32_t action)
{
	static const uint32_t order[] = {SCMP_ACT_KILL_PROCESS, SCMP_ACT_KILL_THREAD,
					 SCMP_ACT_TRAP,		SCMP_ACT_ERRNO(0),
					 SCMP_ACT_LOG,		SCMP_ACT_ALLOW};
	for (int i = 0; i < (int)(sizeof(order) / sizeof(order[0])); i++) {
		if ((action & SECCOMP_RET_ACTION_FULL) == (order[i] & SECCOMP_RET_ACTION_FULL))
			return i;
	}
	return -1;
}

static bool is_upper_bound(const struct scmp_arg_cmp *c)
{
	return c->op == SCMP_CMP_LT || c->op == SCMP_CMP_LE;
}

static bool is_lower_bound(const struct scmp_arg_cmp *c)
{
	return c->op == SCMP_CMP_GT || c->op == SCMP_CMP_GE;
}

/* A comparison of 64 bits where the kernel may look at 32: is the row then passed, if it opens
 * something, or missed, if it closes something, by setting a high bit? */
static bool high_bit_matters(const struct profile *p, const struct profile_row *row)
{
	bool opens = looseness(row->action) > looseness(p->default_action);
	for (unsigned int i = 0; i < row->args_len; i++) {
		enum scmp_compare op = row->args[i].op;
		bool wide = row->args[i].datum_a > UINT32_MAX; /* 64 bits are meant, but for a mask */
		if (op == SCMP_CMP_MASKED_EQ ? wide && !opens
		    : opens ? !wide && (op == SCMP_CMP_NE || is_lower_bound(&row->args[i]))
			    : !wide && (op == SCMP_CMP_EQ || is_upper_bound(&row->args[i])))
			return true;
	}
	return false;
}

/* libseccomp does not know the name: then the default action is what such a call meets. */
static int note_unknown(struct compiler *c, const struct profile_row *row, const char *name)
{
	if (looseness(row->action) < looseness(c->p->default_action))
		return refuse_row(c, row, name,
				  "is not known, and its row is stricter than the default");
	list_name(c->unknown, name);
	return 0;
}

static bool cond_holds(const struct scmp_arg_cmp *c, uint64_t value)
{
	switch (c->op) {
	case SCMP_CMP_NE:
		return value != c->datum_a;
	case SCMP_CMP_LT:
		return value < c->datum_a;
	case SCMP_CMP_LE:
		return value <= c->datum_a;
	case SCMP_CMP_EQ:
		return value == c->datum_a;
	case SCMP_CMP_GE:
		return value >= c->datum_a;
	case SCMP_CMP_GT:
		return value > c->datum_a;
	case SCMP_CMP_MASKED_EQ:
		return (value & c->datum_a) == c->datum_b;
	default:
		return true;
	}
}

/* Surely no value that both hold for? (False where that is not seen at once.) */
static bool conds_exclude(const struct scmp_arg_cmp *x, const struct scmp_arg_cmp *y)
{
	if (x->op == SCMP_CMP_EQ)
		return !cond_holds(y, x->datum_a);
	if (y->op == SCMP_CMP_EQ)
		return !cond_holds(x, y->datum_a);
	if (x->op == SCMP_CMP_MASKED_EQ && y->op == SCMP_CMP_MASKED_EQ)
		return (x->datum_b ^ y->datum_b) & x->datum_a & y->datum_a;
	if (is_upper_bound(x) && is_lower_bound(y))
		return !cond_holds(y, x->datum_a) ||
		       (!cond_holds(x, x->datum_a) && !cond_holds(y, x->datum_a - 1));
	if (is_lower_bound(x) && is_upper_bound(y))
		return conds_exclude(y, x);
	return false;
}

static bool rows_exclude(const struct profile_row *x, const struct profile_row *y)
{
	for (unsigned int i = 0; i < x->args_len; i++) {
		for (unsigned int k = 0; k < y->args_len; k++) {
			if (x->args[i].arg == y->args[k].arg &&
			    conds_exclude(&x->args[i], &y->args[k]))
				return true;
		}
	}
	return false;
}

static int note_unconditional(struct compiler *c, const struct profile_row *row, struct call *call)
{
	const struct profile_row *before = call->unconditional;
	if (before && before->action != row->action)
		list_name(c->torn, call->name);
	if (!before || looseness(row->action) < looseness(before->action))
		call->unconditional = row;
	return 0;
}

static int note_row(struct compiler *c, const struct profile_row *row, const char *name,
		    struct call *call)
{
	if (!call->tail) {
		call->name = name;
		call->tail = &call->rows;
	}
	if (row->args_len == 0)
		return note_unconditional(c, row, call);
	if (++call->len > CALL_ROWS_MAX)
		return refuse_row(c, row, name, "has too many rows");
	struct call_row *noted = arena_alloc(c->context->arena, sizeof(*noted));
	noted->row = row;
	*call->tail = noted;
	call->tail = &noted->next;
	return 0;
}

static int note_name(struct compiler *c, const struct profile_row *row, const char *name)
{
	int nr = seccomp_syscall_resolve_name_arch(c->context->arch, name);
	if (nr == __NR_SCMP_ERROR)
		return note_unknown(c, row, name);
	/* A number below zero is libseccomp's own for a call that this machine lacks: nothing to test for. */
	if (nr < 0)
		return 0;
	return nr < NUMBERS ? note_row(c, row, name, &c->calls[nr])
			    : refuse_row(c, row, name, "has a number out of range");
}

static int note_rows(struct compiler *c)
{
	for (size_t i = 0; i < c->p->rows_len; i++) {
		const struct profile_row *row = &c->p->rows[i];
		for (size_t k = 0; k < row->names_len; k++) {
			if (note_name(c, row, row->names[k]) < 0)
				return -1;
		}
	}
	return 0;
}

/* Does any earlier row with another answer, or the one without conditions, overlap this one? */
static int check_row(struct compiler *c, const struct call *call, const struct profile_row *row)
{
	bool torn = call->unconditional && call->unconditional->action != row->action;
	for (const struct call_row *r = call->rows; !torn && r->row != row; r = r->next)
		torn = r->row->action != row->action && !rows_exclude(r->row, row);
	return torn ? refuse_row(c, row, call->name,
				 "is answered otherwise by a row that may hold as well")
		    : 0;
}

static int add_row(struct compiler *c, int nr, const struct profile_row *row)
{
	/* What the default says need not be said, and libseccomp does not take it. */
	if (row->action == c->p->default_action)
		return 0;
	if (high_bit_matters(c->p, row))
		list_name(c->wide, c->calls[nr].name);
	int failed = seccomp_rule_add_array(c->ctx, row->action, nr, row->args_len, row->args);
	if (failed) {
		errno = -failed;
		err_sys(c->err, "add %s", c->calls[nr].name);
		return err_wrap(c->err, "%s", c->p->name);
	}
	return 0;
}

static int add_calls(struct compiler *c)
{
	for (int nr = 0; nr < NUMBERS; nr++) {
		const struct call *call = &c->calls[nr];
		for (const struct call_row *r = call->rows; r; r = r->next) {
			if (check_row(c, call, r->row) < 0)
				return -1;
			if (!call->unconditional && add_row(c, nr, r->row) < 0)
				return -1;
		}
		if (call->unconditional && add_row(c, nr, call->unconditional) < 0)
			return -1;
	}
	return 0;
}

/* What the program's process still calls after the filter is loaded. */
static int check_start(struct compiler *c)
{
	static const char *const needed[] = {"execve", "sendmsg", "recvmsg", "write", "exit_group"};
	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
		const struct call *call =
			&c->calls[seccomp_syscall_resolve_name_arch(c->context->arch, needed[i])];
		bool spoken = call->len > 0;
		uint32_t action = call->unconditional ? call->unconditional->action
						      : c->p->default_action;
		if (looseness(action) < looseness(SCMP_ACT_LOG) || (spoken && !call->unconditional))
			return err_usage(c->err,
					 "%s: %s must be allowed, whatever its arguments: no program starts without",
					 c->p->name, needed[i]);
	}
	return 0;
}

/* Before libseccomp's code: what the limits of this run rest on, whatever the profile says. The
 * architecture need not be asked: a foreign one is denied there in the same way. */
static unsigned int prologue(struct sock_filter *out, const struct profile_context *c)
{
	const uint32_t affinity = (uint32_t)seccomp_syscall_resolve_name_arch(c->arch,
									      "sched_setaffinity");
	const uint32_t fcntl = (uint32_t)seccomp_syscall_resolve_name_arch(c->arch, "fcntl");
	const uint32_t set_pipe_size = 1031; /* F_SETPIPE_SZ */
	const struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, affinity, c->off & WHEN_AFFINITY ? 3 : 4, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, fcntl, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, set_pipe_size, c->off & WHEN_PIPE_SIZE ? 0 : 1, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
	};
	_Static_assert(sizeof(code) / sizeof(code[0]) == PROLOGUE_LEN, "room");
	if (c->off == WHEN_ALWAYS)
		return 0;
	memcpy(out, code, sizeof(code));
	return PROLOGUE_LEN;
}

static int export(struct compiler *c, struct profile_code *code)
{
	autoclose int fd = memfd_create("seccomp", MFD_CLOEXEC);
	if (fd < 0)
		return err_sys(c->err, "memfd_create");
	int failed = seccomp_export_bpf(c->ctx, fd);
	off_t size = failed ? 0 : lseek(fd, 0, SEEK_END);
	if (failed || size <= 0 ||
	    (size_t)size / sizeof(struct sock_filter) > BPF_MAXINSNS - PROLOGUE_LEN)
		return err_usage(c->err,
				 "%s: it does not compile to the %d instructions that the kernel takes",
				 c->p->name, BPF_MAXINSNS);
	size_t len = (size_t)size / sizeof(struct sock_filter);
	struct sock_filter *insns = arena_alloc(c->context->arena,
						(len + PROLOGUE_LEN) * sizeof(*insns));
	unsigned int before = prologue(insns, c->context);
	if (pread(fd, insns + before, (size_t)size, 0) != size)
		return err_sys(c->err, "read the compiled filter");
	*code = (struct profile_code){.insns = insns, .len = (unsigned short)(before + len)};
	return 0;
}

static int prepare(struct compiler *c)
{
	if (c->context->arch != seccomp_arch_native())
		return err_host(c->err, "profiles are compiled for this machine only");
	if (!c->ctx)
		return err_host(c->err, "libseccomp: no memory, or no such default action");
	/* What is no business of the profile: no_new_privs is set by the runtime, foreign ABIs
	 * never pass; a binary tree, which the kernel loads faster. */
	int failed = seccomp_attr_set(c->ctx, SCMP_FLTATR_CTL_NNP, 0);
	failed = failed ? failed
			: seccomp_attr_set(c->ctx, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ERRNO(EPERM));
	failed = failed ? failed : seccomp_attr_set(c->ctx, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	if (failed) {
		errno = -failed;
		return err_sys(c->err, "libseccomp");
	}
	return 0;
}

static void warn(const struct compiler *c, const char *what, const char *names)
{
	profile_warn(&c->context->warnings, "seccomp profile %s: %s: %s", c->p->name, what, names);
}

int profile_compile(struct profile_code *code, const struct profile *p,
		    struct profile_context *context, struct err *e)
{
	__attribute__((cleanup(context_release))) scmp_filter_ctx ctx =
		seccomp_init(p->default_action);
	struct compiler c = {.p = p, .context = context, .ctx = ctx, .err = e};
	if (prepare(&c) < 0 || note_rows(&c) < 0 || add_calls(&c) < 0 || check_start(&c) < 0 ||
	    export(&c, code) < 0)
		return -1;
	if (c.unknown[0])
		warn(&c, "skipped names that are not known", c.unknown);
	if (c.wide[0])
		warn(&c, "conditions on 64 bits can be passed by a high bit", c.wide);
	if (c.torn[0])
		warn(&c, "of rows that contradict each other the stricter holds", c.torn);
	return 0;
}

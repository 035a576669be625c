#include "base/fd.h"
#include "runtime/run.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <sha2.h>

/* execve(2): MAX_ARG_STRLEN, 32 pages, the NUL counted. */
enum { ARG_MAX_BYTES = 131072 };

static const char default_path[] = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

unsigned plan_controllers(const struct limits *lim)
{
	unsigned want = 0;
	if (lim->memory_bytes != LIMIT_NONE)
		want |= CG_MEMORY;
	if (lim->pids != LIMIT_NONE)
		want |= CG_PIDS;
	if (lim->cpus_milli != LIMIT_NONE || lim->priority == PRIORITY_LOW)
		want |= CG_CPU;
	if (lim->read_bps != LIMIT_NONE || lim->write_bps != LIMIT_NONE ||
	    lim->read_iops != LIMIT_NONE || lim->write_iops != LIMIT_NONE)
		want |= CG_IO;
	return want;
}

static size_t env_name_len(const char *entry)
{
	return strcspn(entry, "=");
}

static bool env_same(const char *a, const char *b)
{
	size_t n = env_name_len(a);
	return n == env_name_len(b) && memcmp(a, b, n) == 0;
}

/* Ours where the caller says nothing, then the caller's. Nothing of our own environment gets in. */
static char **build_env(const struct spec *s, const char *user)
{
	const char *ours[] = {default_path,
			      "HOME=/scratch",
			      arena_printf(s->arena, "USER=%s", user),
			      arena_printf(s->arena, "LOGNAME=%s", user),
			      "LANG=C.UTF-8",
			      s->tty ? "TERM=xterm-256color" : NULL};
	const size_t ours_len = sizeof(ours) / sizeof(*ours);
	char **env = arena_alloc(s->arena, (ours_len + s->env_len + 1) * sizeof(*env));
	size_t len = 0;
	for (size_t i = 0; i < ours_len; i++) {
		size_t at = 0;
		while (ours[i] && at < s->env_len && !env_same(s->env[at], ours[i]))
			at++;
		if (ours[i] && at == s->env_len)
			env[len++] = (char *)(uintptr_t)ours[i];
	}
	for (size_t i = 0; i < s->env_len; i++) /* names are unique: spec_set() saw to it */
		env[len++] = arena_strdup(s->arena, s->env[i]);
	return env;
}

static int check_words(char *const *words, const char *what, struct err *e)
{
	for (size_t i = 0; words[i]; i++) {
		size_t len = strlen(words[i]) + 1;
		if (len > ARG_MAX_BYTES)
			return err_usage(e,
					 "%s %zu is too long: %zu bytes, the kernel takes %d at most",
					 what, i, len, ARG_MAX_BYTES);
	}
	return 0;
}

/* What a shell would try: the word itself if it has a slash, else every folder of PATH. */
static const char **build_candidates(struct arena *a, const char *word, char *const *env)
{
	const char *path = "";
	for (size_t i = 0; env[i]; i++)
		if (env_same(env[i], "PATH"))
			path = env[i] + 5;
	size_t room = 2;
	for (const char *c = path; *c; c++)
		room += *c == ':';
	const char **list = arena_alloc(a, (room + 1) * sizeof(*list));
	if (strchr(word, '/') || !*word) {
		list[0] = word;
		return list;
	}
	size_t len = 0;
	for (const char *dir = path; *path;) {
		size_t n = strcspn(dir, ":");
		list[len++] = n ? arena_printf(a, "%.*s/%s", (int)n, dir, word)
				: arena_printf(a, "./%s", word);
		if (!dir[n])
			break;
		dir += n + 1;
	}
	return list;
}

static int plan_words(struct plan *p, const struct spec *s, struct err *e)
{
	struct launch *l = &p->launch;
	l->argv = arena_alloc(s->arena, (s->command_len + 1) * sizeof(*l->argv));
	for (size_t i = 0; i < s->command_len; i++)
		l->argv[i] = arena_strdup(s->arena, s->command[i]);
	l->envp = build_env(s, l->root.user);
	if (check_words(l->argv, "argument", e) < 0 ||
	    check_words(l->envp, "environment entry", e) < 0)
		return -1;
	l->candidates = build_candidates(s->arena, l->argv[0], l->envp);
	return 0;
}

/* The kernel lays the words of a command line out one behind the other. */
static void plan_title(struct launch *l, char *const *words)
{
	if (!words || !words[0])
		return;
	char *end = words[0];
	for (size_t i = 0; words[i] == end; i++)
		end += strlen(end) + 1;
	l->title = words[0];
	l->title_len = (size_t)(end - words[0]);
}

static int plan_cpus(struct plan *p, const struct spec *s, struct err *e)
{
	struct launch *l = &p->launch;
	if (sched_getaffinity(0, sizeof(l->cpus_allowed), &l->cpus_allowed) < 0)
		return err_sys(e, "read the cpu affinity");
	const unsigned have = (unsigned)CPU_COUNT(&l->cpus_allowed);
	const uint64_t want = s->limits.cpus_milli == LIMIT_NONE
				      ? have
				      : (s->limits.cpus_milli + 999) / 1000;
	l->cpus = want < have ? (unsigned)want : have;
	l->set_affinity = l->cpus < have;
	return 0;
}

static void plan_root(struct plan *p)
{
	struct launch *l = &p->launch;
	const bool single = l->ids.form == IDS_FORM_SINGLE;
	l->root.uid = l->ids.uid;
	l->root.gid = l->ids.gid;
	l->root.gid_tty_mapped = !single;
	l->root.devpts_max = single ? 64 : 1024;
	l->root.cgroup_mount = p->cgroup_leaf;
}

static int plan_filter(struct plan *p, const struct sandbox_options *o, struct result *r,
		       struct err *e)
{
	const struct spec *s = p->launch.spec;
	const bool cpu_controller = p->place.controllers & CG_CPU;
	const struct filter_options fo = {
		.pipe_size = p->launch.ids.form != IDS_FORM_SINGLE,
		.affinity = cpu_controller || s->limits.cpus_milli == LIMIT_NONE,
		.profile = s->seccomp_file,
		.cache_dir = o->cache_dir,
	};
	return filter_build(&p->launch.filter, &fo, s->arena, r, e);
}

void digest_spec(const struct spec *s, struct result *r)
{
	char *text = spec_write_json(s);
	if (text)
		SHA256Data((const uint8_t *)text, strlen(text), r->spec_sha256);
	free(text);
}

/* io.max has no fallback, and a limit that nothing enforces must not be accepted. */
static int check_mechanisms(const struct plan *p, struct err *e)
{
	if ((p->wanted & CG_IO) && !(p->place.controllers & CG_IO))
		return err_host(e, "io limits need the io controller of cgroup v2: %s; %s",
				p->place.why_not[3][0] ? p->place.why_not[3] : p->place.why_no_leaf,
				p->place.mend);
	return 0;
}

static int check_kernel(struct result *r, struct err *e)
{
	struct utsname u;
	if (uname(&u) < 0)
		return err_sys(e, "uname");
	snprintf(r->kernel, sizeof(r->kernel), "%s", u.release);
	char *dot;
	const unsigned long major = strtoul(u.release, &dot, 10);
	const unsigned long minor = *dot == '.' ? strtoul(dot + 1, NULL, 10) : 0;
	if (major < 5 || (major == 5 && minor < 14))
		return err_host(e,
				"Linux %s is too old: Pinfold needs 5.14 or newer (cgroup.kill, mount_setattr, "
				"RLIMIT_NPROC by user namespace)",
				u.release);
	return 0;
}

/* The sandbox's id maps and limits are written by its pid: in a /proc of another pid namespace that
 * number is somebody else. */
static int check_proc(struct err *e)
{
	char self[16];
	ssize_t n = readlink("/proc/self", self, sizeof(self) - 1);
	if (n < 0)
		return err_sys(e, "/proc is not there, or shows no process of this pid namespace");
	self[n] = '\0';
	if (strtol(self, NULL, 10) != getpid())
		return err_host(e,
				"/proc belongs to another pid namespace (it calls this process %s, not %d); mount one of "
				"this namespace's (unshare --mount-proc)",
				self, getpid());
	return 0;
}

/* One plan in the making. */
struct draft {
	struct plan *p;
	const struct spec *s;
	const struct sandbox_options *o;
	bool dry;
	struct result *r;
};

static int stage_host(struct draft *d, struct err *e)
{
	d->p->wanted = plan_controllers(&d->s->limits);
	return check_kernel(d->r, e) < 0 ? -1 : check_proc(e);
}

static int stage_ids(struct draft *d, struct err *e)
{
	return ids_prepare(&d->p->launch.ids, d->s, d->o->id_range, e);
}

static int stage_image(struct draft *d, struct err *e)
{
	return rootfs_prepare(&d->p->launch.root, d->s, d->s->arena, e);
}

static int stage_command(struct draft *d, struct err *e)
{
	if (plan_words(d->p, d->s, e) < 0)
		return -1;
	plan_title(&d->p->launch, d->o->argv);
	return 0;
}

static int stage_cgroup(struct draft *d, struct err *e)
{
	struct plan *p = d->p;
	p->place.no_scope = d->o->no_scope;
	if (cgroup_find(&p->place, d->s->cgroup_parent, p->wanted, d->dry, e) < 0 ||
	    check_mechanisms(p, e) < 0)
		return -1;
	p->cgroup_leaf = p->place.source != CGROUP_NONE;
	return 0;
}

static int stage_cpus(struct draft *d, struct err *e)
{
	return plan_cpus(d->p, d->s, e);
}

static int stage_seccomp(struct draft *d, struct err *e)
{
	return plan_filter(d->p, d->o, d->r, e);
}

/* What is not installed is said before anything is made. */
static int stage_egress(struct draft *d, struct err *e)
{
	return d->s->egress.allow.len > 0 ? egress_check(d->o->libexec, e) : 0;
}

static int stage_inputs(struct draft *d, struct err *e)
{
	const struct rules *rules = &d->s->rules;
	const struct vet_options o = {.home = d->o->home,
				      .kept = d->o->kept,
				      .bases = {rules->input_bases[0], rules->input_bases[1],
						d->o->input_base},
				      .sensitive = d->o->sensitive,
				      .configured = rules->sensitive};
	if (d->s->inputs.len == 0)
		return 0;
	if (unpack_check(&d->s->inputs, d->o->libexec, e) < 0)
		return -1;
	for (size_t i = 0; i < d->s->inputs.len; i++)
		d->p->launch.root.input_place |= d->s->inputs.inputs[i].read_only;
	d->p->sources = arena_alloc(d->s->arena, sizeof(*d->p->sources));
	return sources_open(d->p->sources, d->s, &o, e);
}

static int stage_artifacts(struct draft *d, struct err *e)
{
	return d->s->artifacts.len > 0 ? artifacts_plan(&d->p->artifacts, d->s, d->dry, e) : 0;
}

static int stage_limits(struct draft *d, struct err *e)
{
	return plan_rlimits(d->p, d->s, d->r, e);
}

static int stage_require(struct draft *d, struct err *e)
{
	struct launch *l = &d->p->launch;
	l->nice = d->s->limits.priority == PRIORITY_LOW ? 19 : 0;
	plan_root(d->p);
	ledger_fill(d->p, d->s, NULL, d->r);
	return ledger_require(d->r, d->s->require, e);
}

/* Each stands on those before it; the name is the result's cause.stage. */
static const struct {
	const char *name;
	int (*run)(struct draft *, struct err *);
} stages[] = {
	{"host", stage_host},	  {"egress", stage_egress},   {"ids", stage_ids},
	{"image", stage_image},	  {"inputs", stage_inputs},   {"command", stage_command},
	{"cgroup", stage_cgroup}, {"cpus", stage_cpus},	      {"seccomp", stage_seccomp},
	{"limits", stage_limits}, {"require", stage_require}, {"artifacts", stage_artifacts},
};

int plan_make(struct plan *p, const struct spec *s, const struct sandbox_options *o, bool dry,
	      struct result *r)
{
	struct draft d = {.p = p, .s = s, .o = o, .dry = dry, .r = r};
	struct err e = ERR_INIT;
	*p = (struct plan){.launch = {.spec = s,
				      .root = ROOTFS_INIT,
				      .ids = IDS_INIT,
				      .control = -1,
				      .egress = -1,
				      .egress_peer = -1,
				      .inputs = -1,
				      .inputs_peer = -1,
				      .stdio = {-1, -1, -1}},
			   .place = CGROUP_PLACE_INIT,
			   .artifacts = ARTIFACTS_PLAN_INIT};
	for (size_t i = 0; i < sizeof(stages) / sizeof(*stages); i++) {
		if (stages[i].run(&d, &e) == 0)
			continue;
		plan_close(p);
		result_fail(r, RUN_REFUSED, stages[i].name, &e);
		return -1;
	}
	return 0;
}

void plan_close(struct plan *p)
{
	ids_close(&p->launch.ids);
	rootfs_close(&p->launch.root);
	cgroup_place_close(&p->place);
	if (p->sources)
		sources_close(p->sources);
	if (p->launch.spec)
		artifacts_plan_close(&p->artifacts, p->launch.spec);
}

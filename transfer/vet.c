#include "transfer/vet.h"

#include "base/fd.h"
#include "transfer/mounted.h"
#include "transfer/second.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

struct named {
	const char *path, *reason;
};

static const struct named trees[] = {
	{"/etc", "this host's configuration and secrets"},
	{"/proc", "this host's proc"},
	{"/sys", "this host's sysfs"},
	{"/dev", "this host's devices and shared memory"},
	{"/run", "this host's sockets"},
	{"/boot", "this host's kernels and boot configuration"},
	{"/var/lib/docker", "a container engine's data"},
	{"/var/lib/containerd", "a container engine's data"},
	{"/var/lib/containers", "a container engine's data"},
	{"/var/lib/kubelet", "a container engine's data"},
	{"/var/lib/private", "data of this host's services"},
	{"/var/lib/sudo", "this host's secrets"},
	{"/var/lib/systemd", "this host's secrets"},
	{"/var/backups", "copies of this host's accounts"},
	{"/var/log", "this host's logs"},
	{"/var/mail", "this host's mail"},
	{"/var/spool", "this host's mail and jobs"},
};

static const struct named folders[] = {
	{"/", "this host's root directory"},
	{"/home", "home folders"},
	{"/tmp", "every user's temporary files; name a folder in it"},
	{"/var/tmp", "every user's temporary files; name a folder in it"},
};

static const struct named secrets[] = {
	{".ssh", "keys"},
	{".gnupg", "keys"},
	{".pki", "keys"},
	{".aws", "credentials"},
	{".azure", "credentials"},
	{".config/gcloud", "credentials"},
	{".config/gh", "credentials"},
	{".config/op", "credentials"},
	{".config/pinfold", "credentials"},
	{".config/containers", "credentials"},
	{".kube", "credentials"},
	{".docker", "credentials"},
	{".netrc", "credentials"},
	{".git-credentials", "credentials"},
	{".pgpass", "credentials"},
	{".npmrc", "credentials"},
	{".pypirc", "credentials"},
	{".password-store", "passwords"},
	{".local/share/keyrings", "passwords"},
	{".local/share/kwalletd", "passwords"},
	{".config/keepassxc", "passwords"},
	{".config/Bitwarden", "passwords"},
	{".config/1Password", "passwords"},
	{".mozilla", "a browser's profile"},
	{".config/google-chrome", "a browser's profile"},
	{".config/chromium", "a browser's profile"},
	{".config/BraveSoftware", "a browser's profile"},
	{".config/microsoft-edge", "a browser's profile"},
	{".config/opera", "a browser's profile"},
	{".config/vivaldi", "a browser's profile"},
	{".librewolf", "a browser's profile"},
	{".local/share/epiphany", "a browser's profile"},
	{"snap/firefox", "a browser's profile"},
	{"snap/chromium", "a browser's profile"},
	{".var/app", "profiles and keys of sandboxed programs"},
	{".thunderbird", "mail"},
};

static const struct {
	unsigned long type;
	const char *name;
} file_systems[] = {
	{PROC_SUPER_MAGIC, "proc"},
	{SYSFS_MAGIC, "sysfs"},
	{DEVPTS_SUPER_MAGIC, "devpts"},
	{CGROUP_SUPER_MAGIC, "cgroup"},
	{CGROUP2_SUPER_MAGIC, "cgroup2"},
	{DEBUGFS_MAGIC, "debugfs"},
	{TRACEFS_MAGIC, "tracefs"},
	{SECURITYFS_MAGIC, "securityfs"},
	{BPF_FS_MAGIC, "bpf"},
	{EFIVARFS_MAGIC, "efivarfs"},
	{NSFS_MAGIC, "nsfs"},
	{PSTOREFS_MAGIC, "pstore"},
	{0x62656570 /* configfs */, "configfs"},
	{SELINUX_MAGIC, "selinuxfs"},
};

static int by_inode(const void *a, const void *b)
{
	const struct vet_place *x = a, *y = b;
	if (x->dev != y->dev)
		return x->dev < y->dev ? -1 : 1;
	return (x->ino > y->ino) - (x->ino < y->ino);
}

/* Some places have two reasons, as /dev, which is the home of Debian's user sys, too: the stricter
 * one counts, and each is there once. */
static int by_inode_strict_first(const void *a, const void *b)
{
	const struct vet_place *x = a, *y = b;
	const int order = by_inode(a, b);
	return order ? order : y->tree - x->tree;
}

static void sort_places(struct vet *v)
{
	size_t kept = 0;
	qsort(v->places, v->len, sizeof(*v->places), by_inode_strict_first);
	for (size_t i = 0; i < v->len; i++)
		if (kept == 0 || by_inode(&v->places[kept - 1], &v->places[i]) != 0)
			v->places[kept++] = v->places[i];
	v->len = kept;
}

static const struct vet_place *find(const struct vet *v, const struct stat *st)
{
	const struct vet_place key = {.dev = st->st_dev, .ino = st->st_ino};
	return bsearch(&key, v->places, v->len, sizeof(key), by_inode);
}

/* -1 where it is not there. */
static int add(struct vet *v, const struct vet_place *p)
{
	struct stat st;
	if (stat(p->path, &st) < 0)
		return -1;
	if (v->len == v->room) {
		struct vet_place *more = arena_alloc(v->arena, (v->room * 2 + 64) * sizeof(*more));
		if (v->len > 0)
			memcpy(more, v->places, v->len * sizeof(*more));
		v->places = more;
		v->room = v->room * 2 + 64;
	}
	v->places[v->len] = *p;
	v->places[v->len].dev = st.st_dev;
	v->places[v->len++].ino = st.st_ino;
	return 0;
}

static void add_home(struct vet *v, const char *home)
{
	struct stat st;
	const char *path = arena_strdup(v->arena, home);
	if (strcmp(home, "/") == 0 || stat(home, &st) < 0 || !S_ISDIR(st.st_mode))
		return;
	add(v, &(struct vet_place){.path = path, .reason = "a home folder"});
	for (size_t i = 0; i < sizeof(secrets) / sizeof(*secrets); i++)
		add(v, &(struct vet_place){.path = arena_printf(v->arena, "%s/%s", home,
								secrets[i].path),
					   .reason = secrets[i].reason,
					   .tree = true});
}

/* "root:x:0:0:root:/root:/bin/bash": the home is the sixth field. */
static void add_homes(struct vet *v)
{
	char line[1024];
	FILE *file = fopen("/etc/passwd", "re");
	while (file && fgets(line, sizeof(line), file)) {
		char *at = line;
		for (int i = 0; i < 5 && at; i++) {
			at = strchr(at, ':');
			at = at ? at + 1 : NULL;
		}
		if (!at)
			continue;
		at[strcspn(at, ":\n")] = '\0';
		if (at[0] == '/')
			add_home(v, at);
	}
	if (file)
		fclose(file);
}

static int add_own(struct vet *v, const struct vet_options *o, struct err *e)
{
	for (size_t i = 0; o->sensitive && o->sensitive[i]; i++) {
		const struct vet_place p = {.path = arena_strdup(v->arena, o->sensitive[i]),
					    .reason = "on the caller's own list",
					    .tree = true};
		if (p.path[0] != '/')
			return err_usage(e, "sensitive path %s is not absolute", p.path);
		/* What is not there cannot go in. */
		if (add(v, &p) < 0 && errno != ENOENT && errno != ENOTDIR)
			return err_sys(e, "sensitive path %s", p.path);
	}
	return 0;
}

/* What is not there, or not for this caller to reach, is passed over, as of the built-in ones: the
 * host's list is for all its users. */
static void add_configured(struct vet *v, const struct vet_options *o)
{
	for (size_t i = 0; o->configured && o->configured[i]; i++)
		add(v, &(struct vet_place){.path = o->configured[i],
					   .reason = "on the list of a configuration file",
					   .tree = true});
}

static int add_bases(struct vet *v, const struct vet_options *o, struct err *e)
{
	struct stat st;
	for (size_t i = 0; i < VET_BASES; i++) {
		const char *path = o->bases[i];
		if (!path)
			continue;
		/* A variable whose value was lost on the way is no leave to take everything. */
		if (!*path)
			return err_usage(e, "the base that inputs must lie in is empty; name a "
					    "folder, or unset PINFOLD_INPUT_BASE");
		if (stat(path, &st) < 0) {
			err_sys(e, "the base that inputs must lie in, %s", path);
			e->kind = ERR_USAGE;
			return -1;
		}
		v->bases[v->bases_len++] =
			(struct vet_place){.path = path, .dev = st.st_dev, .ino = st.st_ino};
	}
	return 0;
}

/* Where nobody else could have put anything. */
static void add_kept(struct vet *v, const struct vet_options *o)
{
	struct stat st;
	if (o->kept && stat(o->kept, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
	    !(st.st_mode & 077))
		v->kept = (struct vet_place){.path = o->kept, .dev = st.st_dev, .ino = st.st_ino};
}

int vet_open(struct vet *v, struct arena *a, const struct vet_options *o, struct err *e)
{
	*v = (struct vet){.arena = a, .seconds = arena_alloc(a, sizeof(*v->seconds))};
	*v->seconds = NULL;
	for (size_t i = 0; i < sizeof(trees) / sizeof(*trees); i++)
		add(v, &(struct vet_place){.path = trees[i].path,
					   .reason = trees[i].reason,
					   .tree = true});
	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++)
		add(v, &(struct vet_place){.path = folders[i].path, .reason = folders[i].reason});
	add_homes(v);
	if (o->home && o->home[0] == '/')
		add_home(v, o->home);
	add_configured(v, o);
	add_kept(v, o);
	if (add_own(v, o, e) < 0 || add_bases(v, o, e) < 0)
		return -1;
	sort_places(v);
	return 0;
}

static int vet_file_system(int fd, const struct vet_words *w, struct err *e)
{
	struct statfs fs;
	if (fstatfs(fd, &fs) < 0)
		return err_sys(e, "input %s: statfs of %s", w->shown, w->inner);
	for (size_t i = 0; i < sizeof(file_systems) / sizeof(*file_systems); i++)
		if ((unsigned long)fs.f_type == file_systems[i].type)
			return err_usage(e, "input %s is refused: %s is on a %s of this host",
					 w->shown, w->inner, file_systems[i].name);
	return 0;
}

/* What a bind mount shows has folders above it that ".." does not lead to. */
static int vet_hidden(const struct vet *v, int fd, const struct vet_words *w, struct err *e)
{
	struct mounted *m = malloc(2 * sizeof(*m));
	if (!m)
		return err_host(e, "input %s: out of memory", w->shown);
	int rc = mounted_find(m, fd, e);
	for (size_t i = 0; rc == 0 && !m->whole && i < v->len; i++) {
		struct err unseen = ERR_INIT;
		if (!v->places[i].tree)
			continue;
		autoclose int place = open(v->places[i].path, O_PATH | O_CLOEXEC);
		if (place >= 0 && mounted_find(m + 1, place, &unseen) == 0 && mounted_within(m, m + 1))
			rc = err_usage(e, "input %s is refused: by a mount %s lies in %s (%s)",
				       w->shown, w->inner, v->places[i].path, v->places[i].reason);
	}
	free(m);
	return rc < 0 && e->kind == ERR_HOST ? err_wrap(e, "input %s", w->shown) : rc;
}

int vet_mount(const struct vet *v, int fd, const struct vet_words *w, struct err *e)
{
	return vet_file_system(fd, w, e) < 0 ? -1 : vet_hidden(v, fd, w, e);
}

int vet_file(const struct vet *v, const struct stat *st, const struct vet_words *w, struct err *e)
{
	const struct vet_place *p = find(v, st), *in = p ? NULL : second_find(v, st);
	if (p)
		return err_usage(e, "input %s is refused: %s is a second name of %s (%s)", w->shown,
				 w->inner, p->path, p->reason);
	return in ? err_usage(e, "input %s is refused: %s is a second name of a file in %s (%s)",
			      w->shown, w->inner, in->path, in->reason)
		  : 0;
}

int vet_folder(const struct vet *v, const struct stat *st, const char *shown, struct err *e)
{
	const struct vet_place *p = find(v, st);
	return p ? err_usage(e, "input %s is refused: it holds %s (%s)", shown, p->path, p->reason)
		 : 0;
}

/* The folder that the source is in, which for a file no descriptor of it leads to. */
static int open_parent(int fd, const struct stat *st, struct err *e)
{
	char link[40], path[PATH_MAX];
	struct stat again;
	if (S_ISDIR(st->st_mode))
		return openat(fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	const ssize_t n = readlink(link, path, sizeof(path) - 1);
	if (n <= 0 || path[0] != '/')
		return err_sys(e, "read the source's path through /proc");
	path[n] = '\0';
	char *slash = strrchr(path, '/');
	*slash = '\0';
	autoclose int dir = open(slash == path ? "/" : path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0 || fstatat(dir, slash + 1, &again, AT_SYMLINK_NOFOLLOW) < 0 ||
	    again.st_ino != st->st_ino || again.st_dev != st->st_dev)
		return err_host(e, "its folder cannot be told: it was moved or deleted");
	return fd_take(&dir);
}

/* Bit set of those of the bases that it is. */
static unsigned is_base(const struct vet *v, const struct stat *st)
{
	unsigned found = 0;
	if (v->kept.path && st->st_dev == v->kept.dev && st->st_ino == v->kept.ino)
		return ~0U;
	for (size_t i = 0; i < v->bases_len; i++)
		if (st->st_dev == v->bases[i].dev && st->st_ino == v->bases[i].ino)
			found |= 1U << i;
	return found;
}

/* From the source up to the root. ".." of a mount's root is the folder that it is mounted in. */
static int vet_above(const struct vet *v, int first, const char *shown, unsigned *in_bases,
		     struct err *e)
{
	autoclose int at = first;
	struct stat st, last = {0};
	for (int depth = 0; depth < PATH_MAX; depth++) {
		if (fstat(at, &st) < 0)
			return err_sys(e, "input %s: stat a folder above it", shown);
		const struct vet_place *p = find(v, &st);
		if (p && p->tree)
			return err_usage(e, "input %s is refused: it lies in %s (%s)", shown,
					 p->path, p->reason);
		*in_bases |= is_base(v, &st);
		if (depth > 0 && st.st_dev == last.st_dev && st.st_ino == last.st_ino)
			return 0;
		last = st;
		int up = openat(at, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (up < 0)
			return err_sys(e, "input %s: open a folder above it", shown);
		close(at);
		at = up;
	}
	return err_usage(e, "input %s: too deep", shown);
}

int vet_source(const struct vet *v, int fd, const char *shown, struct err *e)
{
	struct stat st;
	if (fstat(fd, &st) < 0)
		return err_sys(e, "input %s: stat", shown);
	const struct vet_place *p = find(v, &st);
	unsigned in_bases = is_base(v, &st);
	if (p && strcmp(p->path, shown) == 0)
		return err_usage(e, "input %s is refused: it is sensitive (%s)", shown, p->reason);
	if (p)
		return err_usage(e, "input %s is refused: it is %s (%s)", shown, p->path, p->reason);
	const struct vet_words words = {shown, "it"};
	if (S_ISREG(st.st_mode) && st.st_nlink > 1 && vet_file(v, &st, &words, e) < 0)
		return -1;
	if (vet_mount(v, fd, &words, e) < 0)
		return -1;
	const int parent = open_parent(fd, &st, e);
	if (parent < 0)
		return e->kind ? err_wrap(e, "input %s", shown)
			       : err_sys(e, "input %s: open its folder", shown);
	if (vet_above(v, parent, shown, &in_bases, e) < 0)
		return -1;
	for (size_t i = 0; i < v->bases_len; i++)
		if (!(in_bases >> i & 1))
			return err_usage(e,
					 "input %s is refused: it does not lie in %s, where inputs must",
					 shown, v->bases[i].path);
	return 0;
}

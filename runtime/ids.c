#include "runtime/ids.h"

#include "base/fd.h"
#include "runtime/subid.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SLOT_IDS = 65536, OVERFLOW_ID = 65534 };

/* The inode of the initial user namespace: PROC_USER_INIT_INO in the kernel's include/linux/proc_ns.h. */
#define INITIAL_USER_NS 0xEFFFFFFDU

static const char slot_dir[] = "/run/pinfold";
static const char slot_file[] = "id-slots";

/* The folder holds one file with one lockable byte a slot; both stay, they are the host's, not a run's. */
static int make_slot_file(struct err *e)
{
	autoclose int dir = open(slot_dir, O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (dir < 0 && errno == ENOENT) {
		if (mkdir(slot_dir, 0700) < 0 && errno != EEXIST)
			return err_sys(e,
				       "ids: make %s, where root's runs lock their ids (a tmpfs on /run will do: mount -t tmpfs -o mode=0755 tmpfs /run)",
				       slot_dir);
		dir = open(slot_dir, O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	}
	if (dir < 0)
		return err_sys(e, "ids: open %s", slot_dir);
	struct stat st;
	if (fstat(dir, &st) < 0)
		return err_sys(e, "ids: stat %s", slot_dir);
	if (st.st_uid != 0 || (st.st_mode & 022))
		return err_host(e, "ids: %s must belong to root and be writable by root alone",
				slot_dir);
	int fd = openat(dir, slot_file, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return err_sys(e, "ids: open %s/%s", slot_dir, slot_file);
	return fd;
}

/* Only root can have put something at this place: /run is root's. */
static int open_slot_file(struct err *e)
{
	int fd = open("/run/pinfold/id-slots", O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	return fd >= 0 ? fd : make_slot_file(e);
}

static int lock_slot(int fd, off_t slot)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = slot, .l_len = 1};
	return fcntl(fd, F_OFD_SETLK, &lock);
}

static int prepare_slot(struct ids *ids, const struct spec *s, const char *slot_range, struct err *e)
{
	struct id_range range;
	if (subid_slot_range(&range, slot_range, e) < 0)
		return -1;
	const uint32_t slots = range.count / SLOT_IDS;
	autoclose int fd = open_slot_file(e);
	if (fd < 0)
		return -1;
	const uint32_t first = (uint32_t)getpid() % slots;
	for (uint32_t i = 0; i < slots; i++) {
		const uint32_t slot = (first + i) % slots;
		const uint32_t base = range.first + slot * SLOT_IDS;
		if (subid_delegated(base, SLOT_IDS) || lock_slot(fd, slot) < 0)
			continue;
		ids->form = IDS_FORM_SLOT;
		ids->uid_map[0] = ids->gid_map[0] = (struct id_map){0, base, SLOT_IDS};
		ids->uid_maps = ids->gid_maps = 1;
		ids->uid = s->uid;
		ids->gid = spec_gid(s);
		ids->kuid = base + ids->uid;
		ids->kgid = base + ids->gid;
		ids->slot_lock = fd_take(&fd);
		return 0;
	}
	return err_host(e,
			"ids: all %u slots of %u ids from %u are in use or delegated in /etc/subuid; "
			"PINFOLD_ID_RANGE=FIRST:COUNT names another range",
			slots, SLOT_IDS, range.first);
}

/* In a user namespace of somebody's, such as a container's, uid 0 is an ordinary user of the host,
 * and the ids of a slot are not there. */
static int is_host_root(bool *root, struct err *e)
{
	struct stat st;
	*root = false;
	if (geteuid() != 0)
		return 0;
	if (stat("/proc/self/ns/user", &st) < 0)
		return err_sys(e, "ids: which user namespace is this");
	*root = st.st_ino == INITIAL_USER_NS;
	return 0;
}

/* drop_caches is for the host's root alone to write (proc_sys_vm(5), mode 0200; test_perm() in the
 * kernel's fs/proc/proc_sysctl.c compares kuids). A read-only /proc/sys says so only to whom the
 * mode allows it. In doubt: yes. */
static bool acts_as_kuid_0(void)
{
	return faccessat(AT_FDCWD, "/proc/sys/vm/drop_caches", W_OK, AT_EACCESS) == 0 ||
	       errno != EACCES;
}

/* The host's root under whatever number: root may call itself something else in a namespace of its own. The
 * folder /proc is the host's root's, in every instance of it, and shows what number that is here. */
static int refuse_kuid_0(struct err *e)
{
	struct stat st;
	const uid_t uid = geteuid();
	if (stat("/proc", &st) < 0)
		return err_sys(e, "ids: stat /proc");
	/* 65534 is also what an owner without a number here is shown as. */
	if (st.st_uid != uid || (uid == OVERFLOW_ID && !acts_as_kuid_0()))
		return 0;
	return err_host(e,
			"ids: uid %u of this user namespace is the host's root, and so would the program be; run "
			"pinfold as another user, or as root outside of the namespace",
			uid);
}

static int prepare_single(struct ids *ids, const struct spec *s, bool root, struct err *e)
{
	const uid_t uid = geteuid();
	const gid_t gid = getegid();
	if (root)
		return err_usage(e,
				 "ids: --ids single as root would make the program the host's root; leave --ids auto");
	if (refuse_kuid_0(e) < 0)
		return -1;
	ids->form = IDS_FORM_SINGLE;
	ids->uid_map[0] = (struct id_map){s->uid, uid, 1};
	ids->gid_map[0] = (struct id_map){spec_gid(s), gid, 1};
	ids->uid_maps = ids->gid_maps = 1;
	ids->uid = s->uid;
	ids->gid = spec_gid(s);
	ids->kuid = uid;
	ids->kgid = gid;
	ids->groups_kept = true;
	return 0;
}

static int prepare_range(struct ids *ids, const struct spec *s, struct err *e)
{
	struct id_range uids, gids;
	if (refuse_kuid_0(e) < 0) /* pid 1 would be it */
		return -1;
	if (subid_own_range("/etc/subuid", geteuid(), &uids, e) < 0 ||
	    subid_own_range("/etc/subgid", geteuid(), &gids, e) < 0)
		return -1;
	if (s->uid == 0)
		return err_usage(e,
				 "ids: --uid 0 with --ids range would be your own uid; use --ids single");
	if (s->uid > uids.count || spec_gid(s) > gids.count)
		return err_usage(e,
				 "ids: uid %u, gid %u are not in the map: /etc/subuid gives you %u ids, "
				 "/etc/subgid %u",
				 s->uid, spec_gid(s), uids.count, gids.count);
	ids->form = IDS_FORM_RANGE;
	ids->uid_map[0] = (struct id_map){0, geteuid(), 1};
	ids->gid_map[0] = (struct id_map){0, getegid(), 1};
	ids->uid_map[1] = (struct id_map){1, uids.first, uids.count};
	ids->gid_map[1] = (struct id_map){1, gids.first, gids.count};
	ids->uid_maps = ids->gid_maps = 2;
	ids->uid = s->uid;
	ids->gid = spec_gid(s);
	ids->kuid = uids.first + ids->uid - 1;
	/* Group 0 inside is the caller's own, which opens no more than the caller may open. */
	ids->kgid = ids->gid ? gids.first + ids->gid - 1 : getegid();
	return 0;
}

int ids_prepare(struct ids *ids, const struct spec *s, const char *slot_range, struct err *e)
{
	bool root;
	if (is_host_root(&root, e) < 0)
		return -1;
	if (s->ids == IDS_SINGLE || (s->ids == IDS_AUTO && !root))
		return prepare_single(ids, s, root, e);
	if (root)
		return prepare_slot(ids, s, slot_range, e);
	return prepare_range(ids, s, e);
}

void ids_close(struct ids *ids)
{
	fd_close(&ids->slot_lock);
}

/* newuidmap(1) is setuid root or has file capabilities; ours is only to call it by its own path. */
static int run_map_helper(const char *helper, pid_t pid, const struct id_map *maps, struct err *e)
{
	char words[7][16];
	snprintf(words[0], sizeof(words[0]), "%d", pid);
	for (int i = 0; i < 2; i++) {
		snprintf(words[1 + i * 3], sizeof(words[0]), "%u", maps[i].inside);
		snprintf(words[2 + i * 3], sizeof(words[0]), "%u", maps[i].outside);
		snprintf(words[3 + i * 3], sizeof(words[0]), "%u", maps[i].count);
	}
	char *argv[] = {(char *)(uintptr_t)helper,
			words[0],
			words[1],
			words[2],
			words[3],
			words[4],
			words[5],
			words[6],
			NULL};
	char *envp[] = {NULL};
	pid_t child = fork();
	if (child < 0)
		return err_sys(e, "ids: fork for %s", helper);
	if (child == 0) {
		execve(helper, argv, envp);
		_exit(errno == ENOENT ? 127 : 126);
	}
	int status;
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return err_sys(e, "ids: wait for %s", helper);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		return err_host(e,
				"ids: %s is not there; install Debian's uidmap, or use --ids single",
				helper);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		return err_host(e,
				"ids: %s refused the map (status %d); see /etc/subuid and /etc/subgid",
				helper, status);
	return 0;
}

/* The kernel prints each map in columns; compare numbers. */
static int verify_map(int fd, const char *name, const struct id_map *maps, unsigned count,
		      struct err *e)
{
	char text[256];
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);
	if (n < 0)
		return err_sys(e, "ids: read %s back", name);
	text[n] = '\0';
	const char *p = text;
	for (unsigned i = 0; i < count; i++) {
		char *end;
		const uint32_t want[3] = {maps[i].inside, maps[i].outside, maps[i].count};
		for (int k = 0; k < 3; k++) {
			if (strtoul(p, &end, 10) != want[k] || end == p)
				return err_host(e, "ids: %s reads back as \"%.60s\"", name, text);
			p = end;
		}
	}
	if (strspn(p, " \n") != strlen(p))
		return err_host(e, "ids: %s holds more than was written: \"%.60s\"", name, text);
	return 0;
}

/* Write the map, unless a helper did, and read it back. */
static int set_map(const struct ids *ids, int proc, const char *name, const struct id_map *maps,
		   struct err *e)
{
	const bool helper = ids->form == IDS_FORM_RANGE;
	char text[64];
	autoclose int fd = openat(proc, name, (helper ? O_RDONLY : O_RDWR) | O_CLOEXEC);
	if (fd < 0)
		return err_sys(e, "ids: open %s of the sandbox", name);
	int len = snprintf(text, sizeof(text), "%u %u %u\n", maps->inside, maps->outside,
			   maps->count);
	if (!helper && write(fd, text, (size_t)len) != len)
		return err_sys(e, "ids: write \"%u %u %u\" to %s of the sandbox", maps->inside,
			       maps->outside, maps->count, name);
	return verify_map(fd, name, maps, ids->uid_maps, e);
}

int ids_map(const struct ids *ids, pid_t pid, int proc, struct err *e)
{
	if (ids->form == IDS_FORM_RANGE) {
		if (run_map_helper("/usr/bin/newuidmap", pid, ids->uid_map, e) < 0 ||
		    run_map_helper("/usr/bin/newgidmap", pid, ids->gid_map, e) < 0)
			return -1;
	} else if (ids->form == IDS_FORM_SINGLE && fd_write_small(proc, "setgroups", "deny") < 0) {
		return err_sys(e, "ids: write \"deny\" to setgroups of the sandbox");
	}
	if (set_map(ids, proc, "uid_map", ids->uid_map, e) < 0)
		return -1;
	return set_map(ids, proc, "gid_map", ids->gid_map, e);
}

void ids_describe(const struct ids *ids, char *buf, size_t size)
{
	size_t used = 0;
	for (unsigned i = 0; i < ids->uid_maps && used < size; i++) {
		const struct id_map *m = &ids->uid_map[i];
		int n = snprintf(buf + used, size - used, "%s%u %u %u", i ? ", " : "", m->inside,
				 m->outside, m->count);
		if (n < 0)
			return;
		used += (size_t)n;
	}
}

/* What must never be an image, because whoever names it did so by mistake. */
#include "rootfs/internal.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

static const struct {
	const char *path;
	const char *reason;
} sensitive[] = {
	{"/", "it is this host's root directory; use @host"},
	{"/usr", "it belongs to this host's system; use @host"},
	{"/bin", "it belongs to this host's system; use @host"},
	{"/sbin", "it belongs to this host's system; use @host"},
	{"/lib", "it belongs to this host's system; use @host"},
	{"/lib32", "it belongs to this host's system; use @host"},
	{"/lib64", "it belongs to this host's system; use @host"},
	{"/libx32", "it belongs to this host's system; use @host"},
	{"/usr/bin", "it belongs to this host's system; use @host"},
	{"/usr/lib", "it belongs to this host's system; use @host"},
	{"/usr/local", "it belongs to this host's system; use @host"},
	{"/boot", "it belongs to this host's system"},
	{"/etc", "it holds this host's configuration and secrets"},
	{"/proc", "it is this host's proc"},
	{"/sys", "it is this host's sysfs"},
	{"/dev", "it holds this host's devices"},
	{"/dev/shm", "it is shared memory of this host's processes"},
	{"/run", "it holds this host's sockets"},
	{"/run/user", "it holds this host's sockets"},
	{"/tmp", "it holds every user's temporary files"},
	{"/var", "it holds this host's data"},
	{"/var/cache", "it holds this host's data"},
	{"/var/lib", "it holds this host's data"},
	{"/var/log", "it holds this host's logs"},
	{"/var/mail", "it holds this host's mail"},
	{"/var/spool", "it holds this host's data"},
	{"/var/tmp", "it holds every user's temporary files"},
	{"/home", "it holds home folders"},
	{"/root", "it is a home folder"},
};
enum { SENSITIVE = sizeof(sensitive) / sizeof(sensitive[0]) };

/* No images, but where images may lie; by name alone. */
static const struct {
	const char *path;
	const char *reason;
} holders[] = {
	{"/media", "it holds the file systems that are mounted in it; name a folder there"},
	{"/mnt", "it holds the file systems that are mounted in it; name a folder there"},
	{"/opt", "it holds software of this host; name a folder there"},
	{"/srv", "it holds data that this host serves; name a folder there"},
	{"/run/media", "it holds the file systems that are mounted in it; name a folder there"},
	{"/var/local", "it holds this host's data"},
};

/* Sensitive with everything in it. A socket can be connected to through a read-only mount: so
 * nothing in /run is an image, the folders of users least of all, where agents with their keys and
 * buses listen; but for the disks that desktops mount in /run/media. Of /var/lib, where images have
 * their usual places too, it is what belongs to the system. */
static const struct {
	const char *path;
	const char *reason;
	const char *but; /* NULL: no exception */
} trees[] = {
	{"/etc/", "it lies in /etc, with this host's configuration and secrets", NULL},
	{"/proc/", "it lies in this host's proc", NULL},
	{"/sys/", "it lies in this host's sysfs", NULL},
	{"/boot/", "it lies in /boot", NULL},
	{"/dev/", "it lies in /dev, with this host's devices and shared memory", NULL},
	{"/run/", "it lies in /run, with this host's sockets", "/run/media/"},
	{"/lost+found/", "it holds what was saved of a file system", NULL},
	{"/var/backups/", "it holds copies of this host's accounts and packages", NULL},
	{"/var/cache/apt/", "it belongs to this host's packages", NULL},
	{"/var/cache/debconf/", "it holds this host's configuration and secrets", NULL},
	{"/var/lib/apt/", "it belongs to this host's packages", NULL},
	{"/var/lib/dbus/", "it belongs to this host's system", NULL},
	{"/var/lib/dpkg/", "it belongs to this host's packages", NULL},
	{"/var/lib/pam/", "it belongs to this host's system", NULL},
	{"/var/lib/polkit-1/", "it belongs to this host's system", NULL},
	{"/var/lib/private/", "it holds data of this host's services", NULL},
	{"/var/lib/rpm/", "it belongs to this host's packages", NULL},
	{"/var/lib/sudo/", "it belongs to this host's system", NULL},
	{"/var/lib/systemd/", "it belongs to this host's system", NULL},
	{"/var/log/", "it holds this host's logs", NULL},
	{"/var/mail/", "it holds this host's mail", NULL},
	{"/var/spool/", "it holds this host's data", NULL},
};

/* Whether path is tree, which ends with a slash, or lies in it. */
static bool in_tree(const char *path, const char *tree)
{
	const size_t len = strlen(tree) - 1;
	return strncmp(path, tree, len) == 0 && (path[len] == '/' || path[len] == '\0');
}

/* Whether path is a folder right below parent, which ends with a slash. */
static bool right_below(const char *path, const char *parent)
{
	const size_t len = strlen(parent);
	return strncmp(path, parent, len) == 0 && !strchr(path + len, '/');
}

/* Folders of secrets, wherever they are. */
static const char *const secrets[] = {".ssh", ".gnupg", ".aws", ".kube", ".docker", ".config"};

static int refuse(const struct rootfs *r, const char *reason, struct err *e)
{
	return err_usage(e, "%s is refused as an image: %s", r->image_path, reason);
}

int rootfs_vet_name(const struct rootfs *r, struct err *e)
{
	const char *path = r->image_path;
	for (size_t i = 0; i < SENSITIVE; i++)
		if (strcmp(path, sensitive[i].path) == 0)
			return refuse(r, sensitive[i].reason, e);
	for (size_t i = 0; i < sizeof(holders) / sizeof(holders[0]); i++)
		if (strcmp(path, holders[i].path) == 0)
			return refuse(r, holders[i].reason, e);
	for (size_t i = 0; i < sizeof(trees) / sizeof(trees[0]); i++)
		if (in_tree(path, trees[i].path) && !(trees[i].but && in_tree(path, trees[i].but)))
			return refuse(r, trees[i].reason, e);
	if (right_below(path, "/home/"))
		return refuse(r, "it is a home folder", e);
	if (right_below(path, "/usr/") || right_below(path, "/usr/local/"))
		return refuse(r, "it belongs to this host's system; use @host", e);
	const char *base = strrchr(path, '/') + 1;
	for (size_t i = 0; i < sizeof(secrets) / sizeof(secrets[0]); i++)
		if (strcmp(base, secrets[i]) == 0)
			return refuse(r, "folders of that name hold secrets", e);
	return 0;
}

/* Under another name: a bind mount shows a directory in a second place. */
static bool same(const struct rootfs *r, const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 && st.st_dev == r->image_dev && st.st_ino == r->image_ino;
}

static int vet_alias(const struct rootfs *r, struct err *e)
{
	for (size_t i = 0; i < SENSITIVE; i++)
		if (same(r, sensitive[i].path))
			return refuse(r, sensitive[i].reason, e);
	return 0;
}

/* "root:x:0:0:root:/root:/bin/bash": the home is the sixth field. */
static char *home_field(char *line)
{
	char *at = line;
	for (int i = 0; i < 5; i++) {
		at = strchr(at, ':');
		if (!at)
			return NULL;
		at++;
	}
	at[strcspn(at, ":")] = '\0';
	return *at == '/' && at[1] ? at : NULL;
}

static int vet_home(const struct rootfs *r, const char *home, bool alias, struct err *e)
{
	size_t len = strlen(r->image_path);
	if (strcmp(home, r->image_path) == 0 || (alias && same(r, home)))
		return refuse(r, "it is a home folder, /etc/passwd says", e);
	if (strncmp(home, r->image_path, len) == 0 && home[len] == '/')
		return refuse(r, "it holds a home folder, /etc/passwd says", e);
	return 0;
}

struct homes {
	const struct rootfs *r;
	bool alias;
};

static int vet_line(void *arg, char *line, struct err *e)
{
	const struct homes *h = arg;
	char *home = home_field(line);
	return home ? vet_home(h->r, home, h->alias, e) : 0;
}

static int vet_homes(const struct rootfs *r, bool alias, struct err *e)
{
	autoclose int fd = open("/etc/passwd", O_RDONLY | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return 0; /* no accounts, no home folders to know of */
	if (fd < 0)
		return err_sys(e, "open /etc/passwd");
	struct homes h = {r, alias};
	char buf[2048];
	buf[0] = '\0';
	return lines_walk(fd, &(struct line_walk){buf, sizeof(buf), vet_line, &h}, e);
}

int rootfs_vet_place(const struct rootfs *r, uint64_t mount_id, struct err *e)
{
	struct statx root;
	if (statx(AT_FDCWD, "/", AT_NO_AUTOMOUNT, STATX_INO | STATX_MNT_ID, &root) < 0)
		return err_sys(e, "stat /");
	/* On the mount of "/" a directory has one name, the one compared above. On any other it
	 * may be a second place of a sensitive one: then the inodes tell. */
	bool alias = mount_id != root.stx_mnt_id;
	if (alias && vet_alias(r, e) < 0)
		return -1;
	/* What has folders for proc, for devices and for configuration is the root of a system. */
	const uint32_t system = 1u << TARGET_PROC | 1u << TARGET_DEV | 1u << TARGET_ETC;
	return r->missing & system ? vet_homes(r, alias, e) : 0;
}

/* @host: the host's /usr, read-only, with the few files outside that programs in it need. */
#include "rootfs/internal.h"

#include <errno.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

/* Next to /usr: links into it where the host has merged them, else directories of their own. */
static const char *const beside_usr[] = {"bin", "sbin", "lib", "lib32", "lib64", "libx32"};

/* All that is shown of the host's /etc, each with its reason; what is not there is left out. None
 * of them holds a secret, an account or a name of the host's. Parents before children. */
static const struct {
	const char *path;
	bool parent; /* a directory of ours that holds the next ones */
} etc[] = {
	{"etc/alternatives", false}, /* links that /usr/bin and /usr/lib go through */
	{"etc/ld.so.cache", false},  /* where libraries are found outside the default folders */
	{"etc/ld.so.conf", false},
	{"etc/ld.so.conf.d", false},
	{"etc/localtime", false}, /* the time zone */
	{"etc/timezone", false},
	{"etc/ssl", true}, /* certificates of CAs: public; never etc/ssl/private */
	{"etc/ssl/certs", false},
	{"etc/pki", true}, /* the same on other distributions */
	{"etc/pki/tls", true},
	{"etc/pki/tls/certs", false},
	{"etc/pki/ca-trust", true},
	{"etc/pki/ca-trust/extracted", false},
};
enum { BESIDE = sizeof(beside_usr) / sizeof(beside_usr[0]), ETC = sizeof(etc) / sizeof(etc[0]) };

/* As path is on the host, so its place on the stage: a link is copied, a directory or file gets one
 * of its type to be mounted on. */
static int make_place(const char *path, struct err *e)
{
	char from[64], to[64], link[256];
	put(put(from, "/"), path);
	put(put(to, STAGE "root/"), path);
	struct stat st;
	if (lstat(from, &st) < 0)
		return errno == ENOENT ? 0 : err_sys(e, "stat %s", from);
	if (S_ISLNK(st.st_mode)) {
		ssize_t n = readlink(from, link, sizeof(link) - 1);
		if (n < 0)
			return err_sys(e, "readlink %s", from);
		link[n] = '\0';
		if (symlink(link, to) < 0)
			return err_sys(e, "link %s", to);
		return 0;
	}
	int made = S_ISDIR(st.st_mode) ? mkdir(to, 0755) : mknod(to, S_IFREG | 0444, 0);
	if (made < 0)
		return err_sys(e, "create %s", to);
	return 0;
}

int host_skeleton(struct enter *x, struct err *e)
{
	if (mkdir(STAGE "root/usr", 0755) < 0)
		return err_sys(e, "mkdir %s", STAGE "root/usr");
	for (size_t i = 0; i < BESIDE; i++)
		if (make_place(beside_usr[i], e) < 0)
			return -1;
	for (size_t i = 0; i < ETC; i++)
		if (make_place(etc[i].path, e) < 0)
			return -1;
	(void)x;
	return 0;
}

static int bind_place(const char *path, struct err *e)
{
	char from[64], to[64];
	put(put(from, "/"), path);
	put(put(to, STAGE_NEW "/"), path);
	struct stat st;
	if (lstat(to, &st) < 0)
		return errno == ENOENT ? 0 : err_sys(e, "stat %s", to);
	return S_ISLNK(st.st_mode) ? 0 : stage_bind(from, to, MS_REC, e);
}

int host_bind(struct enter *x, struct err *e)
{
	(void)x;
	if (stage_bind(STAGE "root", STAGE_NEW, 0, e) < 0 || bind_place("usr", e) < 0)
		return -1;
	for (size_t i = 0; i < BESIDE; i++)
		if (bind_place(beside_usr[i], e) < 0)
			return -1;
	for (size_t i = 0; i < ETC; i++)
		if (!etc[i].parent && bind_place(etc[i].path, e) < 0)
			return -1;
	return stage_attr(STAGE_NEW, AT_RECURSIVE,
			  MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV, e);
}

/* What the client sees of the host: copies of the files that say how a name is looked up and whom
 * TLS trusts, made before it has met a stranger. */
#include "rootfs/image/client.h"

#include "base/fd.h"

#include <curl/curl.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The two of resolv.conf(5), and libcurl's. */
const char *const client_environment[] = {
	"http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy",   "ALL_PROXY",
	"no_proxy",   "NO_PROXY",    "RES_OPTIONS", "LOCALDOMAIN", NULL,
};

/* Of one file; all of them have the room of an empty root (rootfs_confine_empty()). */
enum { COPY_BYTES_MAX = 8 << 20, CERTIFICATES_MAX = 1024, BLOCK = 65536 };

/* How names are looked up, by libc: in hosts and by DNS. Other ways of nsswitch.conf are modules,
 * which are not there, and which libc then does without. */
static const char *const name_files[] = {"resolv.conf", "hosts", "nsswitch.conf", "host.conf",
					 "gai.conf"};

static int copy_bytes(int from, int to, const char *path, struct err *e)
{
	char block[BLOCK];
	size_t total = 0;
	ssize_t n;
	while ((n = read(from, block, sizeof(block))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(e, "read %s", path);
		total += (size_t)n;
		if (total > COPY_BYTES_MAX)
			return err_usage(e, "%s: larger than %d bytes", path, COPY_BYTES_MAX);
		if (fd_write_all(to, block, (size_t)n) < 0)
			return err_sys(e, "copy %s", path);
	}
	return 0;
}

/* from, taken, which was opened as path, becomes (dir, name). */
static int copy_open(int from, const char *path, int dir, const char *name, struct err *e)
{
	autoclose int source = from;
	autoclose int to = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0400);
	if (to < 0)
		return err_sys(e, "copy %s", path);
	return copy_bytes(source, to, path, e);
}

static int open_source(const char *path)
{
	return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

/* 1; 0: there is no such file that the caller may read, and it can be done without; -1. */
static int copy_if_there(const char *path, int dir, const char *name, struct err *e)
{
	const int from = open_source(path);
	if (from < 0)
		return errno == ENOENT || errno == ENOTDIR || errno == EACCES
			       ? 0
			       : err_sys(e, "open %s", path);
	return copy_open(from, path, dir, name, e) < 0 ? -1 : 1;
}

static int copy_names(int root, struct err *e)
{
	char path[64];
	if (mkdirat(root, "etc", 0700) < 0)
		return err_sys(e, "the client's /etc");
	autoclose int etc = openat(root, "etc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (etc < 0)
		return err_sys(e, "the client's /etc");
	for (size_t i = 0; i < sizeof(name_files) / sizeof(*name_files); i++) {
		snprintf(path, sizeof(path), "/etc/%s", name_files[i]);
		if (copy_if_there(path, etc, name_files[i], e) < 0)
			return -1;
	}
	return 0;
}

/* "HHHHHHHH.N": how OpenSSL asks for a certificate in a folder. */
static bool is_hash(const char *name)
{
	return strspn(name, "0123456789abcdef") == 8 && name[8] == '.' && name[9] &&
	       strspn(name + 9, "0123456789") == strlen(name + 9);
}

static int copy_entries(DIR *from, int to, struct err *e)
{
	const struct dirent *entry;
	const int folder = dirfd(from);
	unsigned int count = 0;
	if (folder < 0)
		return err_sys(e, "a folder of certificates");
	while (count < CERTIFICATES_MAX && (entry = readdir(from))) {
		if (!is_hash(entry->d_name))
			continue;
		const int fd = openat(folder, entry->d_name,
				      O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
		/* a link that leads nowhere is a certificate that is not trusted any more */
		if (fd < 0)
			continue;
		if (copy_open(fd, entry->d_name, to, entry->d_name, e) < 0)
			return -1;
		count++;
	}
	return 0;
}

static int copy_folder(const char *path, int root, struct err *e)
{
	DIR *from = opendir(path);
	if (!from)
		return 0;
	int rc = -1;
	autoclose int to = mkdirat(root, "certs", 0700) < 0
				   ? -1
				   : openat(root, "certs", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (to < 0)
		err_sys(e, "the client's certificates");
	else
		rc = copy_entries(from, to, e) < 0 ? -1 : 1;
	closedir(from);
	return rc;
}

/* libcurl knows where this host has them. */
static int copy_host_trust(int root, struct registry_trust *trust, struct err *e)
{
	CURL *easy = curl_easy_init();
	char *file = NULL, *folder = NULL;
	int got_file = 0, got_folder = 0;
	if (!easy)
		return err_host(e, "libcurl does not start");
	curl_easy_getinfo(easy, CURLINFO_CAINFO, &file);
	curl_easy_getinfo(easy, CURLINFO_CAPATH, &folder);
	if (file)
		got_file = copy_if_there(file, root, "ca.pem", e);
	if (got_file >= 0 && folder)
		got_folder = copy_folder(folder, root, e);
	curl_easy_cleanup(easy);
	if (got_file < 0 || got_folder < 0)
		return -1;
	*trust = (struct registry_trust){got_file ? "/ca.pem" : NULL, got_folder ? "/certs" : NULL};
	return 0;
}

static int copy_trust(int root, struct client *c, struct err *e)
{
	if (copy_host_trust(root, &c->o.proxy_trust, e) < 0)
		return -1;
	c->o.trust = c->o.proxy_trust;
	if (!c->ca_file)
		return 0;
	const int from = open_source(c->ca_file);
	if (from < 0)
		return err_usage(e, "open %s: %s", c->ca_file, strerrordesc_np(errno));
	/* alone: else the host's are trusted as well */
	c->o.trust = (struct registry_trust){"/own.pem", NULL};
	return copy_open(from, c->ca_file, root, "own.pem", e);
}

/* libcurl starts here, where OpenSSL still finds the host's configuration. */
int client_fill(int root, void *client, struct err *e)
{
	if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
		return err_host(e, "libcurl does not start");
	if (copy_names(root, e) < 0)
		return -1;
	return copy_trust(root, client, e);
}

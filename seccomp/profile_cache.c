/* Compiled profiles by digest, in a folder of ours. Whoever can write there decides what a program
 * may call, so the folder and each entry must be the user's own and closed to others; the checksum
 * in an entry is against a full disk, not against them. */
#include "seccomp/profile.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <sha2.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define ENTRY_MAGIC "pinfoldF"

struct entry_head {
	char magic[8];
	uint32_t insns, warnings;
	uint8_t digest[SHA256_DIGEST_LENGTH]; /* of insns and warnings as they follow */
};

/* Parents too, which a home that was never logged in to lacks. */
static bool make_folder(const char *path)
{
	char part[PATH_MAX];
	if (mkdir(path, 0700) == 0 || errno == EEXIST)
		return true;
	if (errno != ENOENT || (size_t)snprintf(part, sizeof(part), "%s", path) >= sizeof(part))
		return false;
	for (char *slash = strchr(part + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(part, 0700) < 0 && errno != EEXIST)
			return false;
		*slash = '/';
	}
	return mkdir(path, 0700) == 0 || errno == EEXIST;
}

int cache_open(const char *path, struct err *e)
{
	struct stat st;
	if (!make_folder(path))
		return -1;
	autoclose int dir = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir < 0)
		return err_sys(e, "open %s", path);
	if (fstat(dir, &st) < 0)
		return err_sys(e, "stat %s", path);
	if (st.st_uid != geteuid() || (st.st_mode & 077))
		return err_host(e, "%s is not this user's alone (owner %u, mode %03o)", path,
				st.st_uid, st.st_mode & 0777);
	return fd_take(&dir);
}

static void digest(uint8_t out[SHA256_DIGEST_LENGTH], const struct sock_filter *insns,
		   uint32_t insns_len, const struct profile_warnings *w)
{
	SHA2_CTX sha;
	SHA256Init(&sha);
	SHA256Update(&sha, (const uint8_t *)insns, insns_len * sizeof(*insns));
	SHA256Update(&sha, (const uint8_t *)w->text, w->len * sizeof(w->text[0]));
	SHA256Final(out, &sha);
}

/* Exactly size bytes, the last of the file. */
static bool read_part(int fd, void *out, size_t size)
{
	for (size_t at = 0; at < size;) {
		ssize_t n = read(fd, (char *)out + at, size - at);
		if (n <= 0 && !(n < 0 && errno == EINTR))
			return false;
		at += n > 0 ? (size_t)n : 0;
	}
	return true;
}

static bool head_is_sound(const struct entry_head *h, const struct stat *st)
{
	return memcmp(h->magic, ENTRY_MAGIC, sizeof(h->magic)) == 0 && h->insns > 0 &&
	       h->insns <= BPF_MAXINSNS && h->warnings <= PROFILE_WARNINGS_MAX &&
	       (uint64_t)st->st_size == sizeof(*h) + h->insns * sizeof(struct sock_filter) +
						(uint64_t)h->warnings * PROFILE_WARNING_SIZE;
}

int cache_load(int dir, const char *key, struct profile_code *code, struct arena *a,
	       struct profile_warnings *w)
{
	struct entry_head h;
	struct profile_warnings read = {.len = 0};
	uint8_t found[SHA256_DIGEST_LENGTH];
	struct stat st;
	autoclose int fd = fd_openat2(dir, key, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0,
				      RESOLVE_BENEATH);
	if (fd < 0 || fstat(fd, &st) < 0)
		return 0;
	if (!S_ISREG(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 077))
		return 0;
	if (!read_part(fd, &h, sizeof(h)) || !head_is_sound(&h, &st))
		return 0;
	struct sock_filter *insns = arena_alloc(a, h.insns * sizeof(*insns));
	read.len = h.warnings;
	if (!read_part(fd, insns, h.insns * sizeof(*insns)) ||
	    !read_part(fd, read.text, read.len * sizeof(read.text[0])))
		return 0;
	digest(found, insns, h.insns, &read);
	if (memcmp(found, h.digest, sizeof(found)) != 0)
		return 0;
	for (size_t i = 0; i < read.len; i++)
		read.text[i][PROFILE_WARNING_SIZE - 1] = '\0';
	*code = (struct profile_code){.insns = insns, .len = (unsigned short)h.insns};
	*w = read;
	return 1;
}

/* Give the file without a name its name, in the place of one that may be there. linkat does not
 * replace, so that it takes a name of its own first. */
static int publish(int dir, int fd, const char *key)
{
	char from[32], name[32];
	uint64_t nonce;
	snprintf(from, sizeof(from), "/proc/self/fd/%d", fd);
	if (linkat(AT_FDCWD, from, dir, key, AT_SYMLINK_FOLLOW) == 0)
		return 0;
	if (errno != EEXIST || getrandom(&nonce, sizeof(nonce), 0) != sizeof(nonce))
		return -1;
	snprintf(name, sizeof(name), ".%016llx", (unsigned long long)nonce);
	if (linkat(AT_FDCWD, from, dir, name, AT_SYMLINK_FOLLOW) < 0)
		return -1;
	if (renameat(dir, name, dir, key) == 0)
		return 0;
	int sys = errno;
	unlinkat(dir, name, 0);
	errno = sys;
	return -1;
}

int cache_store(int dir, const char *key, const struct profile_code *code,
		const struct profile_warnings *w)
{
	struct entry_head h = {.magic = ENTRY_MAGIC, .insns = code->len, .warnings = (uint32_t)w->len};
	autoclose int fd = openat(dir, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
	if (fd < 0)
		return -1;
	digest(h.digest, code->insns, code->len, w);
	if (fd_write_all(fd, &h, sizeof(h)) < 0 ||
	    fd_write_all(fd, code->insns, code->len * sizeof(*code->insns)) < 0 ||
	    fd_write_all(fd, w->text, w->len * sizeof(w->text[0])) < 0)
		return -1;
	return publish(dir, fd, key);
}

#include "commands/config.h"

#include "base/fd.h"
#include "commands/commands.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char host_folder[] = "/etc/pinfold";
static const char host_file[] = "/etc/pinfold/config.json";

/* Who could write it could say what every run is. */
static int check_owner(int fd, const char *name, uid_t owner, struct err *e)
{
	struct stat st;
	if (fstat(fd, &st) < 0)
		return err_sys(e, "stat %s", name);
	if (st.st_uid != owner && st.st_uid != 0)
		return err_host(e,
				"%s belongs to uid %u, not to %s; it is not read, and nothing is started",
				name, st.st_uid, owner ? "this user" : "root");
	if (st.st_mode & 022)
		return err_host(e,
				"%s may be written by others (mode %04o; chmod go-w); nothing is started",
				name, st.st_mode & 07777);
	return 0;
}

static int read_config(struct spec *s, enum origin who, int fd, const char *name, struct err *e)
{
	struct stat st;
	struct text text;
	if (check_owner(fd, name, who == ORIGIN_HOST ? 0 : geteuid(), e) < 0)
		return -1;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return err_host(e, "%s is not a regular file", name);
	if (read_descriptor(s->arena, fd, name, &text, e) < 0)
		return -1;
	return spec_read_config(s, &(struct config_text){who, name, text.at, text.len}, e);
}

static int read_host(struct spec *s, struct err *e)
{
	autoclose int dir = open(host_folder, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir < 0)
		return errno == ENOENT ? 0 : err_sys(e, "open %s", host_folder);
	autoclose int fd = openat(dir, "config.json",
				  O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? 0 : err_sys(e, "open %s", host_file);
	if (check_owner(dir, host_folder, 0, e) < 0)
		return -1;
	return read_config(s, ORIGIN_HOST, fd, host_file, e);
}

/* By the errno of opening it. HOME may be a folder of another user's, as after setpriv(1): what
 * cannot even be looked at in there is nothing of this user's. Keeps errno. */
static bool is_nothing(const char *name)
{
	struct stat st;
	const int error = errno;
	const bool hidden = error == EACCES && stat(name, &st) < 0 && errno == EACCES;
	errno = error;
	return hidden || error == ENOENT || error == ENOTDIR;
}

static int read_user(struct spec *s, struct err *e)
{
	const char *base = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
	const char *name = NULL;
	if (base && *base == '/')
		name = arena_printf(s->arena, "%s/pinfold/config.json", base);
	else if (home && *home == '/')
		name = arena_printf(s->arena, "%s/.config/pinfold/config.json", home);
	if (!name)
		return 0;
	autoclose int fd = open(name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return is_nothing(name) ? 0 : err_sys(e, "open %s", name);
	return read_config(s, ORIGIN_USER, fd, name, e);
}

int config_read(struct spec *s, struct err *e)
{
	return read_host(s, e) < 0 || read_user(s, e) < 0 ? -1 : 0;
}

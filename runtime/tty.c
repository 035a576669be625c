#include "runtime/tty.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

int tty_open_pair(struct tty_pair *pair, uint32_t uid, uint32_t gid, struct err *e)
{
	autoclose int master = open("/dev/pts/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (master < 0)
		return err_sys(e, "tty: open /dev/pts/ptmx");
	int unlock = 0;
	if (ioctl(master, TIOCSPTLCK, &unlock) < 0)
		return err_sys(e, "tty: unlock the slave");
	autoclose int slave = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (slave < 0)
		return err_sys(e, "tty: open the slave");
	if (fchown(slave, uid, gid) < 0)
		return err_sys(e, "tty: give the slave to the program");
	pair->master = fd_take(&master);
	pair->slave = fd_take(&slave);
	return 0;
}

int tty_raw(struct tty_caller *t, int fd, struct err *e)
{
	struct termios raw;
	if (tcgetattr(fd, &t->saved) < 0)
		return errno == ENOTTY ? 0 : err_sys(e, "tty: read the terminal's settings");
	raw = t->saved;
	cfmakeraw(&raw);
	/* The supervisor may be in the background with SIGTTOU blocked: then the kernel lets it through. */
	if (tcsetattr(fd, TCSADRAIN, &raw) < 0)
		return err_sys(e, "tty: set the terminal to raw");
	t->fd = fd;
	return 0;
}

void tty_restore(struct tty_caller *t)
{
	if (t->fd >= 0)
		tcsetattr(t->fd, TCSADRAIN, &t->saved);
	t->fd = -1;
}

bool tty_copy_size(int from, int to)
{
	struct winsize size;
	return ioctl(from, TIOCGWINSZ, &size) == 0 && ioctl(to, TIOCSWINSZ, &size) == 0;
}

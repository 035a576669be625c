#include "runtime/run.h"

#include "base/fd.h"

#include <fcntl.h>
#include <unistd.h>

int tty_join(struct run *run, struct err *e)
{
	/* The master's description is ours alone: the program holds slaves. */
	if (fcntl(run->pty, F_SETFL, O_NONBLOCK) < 0)
		return err_sys(e, "tty: make the master non-blocking");
	autoclose int from = fcntl(run->pty, F_DUPFD_CLOEXEC, 3);
	autoclose int to = fcntl(run->pty, F_DUPFD_CLOEXEC, 3);
	if (from < 0 || to < 0)
		return err_sys(e, "tty: duplicate the master");
	run->out.from = fd_take(&from);
	run->out.is_tty = true;
	tty_copy_size(STDIN_FILENO, run->pty);
	run->feed.is_tty = true;
	if (feed_open(&run->feed, STDIN_FILENO, false, fd_take(&to), e) < 0)
		return -1;
	return tty_raw(&run->terminal, STDIN_FILENO, e);
}

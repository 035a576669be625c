/* The raw floor: what the kernel charges for the least that can be called a sandbox.
 *
 *	floor IMAGE PROGRAM [ARG...]
 *
 * One clone3 with every namespace that `pinfold run` makes, single-id maps, the image bound on
 * itself with a fresh proc and one tmpfs over it, pivot_root, exec. No pid 1 of its own, no relay,
 * no limits, no filter, no result: a yardstick, and not to be used for anything else. IMAGE must
 * have the folders proc and tmp. Works as root and as an ordinary user.
 */
#include <err.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	ssize_t len = (ssize_t)strlen(text);

	if (fd < 0 || write(fd, text, (size_t)len) != len)
		err(125, "%s", path);
	close(fd);
}

/* Before the clone: getuid() inside gives the overflow id until the map is there. */
static void id_map(char *buf, size_t size, unsigned id)
{
	snprintf(buf, size, "1000 %u 1", id);
}

static void mounts(const char *image)
{
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		err(125, "make mounts private");
	if (mount(image, image, NULL, MS_BIND | MS_REC, NULL) < 0 || chdir(image) < 0)
		err(125, "bind %s", image);
	if (mount("proc", "proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0)
		err(125, "proc");
	if (mount("tmpfs", "tmp", "tmpfs", MS_NOSUID | MS_NODEV, NULL) < 0)
		err(125, "tmpfs");
	/* The old root comes to lie on top of the new one, where umount2 finds it. */
	if (syscall(SYS_pivot_root, ".", ".") < 0 || umount2(".", MNT_DETACH) < 0 || chdir("/") < 0)
		err(125, "pivot_root");
}

int main(int argc, char **argv)
{
	struct clone_args args = {
		.flags = CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS |
			 CLONE_NEWCGROUP | CLONE_NEWNET,
		.exit_signal = SIGCHLD,
	};
	char uid_map[32], gid_map[32];
	int status;

	if (argc < 3)
		errx(125, "usage: floor IMAGE PROGRAM [ARG...]");
	id_map(uid_map, sizeof(uid_map), geteuid());
	id_map(gid_map, sizeof(gid_map), getegid());
	pid_t pid = (pid_t)syscall(SYS_clone3, &args, sizeof(args));
	if (pid < 0)
		err(125, "clone3");
	if (pid == 0) {
		write_file("/proc/self/setgroups", "deny");
		write_file("/proc/self/uid_map", uid_map);
		write_file("/proc/self/gid_map", gid_map);
		mounts(argv[1]);
		execv(argv[2], argv + 2);
		err(125, "%s", argv[2]);
	}
	if (waitpid(pid, &status, 0) < 0)
		err(125, "waitpid");
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

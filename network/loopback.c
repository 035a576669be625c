#include "network/network.h"

#include "base/fd.h"

#include <fcntl.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

/* The interface flags are set by ioctl, not by netlink: Debian has no libmnl.a, and linking libc and
 * libmnl dynamically costs about 0.5 ms of start-up, more than everything else in this room. A
 * socket of any family carries the device ioctls; AF_UNIX is the fallback for a kernel without IPv4. */
static int device_socket(void)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	return fd >= 0 ? fd : socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
}

static int set_up(int fd, struct err *e)
{
	/* A fresh lo has no flag that would be lost, and IFF_UP is all that SIOCSIFFLAGS
	 * needs; setting it where it is set is a no-op. */
	struct ifreq lo = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_LOOPBACK};
	if (ioctl(fd, SIOCSIFFLAGS, &lo) < 0)
		return err_sys(e, "loopback: setting lo up");
	lo.ifr_flags = 0;
	if (ioctl(fd, SIOCGIFFLAGS, &lo) < 0)
		return err_sys(e, "loopback: reading the flags of lo");
	if (!(lo.ifr_flags & IFF_UP))
		return err_host(e, "loopback: lo stays down after it was set up");
	return 0;
}

int network_loopback_up(int ns, struct err *e)
{
	autoclose int fd = device_socket();
	if (fd < 0)
		return err_sys(e, "loopback: socket");
	if (set_up(fd, e) < 0)
		return -1;
	if (ns < 0)
		return 0;
	/* By the socket: it tells the namespace that it was made in, without any /proc. */
	autoclose int own = ioctl(fd, SIOCGSKNS);
	if (own < 0 || dup3(own, ns, O_CLOEXEC) < 0)
		return err_sys(e, "loopback: a descriptor of its namespace");
	return 0;
}

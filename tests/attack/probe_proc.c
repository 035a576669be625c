/* What proc, sysfs and /dev tell of the host, and what they would let a program set. */
#include "probe.h"

#include <fcntl.h>
#include <ftw.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

static int read_host(const char *arg)
{
	return try_read(arg);
}

/* Opening is enough: nothing is written. */
static int write_host(const char *arg)
{
	return try_open(arg, O_WRONLY);
}

/* Reading would take the lines away from whoever collects them. */
static int open_host(const char *arg)
{
	return try_open(arg, O_RDONLY);
}

static int open_device(const char *arg)
{
	return try_open(arg, O_RDWR);
}

static int list_folder(const char *arg)
{
	struct stat st;
	return stat(arg, &st) < 0 ? errno : try_open(arg, O_RDONLY | O_DIRECTORY);
}

/* ---- every file of proc and sysfs but the processes' own, to write ---- */

static int writable_found;

static int try_writing(const char *path, const struct stat *st, int type, struct FTW *at_level)
{
	(void)at_level;
	(void)st;
	if (type == FTW_D &&
	    (strncmp(path, "/proc/self", 10) == 0 || strncmp(path, "/proc/thread-self", 17) == 0 ||
	     (strncmp(path, "/proc/", 6) == 0 && path[6] >= '0' && path[6] <= '9')))
		return FTW_SKIP_SUBTREE;
	if (type == FTW_F && try_open(path, O_WRONLY) == 0) {
		fprintf(stderr, "probe: %s can be opened for writing\n", path);
		writable_found++;
	}
	return FTW_CONTINUE;
}

static int walk_writable(const char *arg)
{
	/* In a weak run some of these have effects when opened. The rows by name are the control. */
	if (*base)
		return ECANCELED;
	if (nftw(arg, try_writing, 16, FTW_PHYS | FTW_ACTIONRETVAL) < 0)
		return errno;
	return writable_found ? 0 : EROFS;
}

/* What the program may set about itself in /proc/self is its own matter, if it can at all. This must be proc. */
static int fake_proc(const char *arg)
{
	struct statfs fs;
	if (statfs(at(arg), &fs) < 0)
		return errno;
	return fs.f_type == PROC_SUPER_MAGIC ? EBADF : 0;
}

static const struct probe rows[] = {
	{"FS07.proc", fake_proc, "/proc", "a /proc of the image's making"},
	{"FS07.attr", fake_proc, "/proc/self/attr", "a fake attr folder"},
	{"FS07.thread-self", fake_proc, "/proc/thread-self", "a fake thread-self"},
	{"FS07.fd", fake_proc, "/proc/self/fd", "a fake fd folder"},

	{"FS08.kcore", read_host, "/proc/kcore", "the kernel's memory"},
	{"FS08.keys", read_host, "/proc/keys", "keys"},
	{"FS08.key-users", read_host, "/proc/key-users", "who has keys"},
	{"FS08.kallsyms", read_host, "/proc/kallsyms", "symbols"},
	{"FS08.kmsg", open_host, "/proc/kmsg", "the kernel's log"},
	{"FS08.dev-kmsg", read_host, "/dev/kmsg", "the kernel's log"},
	{"FS08.timer-list", read_host, "/proc/timer_list", "timers"},
	{"FS08.slabinfo", read_host, "/proc/slabinfo", "allocations"},
	{"FS08.vmallocinfo", read_host, "/proc/vmallocinfo", "kernel addresses"},
	{"FS08.pagetypeinfo", read_host, "/proc/pagetypeinfo", "memory layout"},
	{"FS08.kpagecount", open_host, "/proc/kpagecount", "the use of every page"},
	{"FS08.interrupts", read_host, "/proc/interrupts", "a clock of key strokes"},
	{"FS08.sched-debug", read_host, "/sys/kernel/debug/sched/debug", "the scheduler"},
	{"FS08.firmware", list_folder, "/sys/firmware", "firmware tables"},
	{"FS08.powercap", list_folder, "/sys/class/powercap", "power measurement"},
	{"FS08.thermal", list_folder, "/sys/devices/system/cpu/cpu0/thermal_throttle", "temperatures"},
	{"FS08.security", list_folder, "/sys/kernel/security", "security modules"},
	{"FS08.block", list_folder, "/sys/block", "disks"},
	{"FS08.net", list_folder, "/sys/class/net/lo/statistics", "interfaces"},
	{"FS08.acpi", list_folder, "/sys/firmware/acpi", "hardware"},

	{"FS08.write-sysrq", write_host, "/proc/sysrq-trigger", "rebooting by a letter"},
	{"FS08.write-irq", write_host, "/proc/irq/default_smp_affinity", "interrupts"},
	{"FS08.write-panic", write_host, "/proc/sys/kernel/panic", "a kernel setting"},
	{"FS08.write-aslr", write_host, "/proc/sys/kernel/randomize_va_space",
	 "address randomisation"},
	{"FS08.write-overcommit", write_host, "/proc/sys/vm/overcommit_memory", "memory policy"},
	{"FS08.write-drop-caches", write_host, "/proc/sys/vm/drop_caches", "the page cache"},
	{"FS08.write-file-max", write_host, "/proc/sys/fs/file-max", "file limits"},
	{"FS08.write-userns", write_host, "/proc/sys/user/max_user_namespaces",
	 "its own namespace limits"},
	{"FS08.write-hostname", write_host, "/proc/sys/kernel/hostname", "the host name"},
	{"FS08.write-forward", write_host, "/proc/sys/net/ipv4/ip_forward", "forwarding"},
	{"FS08.write-mm", write_host, "/sys/kernel/mm/transparent_hugepage/enabled", "huge pages"},
	{"FS08.write-block", write_host, "/sys/block/vda/queue/scheduler", "a disk's queue"},
	{"FS08.walk-proc", walk_writable, "/proc", "any file of proc"},
	{"FS08.walk-sys", walk_writable, "/sys", "any file of sysfs"},

	{"FS09.core-pattern", write_host, "/proc/sys/kernel/core_pattern", "a program for core dumps"},
	{"FS09.modprobe", write_host, "/proc/sys/kernel/modprobe", "a program for modules"},
	{"FS09.poweroff", write_host, "/proc/sys/kernel/poweroff_cmd", "a program for the end"},
	{"FS09.uevent-helper", write_host, "/sys/kernel/uevent_helper", "a program for devices"},
	{"FS09.usermodehelper", write_host, "/proc/sys/kernel/usermodehelper/bset",
	 "helpers' capabilities"},
	{"FS09.binfmt", write_host, "/proc/sys/fs/binfmt_misc/register", "an interpreter"},
	{"FS09.ns-last-pid", write_host, "/proc/sys/kernel/ns_last_pid", "the next pid"},

	{"KI08.dev-mem", open_device, "/dev/mem", "physical memory"},
	{"KI08.dev-port", open_device, "/dev/port", "ports"},
	{"KI08.dev-kvm", open_device, "/dev/kvm", "virtualisation"},
	{"KI08.dev-fuse", open_device, "/dev/fuse", "fuse"},
	{"KI08.dev-tun", open_device, "/dev/net/tun", "tunnels"},
	{"KI08.dev-loop", open_device, "/dev/loop-control", "loop devices"},
	{"KI08.dev-userfaultfd", open_device, "/dev/userfaultfd", "userfaultfd"},
	{"KI08.dev-vsock", open_device, "/dev/vsock", "the hypervisor"},
	{"KI08.dev-disk", open_device, "/dev/vda", "the disk"},
	{"KI08.dev-snapshot", open_device, "/dev/snapshot", "hibernation"},
	{"KI08.kcov", open_device, "/sys/kernel/debug/kcov", "kcov"},
	{"KI08.tracefs", write_host, "/sys/kernel/tracing/tracing_on", "tracing"},
};
const struct probe_group probes_proc = {rows, sizeof(rows) / sizeof(*rows)};

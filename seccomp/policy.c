#include "seccomp/policy.h"

#include "seccomp/policy_rows.h"

#include <asm/ioctls.h>
#include <asm/termbits.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/memfd.h>
#include <linux/netlink.h>
#include <linux/prctl.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>

static const uint32_t zero[] = {0};

/* ---- clone ---- */

/* A new namespace is a new root for whoever finds the next hole behind it. CLONE_NEWTIME shares its
 * bit with the exit signal here and can be asked of clone3 and unshare only. */
enum {
	CLONE_NAMESPACES = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC |
			   CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET
};
static const struct policy_rule clone_rules[] = {
	{.conds = {MASKED(0, CLONE_NAMESPACES, zero)}, .conds_len = 1},
};

/* ---- sockets ---- */

enum { SOCKET_TYPE = (int)~(SOCK_CLOEXEC | SOCK_NONBLOCK) };
static const uint32_t domains[] = {AF_UNIX, AF_INET, AF_INET6};
static const uint32_t types[] = {SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET};
static const uint32_t unix_domain[] = {AF_UNIX};
static const uint32_t netlink_domain[] = {AF_NETLINK};
static const uint32_t netlink_types[] = {SOCK_RAW, SOCK_DGRAM};
static const uint32_t netlink_route[] = {NETLINK_ROUTE};

/* Every other family is kernel code that loads on demand and that nobody needs inside: vsock speaks to
 * the hypervisor, AF_ALG, packet, xdp, tipc, rds and the like have had one local root after another. */
static const struct policy_rule socket_rules[] = {
	{.conds = {IN(0, domains), MASKED(1, SOCKET_TYPE, types)}, .conds_len = 2},
	/* getifaddrs() and interface names; netfilter, xfrm, audit and the rest stay shut */
	{.conds = {IN(0, netlink_domain), MASKED(1, SOCKET_TYPE, netlink_types), IN(2, netlink_route)},
	 .conds_len = 3},
};
static const struct policy_rule socketpair_rules[] = {
	{.conds = {IN(0, unix_domain)}, .conds_len = 1},
};

/* Out-of-band data on unix sockets: rarely used, twice a use after free. */
static const struct policy_rule no_oob_2[] = {{.conds = {MASKED(2, MSG_OOB, zero)}, .conds_len = 1}};
static const struct policy_rule no_oob_3[] = {{.conds = {MASKED(3, MSG_OOB, zero)}, .conds_len = 1}};

/* ---- files ---- */

static const uint32_t ioctls_terminal[] = {TCGETS,   TCSETS,	 TCSETSW,   TCSETSF, TCGETA,
					   TCSETA,   TCSETAW,	 TCSETAF,   TCGETS2, TCSETS2,
					   TCSETSW2, TCSETSF2,	 TCSBRK,    TCSBRKP, TCXONC,
					   TCFLSH,   TIOCGWINSZ, TIOCSWINSZ};
/* session and process group; the master side of a private pty */
static const uint32_t ioctls_pty[] = {TIOCGPGRP, TIOCSPGRP, TIOCGSID,	TIOCSCTTY,
				      TIOCNOTTY, TIOCGPTN,  TIOCSPTLCK, TIOCGPTPEER};
static const uint32_t ioctls_any[] = {FIONREAD, FIONBIO,  FIOCLEX,
				      FIONCLEX, FIOASYNC, FS_IOC_GETFLAGS};
/* reading the interfaces of its own network namespace */
static const uint32_t ioctls_interface[] = {SIOCGIFNAME,    SIOCGIFCONF,    SIOCGIFFLAGS,
					    SIOCGIFADDR,    SIOCGIFDSTADDR, SIOCGIFBRDADDR,
					    SIOCGIFNETMASK, SIOCGIFMETRIC,  SIOCGIFMTU,
					    SIOCGIFHWADDR,  SIOCGIFINDEX,   SIOCGIFTXQLEN,
					    SIOCGIFMAP};
static const uint32_t ioctls_reflink[] = {FICLONE, FICLONERANGE};
static const uint32_t ioctls_injection[] = {TIOCSTI, TIOCLINUX};
static const struct policy_rule ioctl_rules[] = {
	{.conds = {IN(1, ioctls_terminal)}, .conds_len = 1},
	{.conds = {IN(1, ioctls_pty)}, .conds_len = 1},
	{.conds = {IN(1, ioctls_any)}, .conds_len = 1},
	{.conds = {IN(1, ioctls_interface)}, .conds_len = 1},
	/* the errno that makes cp and the like copy */
	{.conds = {IN(1, ioctls_reflink)}, .conds_len = 1, .answer = EOPNOTSUPP},
	/* keystrokes and selections pushed into the terminal's input */
	{.conds = {IN(1, ioctls_injection)}, .conds_len = 1, .answer = EPERM},
};

static const uint32_t fcntls[] = {
	F_DUPFD,     F_GETFD,	    F_SETFD,	   F_GETFL,	    F_SETFL,	  F_GETLK,
	F_SETLK,     F_SETLKW,	    F_GETOWN,	   F_GETSIG,	    F_GETOWN_EX,  F_OFD_GETLK,
	F_OFD_SETLK, F_OFD_SETLKW,  F_GETLEASE,	   F_DUPFD_CLOEXEC, F_GETPIPE_SZ, F_ADD_SEALS,
	F_GET_SEALS, F_GET_RW_HINT, F_SET_RW_HINT,
};
static const uint32_t fcntl_pipe_size[] = {F_SETPIPE_SZ};
static const uint32_t fcntls_denied[] = {F_SETPIPE_SZ, F_SETLEASE,  F_NOTIFY,
					 F_SETOWN,     F_SETOWN_EX, F_SETSIG};
static const struct policy_rule fcntl_rules[] = {
	{.conds = {IN(1, fcntls)}, .conds_len = 1},
	/* pipe pages are counted per user: with a single id they are the caller's */
	{.conds = {IN(1, fcntl_pipe_size)}, .conds_len = 1, .when = WHEN_PIPE_SIZE},
	/* leases and F_NOTIFY reach other users of an image's files; owners aim signals */
	{.conds = {IN(1, fcntls_denied)}, .conds_len = 1, .answer = EPERM},
};

/* A character device 0:0 needs no privilege since 5.8, and is a whiteout to an overlay that meets it. */
static const uint32_t node_types[] = {0, S_IFREG, S_IFIFO, S_IFSOCK};
static const struct policy_rule mknod_rules[] = {
	{.conds = {MASKED(1, S_IFMT, node_types)}, .conds_len = 1}};
static const struct policy_rule mknodat_rules[] = {
	{.conds = {MASKED(2, S_IFMT, node_types)}, .conds_len = 1}};
static const struct policy_rule renameat2_rules[] = {
	{.conds = {MASKED(4, RENAME_WHITEOUT, zero)}, .conds_len = 1},
};

/* Huge pages come out of a pool of the host that no memory limit covers. */
static const struct policy_rule memfd_rules[] = {
	{.conds = {MASKED(1, MFD_HUGETLB, zero)}, .conds_len = 1}};
static const struct policy_rule mmap_rules[] = {
	{.conds = {MASKED(3, MAP_HUGETLB, zero)}, .conds_len = 1}};
static const struct policy_rule shmget_rules[] = {
	{.conds = {MASKED(2, SHM_HUGETLB, zero)}, .conds_len = 1}};

/* ---- process attributes ---- */

static const uint32_t prctls[] = {PR_SET_PDEATHSIG,
				  PR_GET_PDEATHSIG,
				  PR_GET_DUMPABLE,
				  PR_SET_DUMPABLE,
				  PR_SET_NAME,
				  PR_GET_NAME,
				  PR_GET_SECCOMP,
				  PR_CAPBSET_READ,
				  PR_SET_TIMERSLACK,
				  PR_GET_TIMERSLACK,
				  PR_SET_CHILD_SUBREAPER,
				  PR_GET_CHILD_SUBREAPER,
				  PR_SET_NO_NEW_PRIVS,
				  PR_GET_NO_NEW_PRIVS,
				  PR_SET_THP_DISABLE,
				  PR_GET_THP_DISABLE,
				  PR_GET_SPECULATION_CTRL,
				  PR_SET_SPECULATION_CTRL,
				  PR_SET_VMA};
static const struct policy_rule prctl_rules[] = {{.conds = {IN(0, prctls)}, .conds_len = 1}};

/* asm/prctl.h of x86, spelled out because the table is compiled on other machines too. 0x3001 is
 * what glibc asked before shadow stacks were merged, 0x5005 is the query that was. */
enum { ARCH_SET_GS_ = 0x1001, ARCH_SET_FS_, ARCH_GET_FS_, ARCH_GET_GS_ };
enum { ARCH_CET_STATUS_ = 0x3001, ARCH_SHSTK_STATUS_ = 0x5005 };
static const uint32_t arch_prctls[] = {ARCH_SET_GS_, ARCH_SET_FS_,     ARCH_GET_FS_,
				       ARCH_GET_GS_, ARCH_CET_STATUS_, ARCH_SHSTK_STATUS_};
static const struct policy_rule arch_prctl_rules[] = {{.conds = {IN(0, arch_prctls)}, .conds_len = 1}};

/* Not READ_IMPLIES_EXEC, not ADDR_NO_RANDOMIZE, no other system's quirks. */
static const uint32_t personalities[] = {PER_LINUX, PER_LINUX32, UNAME26, PER_LINUX32 | UNAME26,
					 UINT32_MAX};
static const struct policy_rule personality_rules[] = {
	{.conds = {IN(0, personalities)}, .conds_len = 1}};

static const struct policy_rule own_pid_rules[] = {{.conds = {IN(0, zero)}, .conds_len = 1}};
/* With nothing else in the word: no reset-on-fork. */
static const uint32_t plain_scheduler[] = {SCHED_OTHER};
static const struct policy_rule scheduler_rules[] = {
	{.conds = {IN(1, plain_scheduler)}, .conds_len = 1}};
static const struct policy_rule affinity_rules[] = {{.conds_len = 0, .when = WHEN_AFFINITY}};

const struct policy_group policy[] = {
	/* ---- allowed, whatever the arguments ---- */
	{NAMES("read", "write", "pread64", "pwrite64", "readv", "writev", "preadv", "pwritev",
	       "preadv2", "pwritev2", "lseek", "sendfile", "splice", "tee", "copy_file_range",
	       "readahead", "fadvise64"),
	 .why = "basic I/O"},
	{NAMES("open", "openat", "openat2", "creat", "close", "close_range", "dup", "dup2", "dup3"),
	 .why = "descriptors"},
	{NAMES("stat", "fstat", "lstat", "newfstatat", "statx", "access", "faccessat", "faccessat2",
	       "readlink", "readlinkat", "getdents", "getdents64", "statfs", "fstatfs"),
	 .why = "looking at files"},
	{NAMES("getcwd", "chdir", "fchdir", "mkdir", "mkdirat", "rmdir", "rename", "renameat",
	       "link", "linkat", "unlink", "unlinkat", "symlink", "symlinkat"),
	 .why = "directories and links"},
	{NAMES("chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "fchown", "lchown", "fchownat",
	       "truncate", "ftruncate", "fallocate", "utime", "utimes", "futimesat", "utimensat",
	       "umask", "flock"),
	 .why = "attributes of its own files: the root is read-only"},
	{NAMES("setxattr", "lsetxattr", "fsetxattr", "getxattr", "lgetxattr", "fgetxattr", "listxattr",
	       "llistxattr", "flistxattr", "removexattr", "lremovexattr", "fremovexattr"),
	 .why = "extended attributes"},
	{NAMES("inotify_init", "inotify_init1", "inotify_add_watch", "inotify_rm_watch"),
	 .why = "bounded by user.max_inotify_* inside"},
	{NAMES("sync", "syncfs", "fsync", "fdatasync", "sync_file_range"), .why = "flushing"},
	/* JITs need PROT_EXEC, so it is not forbidden. */
	{NAMES("brk", "munmap", "mprotect", "mremap", "madvise", "msync", "mincore", "mlock",
	       "mlock2", "munlock", "mlockall", "munlockall", "membarrier", "pkey_alloc",
	       "pkey_free", "pkey_mprotect"),
	 .why = "its own memory, charged to the cgroup"},
	{NAMES("fork", "vfork", "execve", "execveat", "exit", "exit_group", "wait4", "waitid",
	       "set_tid_address", "set_robust_list", "get_robust_list", "rseq", "pidfd_open",
	       "pidfd_send_signal"),
	 .why = "processes: pids.max bounds them, the pid namespace is all they see"},
	{NAMES("futex", "futex_waitv", "futex_wake", "futex_wait", "futex_requeue"), .why = "locks"},
	{NAMES("getpid", "getppid", "gettid", "getuid", "geteuid", "getgid", "getegid", "getresuid",
	       "getresgid", "getgroups", "setuid", "setgid", "setreuid", "setregid", "setresuid",
	       "setresgid", "setfsuid", "setfsgid", "setgroups", "capget"),
	 .why = "ids: without capabilities the setters lead nowhere"},
	{NAMES("getpgid", "getpgrp", "setpgid", "getsid", "setsid"), .why = "sessions and groups"},
	{NAMES("kill", "tkill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo"),
	 .why = "signals to what the pid namespace holds"},
	{NAMES("rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "rt_sigpending", "rt_sigsuspend",
	       "rt_sigtimedwait", "sigaltstack", "signalfd", "signalfd4", "pause", "restart_syscall"),
	 .why = "signals received"},
	{NAMES("timer_create", "timer_settime", "timer_gettime", "timer_getoverrun", "timer_delete",
	       "timerfd_create", "timerfd_settime", "timerfd_gettime", "alarm", "getitimer",
	       "setitimer", "nanosleep", "clock_nanosleep"),
	 .why = "timers"},
	{NAMES("clock_gettime", "clock_getres", "gettimeofday", "time", "times", "getrusage",
	       "sysinfo", "uname", "getrandom", "getcpu"),
	 .why = "clocks and facts, to read"},
	{NAMES("sched_yield", "sched_getaffinity", "sched_getparam", "sched_getscheduler",
	       "sched_getattr", "sched_get_priority_max", "sched_get_priority_min",
	       "sched_rr_get_interval", "getpriority", "ioprio_get"),
	 .why = "scheduling, to read"},
	{NAMES("getrlimit", "setrlimit"), .why = "its own limits: hard ones cannot be raised"},
	{NAMES("pipe", "pipe2", "eventfd", "eventfd2", "epoll_create", "epoll_create1", "epoll_ctl",
	       "epoll_wait", "epoll_pwait", "epoll_pwait2", "poll", "ppoll", "select", "pselect6"),
	 .why = "waiting"},
	{NAMES("shmat", "shmctl", "shmdt", "semget", "semop", "semctl", "semtimedop", "msgget",
	       "msgsnd", "msgrcv", "msgctl", "mq_open", "mq_unlink", "mq_timedsend",
	       "mq_timedreceive", "mq_notify", "mq_getsetattr"),
	 .why = "IPC of its own namespace, charged to the cgroup"},
	{NAMES("connect", "bind", "listen", "accept", "accept4", "shutdown", "getsockname",
	       "getpeername", "setsockopt", "getsockopt"),
	 .why = "on what socket() let through"},

	/* ---- allowed by their arguments ---- */
	{NAMES("clone"), EPERM, RULES(clone_rules), "no namespaces inside"},
	/* EAFNOSUPPORT: with EPERM getaddrinfo() and others give up. */
	{NAMES("socket"), EAFNOSUPPORT, RULES(socket_rules), "unix, inet, inet6, routing netlink"},
	{NAMES("socketpair"), EAFNOSUPPORT, RULES(socketpair_rules), "unix only"},
	{NAMES("sendmsg", "recvmsg"), EOPNOTSUPP, RULES(no_oob_2), "no out-of-band data"},
	{NAMES("sendto", "recvfrom", "sendmmsg", "recvmmsg"), EOPNOTSUPP, RULES(no_oob_3),
	 "no out-of-band data"},
	{NAMES("ioctl"), ENOTTY, RULES(ioctl_rules),
	 "a driver's whole interface hides behind a number"},
	{NAMES("fcntl"), EINVAL, RULES(fcntl_rules), "what an older kernel says of a command"},
	{NAMES("prctl"), EINVAL, RULES(prctl_rules),
	 "no mm maps, no seccomp, no dispatch, no keepcaps"},
	{NAMES("arch_prctl"), EINVAL, RULES(arch_prctl_rules), "segment bases; shadow stacks to read"},
	{NAMES("personality"), EPERM, RULES(personality_rules), "no address space without randomness"},
	{NAMES("prlimit64"), EPERM, RULES(own_pid_rules), "its own limits, nobody else's"},
	{NAMES("mknod"), EPERM, RULES(mknod_rules), "no devices, not even 0:0"},
	{NAMES("mknodat"), EPERM, RULES(mknodat_rules), "no devices, not even 0:0"},
	{NAMES("renameat2"), EPERM, RULES(renameat2_rules), "leaves a 0:0 device behind as well"},
	{NAMES("memfd_create"), EPERM, RULES(memfd_rules), "no huge pages"},
	{NAMES("mmap"), EPERM, RULES(mmap_rules), "no huge pages"},
	{NAMES("shmget"), EPERM, RULES(shmget_rules), "no huge pages"},
	{NAMES("sched_setaffinity"), EPERM, RULES(affinity_rules),
	 "without cpu.max the affinity is what holds the cpus limit"},

	{NAMES("sched_setscheduler"), EPERM, RULES(scheduler_rules),
	 "the plain scheduler, which it has: a niceness stays what it is. Mono says so on stdout where it fails"},

	/* ---- ENOSYS: runtimes probe for these and do without ---- */
	{NAMES("clone3"), ENOSYS, .why = "its flags are behind a pointer; libcs fall back to clone"},
	{NAMES("io_uring_setup", "io_uring_enter", "io_uring_register"), ENOSYS,
	 .why = "system calls that no filter sees, and a long list of local roots"},
	{NAMES("userfaultfd"), ENOSYS, .why = "stops the kernel in mid-copy: an exploit's best tool"},
	{NAMES("memfd_secret"), ENOSYS, .why = "memory that cannot be looked at"},
	{NAMES("landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self"), ENOSYS,
	 .why = "kernel surface that is of no use to the program here"},
	{NAMES("seccomp"), ENOSYS, .why = "more kernel programs; listeners"},
	{NAMES("open_tree", "open_tree_attr", "move_mount", "fsopen", "fsconfig", "fsmount",
	       "fspick", "mount_setattr"),
	 ENOSYS, .why = "the mount API"},
	{NAMES("pidfd_getfd"), ENOSYS, .why = "takes other processes' descriptors"},
	{NAMES("process_madvise", "process_mrelease"), ENOSYS, .why = "other processes' memory"},
	{NAMES("quotactl_fd"), ENOSYS, .why = "quotas"},
	{NAMES("statmount", "listmount", "listns"), ENOSYS,
	 .why = "tells about mounts and namespaces"},
	{NAMES("io_setup", "io_destroy", "io_submit", "io_cancel", "io_getevents", "io_pgetevents"),
	 ENOSYS, .why = "legacy AIO"},
	{NAMES("mbind", "get_mempolicy", "set_mempolicy", "set_mempolicy_home_node", "migrate_pages"),
	 ENOSYS, .why = "placement of memory is the host's"},
	{NAMES("cachestat"), ENOSYS, .why = "shows what others have read"},
	{NAMES("name_to_handle_at"), EOPNOTSUPP,
	 .why = "half of open_by_handle_at; tools expect this errno"},

	/* ---- EPERM: privileged by nature; these are counted ---- */
	{NAMES("mount", "umount2", "pivot_root", "chroot"), EPERM, .why = "the mount tree is fixed"},
	{NAMES("unshare", "setns"), EPERM, .why = "no other namespaces"},
	{NAMES("swapon", "swapoff", "reboot", "kexec_load", "kexec_file_load", "acct", "syslog",
	       "vhangup"),
	 EPERM, .why = "the host's"},
	{NAMES("init_module", "finit_module", "delete_module", "create_module", "query_module",
	       "get_kernel_syms"),
	 EPERM, .why = "kernel modules"},
	{NAMES("bpf", "perf_event_open"), EPERM, .why = "programs and probes in the kernel"},
	{NAMES("ptrace", "process_vm_readv", "process_vm_writev", "kcmp"), EPERM,
	 .why = "other processes' insides"},
	{NAMES("add_key", "request_key", "keyctl"), EPERM,
	 .why = "keyrings outlive a run and cross it"},
	{NAMES("open_by_handle_at"), EPERM, .why = "opens files that no path leads to"},
	{NAMES("fanotify_init", "fanotify_mark"), EPERM, .why = "watches whole mounts"},
	{NAMES("quotactl"), EPERM, .why = "quotas"},
	{NAMES("settimeofday", "clock_settime", "adjtimex", "clock_adjtime"), EPERM,
	 .why = "sets clocks"},
	{NAMES("iopl", "ioperm"), EPERM, .why = "ports"},
	{NAMES("modify_ldt"), EPERM, .why = "16-bit segments, a source of kernel bugs"},
	{NAMES("sethostname", "setdomainname"), EPERM, .why = "the host name is in the spec"},
	{NAMES("capset"), EPERM, .why = "there are none to set"},
	{NAMES("setpriority", "sched_setparam", "sched_setattr", "ioprio_set"), EPERM,
	 .why = "its share is the spec's"},
	{NAMES("move_pages"), EPERM, .why = "tells and changes where other processes' pages are"},
	{NAMES("vmsplice"), EPERM,
	 .why = "user pages shared with a pipe: one copy-on-write bug after another"},
	{NAMES("uselib", "ustat", "sysfs", "_sysctl", "nfsservctl", "getpmsg", "putpmsg",
	       "afs_syscall", "tuxcall", "security", "vserver", "epoll_ctl_old", "epoll_wait_old",
	       "lookup_dcookie", "remap_file_pages"),
	 EPERM, .why = "obsolete"},
};
const size_t policy_len = sizeof(policy) / sizeof(policy[0]);

/* Waiting for signals and children, one socket, its own pages, and the way out. A stack
 * protector's abort() is not among them: it dies here as well as by SIGABRT. */
const char *const policy_init[] = {
	"read",	   "write", "sendmsg", "recvmsg",    "poll",	     "ppoll",		"wait4",
	"waitid",  "close", "exit",    "exit_group", "rt_sigreturn", "restart_syscall", "getpid",
	"madvise", NULL,
};

/* ---- a jailed reader: runtime/jail.h ---- */

/* Threads of the process itself: one may decompress while another writes. */
static const uint32_t thread_flags[] = {CLONE_VM | CLONE_THREAD};
static const struct policy_rule thread_rules[] = {
	{.conds = {MASKED(0, CLONE_VM | CLONE_THREAD | CLONE_NAMESPACES, thread_flags)},
	 .conds_len = 1},
};

const struct policy_group policy_jail[] = {
	{NAMES("read", "write", "readv", "writev", "pread64", "pwrite64", "lseek", "close", "fcntl",
	       "dup", "fstat", "newfstatat", "statx", "fstatfs", "getdents64", "readlinkat",
	       "faccessat", "faccessat2", "fchdir", "fadvise64", "openat", "openat2", "mkdirat",
	       "symlinkat", "linkat", "unlinkat", "renameat", "renameat2", "ftruncate", "fallocate",
	       "copy_file_range", "sendfile", "fsync", "fdatasync", "syncfs", "sync_file_range",

	       "mknodat", "fchmod", "fchmodat", "fchmodat2", "fchown", "fchownat", "utimensat",
	       "umask", "fsetxattr", "fgetxattr", "flistxattr", "fremovexattr", "lsetxattr",
	       "lgetxattr", "llistxattr", "lremovexattr",

	       "mmap", "munmap", "mremap", "mprotect", "madvise", "brk", "futex", "getrandom", "poll",
	       "ppoll", "clock_gettime", "clock_nanosleep", "nanosleep", "gettimeofday", "sched_yield",
	       "getpid", "gettid", "getuid", "geteuid", "getgid", "getegid", "sysinfo", "prlimit64",
	       "getrlimit", "sched_getaffinity", "rt_sigaction", "rt_sigprocmask", "rt_sigreturn",
	       "sigaltstack", "restart_syscall", "exit", "exit_group", "set_robust_list", "rseq"),
	 .why = "files below its root, by descriptor; memory, time. mknodat for FIFOs: a device needs a "
		"capability of the initial namespace"},
	{NAMES("clone"), EPERM, RULES(thread_rules), "threads, and no process"},
	{NAMES("clone3"), ENOSYS, .why = "its flags are behind a pointer; libcs fall back to clone"},
};
const size_t policy_jail_len = sizeof(policy_jail) / sizeof(policy_jail[0]);

/* ---- a jailed client of the network: the same ---- */

static const uint32_t internet_domains[] = {AF_INET, AF_INET6};
static const uint32_t internet_types[] = {SOCK_STREAM, SOCK_DGRAM};
static const uint32_t internet_protocols[] = {0, IPPROTO_TCP, IPPROTO_UDP};
static const uint32_t stream_type[] = {SOCK_STREAM};
static const uint32_t socket_level[] = {SOL_SOCKET};
static const uint32_t tcp_level[] = {IPPROTO_TCP};
static const uint32_t ip_level[] = {IPPROTO_IP};
static const uint32_t ipv6_level[] = {IPPROTO_IPV6};
static const uint32_t client_socket_options[] = {SO_KEEPALIVE};
static const uint32_t client_tcp_options[] = {TCP_NODELAY, TCP_KEEPIDLE, TCP_KEEPINTVL, TCP_KEEPCNT};
static const uint32_t client_ip_options[] = {IP_RECVERR};
static const uint32_t client_ipv6_options[] = {IPV6_RECVERR, IPV6_V6ONLY};
static const uint32_t client_ioctls[] = {FIONREAD, FIONBIO};

static const struct policy_rule client_socket_rules[] = {
	{.conds = {IN(0, internet_domains), MASKED(1, SOCKET_TYPE, internet_types),
		   IN(2, internet_protocols)},
	 .conds_len = 3},
};
/* One of a pair is connected for good. A datagram socket could send to any address all the same. */
static const struct policy_rule client_pair_rules[] = {
	{.conds = {IN(0, unix_domain), MASKED(1, SOCKET_TYPE, stream_type), IN(2, zero)},
	 .conds_len = 3},
};
static const struct policy_rule client_set_option_rules[] = {
	{.conds = {IN(1, socket_level), IN(2, client_socket_options)}, .conds_len = 2},
	{.conds = {IN(1, tcp_level), IN(2, client_tcp_options)}, .conds_len = 2},
	{.conds = {IN(1, ip_level), IN(2, client_ip_options)}, .conds_len = 2},
	{.conds = {IN(1, ipv6_level), IN(2, client_ipv6_options)}, .conds_len = 2},
};
static const struct policy_rule client_get_option_rules[] = {
	{.conds = {IN(1, socket_level)}, .conds_len = 1},
};
static const struct policy_rule client_ioctl_rules[] = {
	{.conds = {IN(1, client_ioctls)}, .conds_len = 1},
};

const struct policy_group policy_client[] = {
	{NAMES("read", "write", "readv", "writev", "pread64", "pwrite64", "lseek", "close", "fcntl",
	       "dup", "fstat", "newfstatat", "statx", "faccessat", "faccessat2", "access", "openat",
	       "ftruncate",

	       "mmap", "munmap", "mremap", "mprotect", "madvise", "brk", "futex", "getrandom",
	       "poll", "ppoll", "clock_gettime", "clock_nanosleep", "nanosleep", "gettimeofday",
	       "sched_yield", "getpid", "gettid", "getuid", "geteuid", "getgid", "getegid",
	       "sysinfo", "uname", "prlimit64", "getrlimit", "sched_getaffinity", "rt_sigaction",
	       "rt_sigprocmask", "rt_sigreturn", "sigaltstack", "restart_syscall", "exit",
	       "exit_group", "set_robust_list", "rseq", "eventfd2", "pipe2"),
	 .why = "the descriptors that it was given and a few files to read; memory, time. Nothing that "
		"makes, names or removes a file"},
	{NAMES("connect", "sendto", "recvfrom", "sendmsg", "sendmmsg", "recvmsg", "getsockname",
	       "getpeername", "shutdown"),
	 .why = "its own sockets; bind, listen and accept are for servers"},
	{NAMES("socket"), EAFNOSUPPORT, RULES(client_socket_rules),
	 "TCP and UDP. The network namespace is the host's, and abstract unix sockets are in it; netlink "
	 "and the rest are kernel code for nothing. An errno: libc asks nscd and does without"},
	{NAMES("socketpair"), EAFNOSUPPORT, RULES(client_pair_rules), "how libcurl wakes its threads"},
	{NAMES("setsockopt"), ENOPROTOOPT, RULES(client_set_option_rules),
	 "what libcurl and libc's resolver set; the others are kernel code for nothing"},
	{NAMES("getsockopt"), ENOPROTOOPT, RULES(client_get_option_rules), "whether a connect worked"},
	{NAMES("ioctl"), EPERM, RULES(client_ioctl_rules), "how much there is to read, no waiting"},
	{NAMES("clone"), EPERM, RULES(thread_rules),
	 "threads, and no process: names are looked up in one"},
	{NAMES("clone3"), ENOSYS, .why = "its flags are behind a pointer; libcs fall back to clone"},
};
const size_t policy_client_len = sizeof(policy_client) / sizeof(policy_client[0]);

bool policy_counted(const struct policy_group *g, enum policy_switch on)
{
	for (size_t i = 0; i < g->rules_len; i++) {
		if (policy_rule_active(&g->rules[i], on))
			return false;
	}
	return g->answer == EPERM;
}

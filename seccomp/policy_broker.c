/* What the three processes of the egress broker may call, and those that read artifacts; anything
 * else kills them. See docs/egress.md, docs/in-and-out.md. */
#include "seccomp/policy.h"

#include "seccomp/policy_rows.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/mman.h>
#include <sys/socket.h>

static const uint32_t zero[] = {0};

/* Memory of one's own, never to be executed. */
static const struct policy_rule no_code[] = {{.conds = {MASKED(2, PROT_EXEC, zero)}, .conds_len = 1}};

#define OWN_MEMORY                                                                              \
	{NAMES("brk", "munmap", "mremap", "madvise"), .why = "memory, bounded by RLIMIT_DATA"}, \
		{NAMES("mmap", "mprotect"), EPERM, RULES(no_code), "no code is made"}

#define EVERYBODY                                                                        \
	{NAMES("close", "clock_gettime", "gettimeofday", "futex", "getrandom", "getpid", \
	       "restart_syscall", "rt_sigreturn", "exit", "exit_group"),                 \
	 .why = "letting go, time, random numbers, the way out"}

/* ---- the dialer ---- */

enum { SOCKET_TYPE = (int)~(SOCK_CLOEXEC | SOCK_NONBLOCK) };
static const uint32_t inet_domains[] = {AF_INET, AF_INET6};
static const uint32_t inet_types[] = {SOCK_STREAM, SOCK_DGRAM};
static const struct policy_rule inet_sockets[] = {
	{.conds = {IN(0, inet_domains), MASKED(1, SOCKET_TYPE, inet_types), IN(2, zero)},
	 .conds_len = 3},
};
static const uint32_t tcp_level[] = {IPPROTO_TCP};
static const uint32_t stream_options[] = {TCP_NODELAY, TCP_NOTSENT_LOWAT};
static const struct policy_rule stream_options_only[] = {
	{.conds = {IN(1, tcp_level), IN(2, stream_options)}, .conds_len = 2}};

const struct policy_group policy_dialer[] = {
	EVERYBODY,
	OWN_MEMORY,
	{NAMES("poll", "ppoll", "recvmsg", "sendmsg", "wait4"),
	 .why = "requests and answers with descriptors; datagrams by the sandbox's own sockets"},
	{NAMES("connect", "getsockname"), .why = "what it is there for, on what socket() let through"},
	{NAMES("socket"), EAFNOSUPPORT, RULES(inet_sockets), "TCP and UDP"},
	{NAMES("setsockopt"), EPERM, RULES(stream_options_only), "no option that sends or filters"},
};
const size_t policy_dialer_len = sizeof(policy_dialer) / sizeof(policy_dialer[0]);

/* ---- artifacts: who reads the scratch, and who looks at one file ---- */

const struct policy_group policy_collector[] = {
	EVERYBODY,
	OWN_MEMORY,
	{NAMES("openat2", "fstat", "newfstatat", "statx", "getdents64", "lseek", "fcntl", "readlinkat"),
	 .why = "below the scratch's descriptor: its root is empty"},
	{NAMES("read", "pread64", "write", "sendfile"), .why = "into the pipe"},
};
const size_t policy_collector_len = sizeof(policy_collector) / sizeof(policy_collector[0]);

const struct policy_group policy_validator[] = {
	EVERYBODY,
	OWN_MEMORY,
	{NAMES("write"), .why = "the answer"},
};
const size_t policy_validator_len = sizeof(policy_validator) / sizeof(policy_validator[0]);

/* ---- inputs: who reads an archive ---- */

const struct policy_group policy_unpacker[] = {
	EVERYBODY,
	OWN_MEMORY,
	{NAMES("read", "pread64", "lseek", "fstat", "newfstatat"), .why = "the archive"},
	{NAMES("write"), .why = "into the pipe"},
	{NAMES("openat", "openat2"), ENOENT, .why = "its root is empty; libc does without"},
};
const size_t policy_unpacker_len = sizeof(policy_unpacker) / sizeof(policy_unpacker[0]);

/* ---- the parser ---- */

/* The length of the address, an int: with none the datagram goes to whom the socket is connected to. */
static const struct policy_rule to_nobody[] = {{.conds = {IN(5, zero)}, .conds_len = 1}};
static const uint32_t socket_level[] = {SOL_SOCKET};
static const uint32_t linger[] = {SO_LINGER};
static const uint32_t pending_error[] = {SO_ERROR};
static const struct policy_rule linger_only[] = {
	{.conds = {IN(1, socket_level), IN(2, linger)}, .conds_len = 2}};
static const struct policy_rule error_only[] = {
	{.conds = {IN(1, socket_level), IN(2, pending_error)}, .conds_len = 2}};
static const uint32_t pipe_size[] = {F_SETPIPE_SZ};
static const struct policy_rule pipe_size_only[] = {{.conds = {IN(1, pipe_size)}, .conds_len = 1}};

/* No socket, connect or bind; no sendmsg and no sendmmsg, which may name an address behind a
 * pointer; nothing that opens, signals or starts. */
const struct policy_group policy_parser[] = {
	EVERYBODY,
	OWN_MEMORY,
	{NAMES("epoll_create1", "epoll_ctl", "epoll_wait", "epoll_pwait"), .why = "waiting"},
	{NAMES("read", "write", "writev", "recvfrom", "recvmsg", "shutdown", "splice", "pipe2"),
	 .why = "bytes over descriptors that it was given"},
	{NAMES("accept4", "getsockname"), .why = "what the program dialled"},
	{NAMES("sendto"), EPERM, RULES(to_nobody), "to whom the socket is connected, to no address"},
	{NAMES("setsockopt"), EPERM, RULES(linger_only), "RST instead of an orderly end"},
	{NAMES("getsockopt"), EPERM, RULES(error_only), "what became of connecting"},
	{NAMES("fcntl"), EPERM, RULES(pipe_size_only), "larger pipes"},
};
const size_t policy_parser_len = sizeof(policy_parser) / sizeof(policy_parser[0]);

/* ---- the resolver: the same, of what the dialer connected to a name server ---- */

const struct policy_group policy_resolver[] = {
	EVERYBODY,
	OWN_MEMORY,
	{NAMES("poll", "ppoll"), .why = "waiting"},
	{NAMES("read", "write", "writev", "recvfrom", "recvmsg"),
	 .why = "bytes over descriptors that it was given"},
	{NAMES("sendto"), EPERM, RULES(to_nobody), "to whom the socket is connected, to no address"},
};
const size_t policy_resolver_len = sizeof(policy_resolver) / sizeof(policy_resolver[0]);

/* A registry's client that was taken over, in the jail of the real one: linked with
 * tests/image/pull.c and all that starts the jail, and with a client_run() of its own. For
 * tests/attack/image-client.t. HOSTILE=ATTEMPT[:WORD] pull OPTION... REFERENCE FOLDER says how the
 * attempt went as an event "retry". With HOSTILE_OUTSIDE set it is made outside of the jail first
 * of all, and its outcome printed, which is the control. HOSTILE_FILES is a folder with "manifest"
 * and "blob", what the registry would have. */
#include "rootfs/image/client.h"

#include "base/fd.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FILE_MAX = 1 << 20 };

static struct {
	char attempt[32], word[256];
	const char *environment; /* where its bytes lie, and how many */
	size_t environment_len;
	char manifest[FILE_MAX], blob[FILE_MAX];
	ssize_t manifest_len, blob_len;
} told;

static struct {
	const struct client *client; /* NULL: outside */
	int file;		     /* a blob's */
	uint64_t size;
} here = {.file = -1};

/* 0, or the errno of what was in the way. */
static int outcome(long rc)
{
	return rc < 0 ? errno : 0;
}

/* ---- attempts to get out ---- */

static int read_file(void)
{
	const int fd = open(told.word, O_RDONLY | O_CLOEXEC);
	return outcome(fd);
}

/* From each folder that there is a descriptor of. */
static int climb(void)
{
	struct stat st;
	int last = ENOENT;
	if (!here.client && open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) < 0)
		return errno;
	for (int fd = 0; fd < 1024; fd++) {
		if (fstat(fd, &st) < 0 || !S_ISDIR(st.st_mode))
			continue;
		last = outcome(openat(fd, told.word, O_RDONLY | O_CLOEXEC));
		if (last == 0)
			return 0;
	}
	return last;
}

static int make_file(void)
{
	return outcome(open(told.word, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
}

static int remove_file(void)
{
	return outcome(unlinkat(AT_FDCWD, told.word, 0));
}

static int execute(void)
{
	char word[] = "reached", *argv[] = {told.word, word, NULL}, *none[] = {NULL};
	fflush(stdout);
	return outcome(execve(told.word, argv, none));
}

static int make_process(void)
{
	const long pid = syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
	if (pid == 0)
		_exit(0);
	if (pid > 0)
		waitpid((pid_t)pid, NULL, 0);
	return outcome(pid);
}

static int trace(void)
{
	return outcome(ptrace(PTRACE_TRACEME, 0, NULL, NULL));
}

static int read_memory(void)
{
	char byte;
	const struct iovec to = {&byte, 1}, from = {&byte, 1};
	return outcome(process_vm_readv(getpid(), &to, 1, &from, 1, 0));
}

static int send_signal(void)
{
	return outcome(kill(getpid(), 0));
}

static int unshare_nothing(void)
{
	return outcome(unshare(0));
}

static int change_mode(void)
{
	return outcome(fchmod(here.client ? here.client->document : memfd_create("x", 0), 0700));
}

/* ---- sockets ---- */

static socklen_t abstract(struct sockaddr_un *to)
{
	*to = (struct sockaddr_un){.sun_family = AF_UNIX};
	memcpy(to->sun_path + 1, told.word, strlen(told.word));
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(told.word));
}

static int connect_abstract(int fd)
{
	struct sockaddr_un to;
	const socklen_t len = abstract(&to);
	return fd < 0 ? errno : outcome(connect(fd, (struct sockaddr *)&to, len));
}

static int unix_stream(void)
{
	return connect_abstract(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
}

static int unix_datagram(void)
{
	return connect_abstract(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
}

/* A datagram socket of a pair can send to anybody. */
static int unix_pair(void)
{
	struct sockaddr_un to;
	const socklen_t len = abstract(&to);
	int pair[2];
	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) < 0)
		return errno;
	return outcome(sendto(pair[0], "x", 1, 0, (struct sockaddr *)&to, len));
}

/* One that is there: its own end of the socket to the caller, or a pair that may be made, shut down or not. */
static int unix_again(void)
{
	int pair[2];
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return errno;
	close(pair[1]);
	shutdown(pair[0], SHUT_RDWR);
	const int first = connect_abstract(pair[0]);
	return first != 0 && here.client ? connect_abstract(dup(here.client->talk)) : first;
}

static int netlink(void)
{
	return outcome(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
}

static int internet(int (*call)(int, const struct sockaddr *, socklen_t), uint16_t port)
{
	const struct sockaddr_in to = {.sin_family = AF_INET,
				       .sin_port = htons(port),
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	return fd < 0 ? errno : outcome(call(fd, (const struct sockaddr *)&to, sizeof(to)));
}

static int speak_tcp(void)
{
	return internet(connect, (uint16_t)strtoul(told.word, NULL, 10));
}

static int serve_tcp(void)
{
	return internet(bind, 0);
}

/* ---- what it has no business to know, and to do to what it was given ---- */

static int know_environment(void)
{
	const size_t len = strlen(told.word);
	return memmem(told.environment, told.environment_len, told.word, len) ? 0 : ENOENT;
}

static int grow_document(void)
{
	return outcome(ftruncate(here.client ? here.client->document : memfd_create("x", 0),
				 JSON_BYTES_MAX + 1));
}

static const struct {
	const char *name;
	int (*make)(void);
} attempts[] = {
	{"read", read_file},
	{"climb", climb},
	{"make", make_file},
	{"remove", remove_file},
	{"execute", execute},
	{"fork", make_process},
	{"trace", trace},
	{"memory", read_memory},
	{"signal", send_signal},
	{"unshare", unshare_nothing},
	{"chmod", change_mode},
	{"unix-stream", unix_stream},
	{"unix-datagram", unix_datagram},
	{"unix-pair", unix_pair},
	{"unix-again", unix_again},
	{"netlink", netlink},
	{"tcp", speak_tcp},
	{"bind", serve_tcp},
	{"environment", know_environment},
	{"grow", grow_document},
};

static bool try_attempt(char *said, size_t size)
{
	for (size_t i = 0; i < sizeof(attempts) / sizeof(*attempts); i++) {
		if (strcmp(attempts[i].name, told.attempt) != 0)
			continue;
		const int got = attempts[i].make();
		snprintf(said, size, "%s %s", got ? "blocked" : "reached",
			 got ? strerrorname_np(got) : "");
		return true;
	}
	return false;
}

/* ---- lies ---- */

static bool lies(const char *how)
{
	return strcmp(told.attempt, how) == 0;
}

static void say(const void *word, size_t len)
{
	if (fd_send(here.client->talk, word, len, NULL, 0) < 0)
		_exit(3);
}

static void say_event(const char *why)
{
	struct client_word w = {.kind = WORD_EVENT, .event = REGISTRY_RETRY, .blob = SIZE_MAX};
	snprintf(w.why, sizeof(w.why), "%s", why);
	say(&w, sizeof(w));
}

static _Noreturn void wait_for_ever(void)
{
	for (;;)
		poll(NULL, 0, -1);
}

static void lie_about_words(void)
{
	struct client_word w = {.kind = WORD_DOCUMENT, .size = JSON_BYTES_MAX + UINT64_C(1)};
	if (lies("word-size"))
		say(&w, sizeof(w) - 1);
	if (lies("word-document"))
		say(&w, sizeof(w));
	w = (struct client_word){.kind = WORD_EVENT, .event = REGISTRY_MOVED, .blob = 1};
	if (lies("word-blob"))
		say(&w, sizeof(w));
	memset(&w.kind, 99, sizeof(w.kind));
	if (lies("word-kind"))
		say(&w, sizeof(w));
	w.kind = WORD_DOCUMENT;
	memset(&w.type, 99, sizeof(w.type));
	if (lies("word-type"))
		say(&w, sizeof(w));
}

static void give_document(void)
{
	struct client_word w = {.kind = WORD_DOCUMENT,
				.type = MEDIA_OCI_MANIFEST,
				.size = (uint64_t)told.manifest_len};
	lie_about_words();
	if (lies("crash"))
		__builtin_trap();
	if (lies("leave"))
		_exit(0);
	if (lies("deaf")) {
		close(here.client->talk);
		wait_for_ever();
	}
	if (lies("other-manifest"))
		told.manifest[told.manifest_len - 1] = ' ';
	if (lies("short-manifest"))
		w.size--;
	if (pwrite(here.client->document, told.manifest, (size_t)told.manifest_len, 0) < 0)
		_exit(4);
	say(&w, sizeof(w));
}

/* The blob that is asked for first is told.blob: a manifest of one layer, which is its own config. */
static void give_blob(void)
{
	const struct client_word done = {.kind = WORD_EVENT, .event = REGISTRY_DONE};
	char block[4096] = {0};
	if (lies("far")) {
		say_event(pwrite(here.file, "x", 1, 1 << 30) < 0 ? strerrorname_np(errno)
								 : "reached");
		return;
	}
	if (lies("wrong-blob"))
		told.blob[0] ^= 1;
	if (pwrite(here.file, told.blob, (size_t)told.blob_len, 0) < 0)
		_exit(4);
	say(&done, sizeof(done));
	if (lies("late-write") && pwrite(here.file, block, sizeof(block), 0) < 0)
		_exit(4);
	if (lies("too-much")) {
		if (pwrite(here.file, block, sizeof(block), (off_t)here.size) < 0)
			_exit(4);
		wait_for_ever();
	}
	if (lies("deaf-blob")) {
		close(here.client->talk);
		wait_for_ever();
	}
}

/* In the place of the product's. */
int client_run(int root, void *client, struct err *e)
{
	char said[64];
	struct client_order o;
	here.client = client;
	(void)root;
	for (;;) {
		size_t fds = 1;
		int fd = -1;
		if (fd_recv(here.client->talk, &o, sizeof(o), &fd, &fds) <= 0)
			return err_host(e, "nobody asks");
		if (o.kind == ORDER_DOCUMENT && try_attempt(said, sizeof(said))) {
			say_event(said);
			return err_host(e, "attempted");
		}
		if (o.kind == ORDER_DOCUMENT)
			give_document();
		if (o.kind == ORDER_BLOB && here.file < 0) {
			here.file = fd;
			here.size = o.what.size;
		}
		if (o.kind == ORDER_BLOBS) {
			give_blob();
			return 0;
		}
	}
}

/* ---- before main() ---- */

static ssize_t take_file(const char *folder, const char *name, char *to)
{
	char path[4096];
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? 0 : read(fd, to, FILE_MAX);
}

static __attribute__((constructor)) void be_told(void)
{
	const char *attempt = getenv("HOSTILE"), *files = getenv("HOSTILE_FILES");
	const char *colon = attempt ? strchr(attempt, ':') : NULL;
	char said[64] = "";
	if (!attempt)
		exit(2);
	snprintf(told.attempt, sizeof(told.attempt), "%.*s",
		 (int)(colon ? colon - attempt : (ptrdiff_t)strlen(attempt)), attempt);
	snprintf(told.word, sizeof(told.word), "%s", colon ? colon + 1 : "");
	told.environment = environ[0];
	for (char **at = environ; *at; at++)
		told.environment_len = (size_t)(*at + strlen(*at) - environ[0]);
	if (files) {
		told.manifest_len = take_file(files, "manifest", told.manifest);
		told.blob_len = take_file(files, "blob", told.blob);
	}
	if (!getenv("HOSTILE_OUTSIDE"))
		return;
	try_attempt(said, sizeof(said));
	puts(said);
	fflush(stdout);
	_exit(0); /* traced perhaps, which a sanitizer's look at its leaks does not bear */
}

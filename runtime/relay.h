/* stdio, relayed and never inherited: bytes between the program's pipes and the caller's files.
 *
 * The program holds pipes of ours, so it can neither reopen the caller's file nor change its flags.
 * Our own writes cannot block, whatever the caller gave us and without touching the caller's flags:
 * a pipe or a terminal is opened anew with O_NONBLOCK through /proc/self/fd (a description of our
 * own); where that is not allowed, at most PIPE_BUF after POLLOUT; a socket gets MSG_DONTWAIT; a
 * regular file does not block. See pipe(7), poll(2), proc(5).
 */
#ifndef PINFOLD_RUNTIME_RELAY_H
#define PINFOLD_RUNTIME_RELAY_H

#include "base/err.h"
#include "spec/result.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sys/types.h>

#include <sha2.h>

enum { RELAY_BYTES = 64 * 1024 };

enum outlet_kind {
	OUTLET_FILE,	 /* regular file, /dev/null: a write does not wait for a reader */
	OUTLET_SOCKET,	 /* MSG_DONTWAIT */
	OUTLET_NONBLOCK, /* a description of our own, O_NONBLOCK */
	OUTLET_CAREFUL, /* the caller's description: PIPE_BUF at most, and only where that cannot block */
};

/* Where bytes leave to, with what has not left yet. */
struct outlet {
	int fd; /* -1: none */
	enum outlet_kind kind;
	char *buf; /* of size bytes, RELAY_BYTES as a rule, made at the first use */
	size_t size;
	size_t head, len;
	int broken; /* errno of the write that failed, 0 none */
};
#define OUTLET_INIT {.fd = -1}

/* Opens or duplicates what it needs; fd stays the caller's. */
int outlet_open(struct outlet *o, int fd, struct err *e);
void outlet_close(struct outlet *o);
size_t outlet_room(const struct outlet *o);
/* Queue what fits; false when it did not all fit (nothing was queued). */
bool outlet_put(struct outlet *o, const char *data, size_t len);
/* The same, with as much room as it needs: for the one document that may be longer. */
bool outlet_put_last(struct outlet *o, const char *data, size_t len);
/* Write what can be written now. Returns bytes written. */
size_t outlet_flush(struct outlet *o);

/* Of a broken one: whether nobody is there to read any more. Else the file or the device failed. */
bool outlet_reader_left(const struct outlet *o);

/* One of the program's output streams. */
struct stream {
	int from; /* our end of the pipe, or the pty's master; -1: none or at its end */
	struct outlet to;
	uint64_t limit, bytes;
	bool truncated;
	bool is_tty; /* EIO is its end: the last slave was closed */
	int failed;  /* errno of the read that failed, 0 none */
	SHA2_CTX sha;
};
#define STREAM_INIT {.from = -1, .to = OUTLET_INIT}

int stream_open(struct stream *s, int from, int to, uint64_t limit, struct err *e);
void stream_close(struct stream *s);

/* from is readable: read, count, hash, pass on. Returns bytes read. *over_limit: there was a byte
 * more than the limit, which was dropped. An error is not the end: s->failed, and from is closed. */
size_t stream_pump(struct stream *s, bool *over_limit);
void stream_report(struct stream *s, struct stream_result *r);

/* The caller's stdin to the program's. */
struct feed {
	int from; /* -1: none or at its end */
	bool from_socket, from_owned;
	struct outlet to;
	bool is_tty;
	int failed; /* errno of the read that failed, 0 none */
};
#define FEED_INIT {.from = -1, .to = OUTLET_INIT}

/* from: the caller's fd (borrowed) or a file of ours (owned: taken). takes to. */
int feed_open(struct feed *f, int from, bool owned, int to, struct err *e);
void feed_close(struct feed *f);
/* Returns bytes read. An error is not the end of the input: f->failed, and nothing more is read. */
size_t feed_pump(struct feed *f);
/* At the end of the input and with everything passed on: close the program's end. */
void feed_settle(struct feed *f);

#endif

/* TCP's two ends for tests/bench/egress.
 *
 *	stream serve PORT			one thread a connection; says "ready"
 *	stream MODE ADDRESS PORT COUNT		the client: prints one number
 *
 * The first byte of a connection says what the server does: D sends until it is closed, U reads until
 * the end and then says one byte, G says one byte, K sends 1 KiB and closes, H waits for the end.
 *	down, up	bytes a second over one connection; COUNT is MiB
 *	connect		median ns of connect(2) alone, of COUNT
 *	greet		median ns from before connect(2) to the first byte from the server, of COUNT
 *	short		connections (connect, 1 KiB, close) a second, of COUNT
 *	hold		COUNT connections at once, each with its first byte back; says "held", ends with stdin */
#include <arpa/inet.h>
#include <err.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { CHUNK = 256 << 10, KIB = 1024 };

static uint64_t now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* ---- the server ---- */

static void send_for_ever(int fd, char *room)
{
	while (send(fd, room, CHUNK, MSG_NOSIGNAL) > 0)
		;
}

static void read_to_the_end(int fd, char *room)
{
	while (recv(fd, room, CHUNK, 0) > 0)
		;
}

static void *serve_one(void *arg)
{
	const int fd = (int)(intptr_t)arg;
	char *room = calloc(1, CHUNK);
	char mode = 0;
	if (!room || recv(fd, &mode, 1, 0) != 1)
		mode = 0;
	if (mode == 'D')
		send_for_ever(fd, room);
	if (mode == 'U' || mode == 'H')
		read_to_the_end(fd, room);
	if (mode == 'U' || mode == 'G' || mode == 'H')
		send(fd, "x", 1, MSG_NOSIGNAL);
	if (mode == 'H')
		read_to_the_end(fd, room);
	if (mode == 'K')
		send(fd, room, KIB, MSG_NOSIGNAL);
	close(fd);
	free(room);
	return NULL;
}

static int serve(const char *port)
{
	const struct sockaddr_in any = {.sin_family = AF_INET,
					.sin_port = htons((uint16_t)atoi(port)),
					.sin_addr = {htonl(INADDR_LOOPBACK)}};
	const int on = 1, fd = socket(AF_INET, SOCK_STREAM, 0);
	if (fd < 0)
		err(1, "socket");
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, (const struct sockaddr *)&any, sizeof(any)) < 0 || listen(fd, 512) < 0)
		err(1, "port %s", port);
	puts("ready");
	fflush(stdout);
	for (;;) {
		pthread_t thread;
		const int one = accept(fd, NULL, NULL);
		if (one >= 0 && pthread_create(&thread, NULL, serve_one, (void *)(intptr_t)one) == 0)
			pthread_detach(thread);
	}
}

/* ---- the client ---- */

static struct sockaddr_in server;

static int open_one(char mode)
{
	const int fd = socket(AF_INET, SOCK_STREAM, 0);
	if (fd < 0 || connect(fd, (const struct sockaddr *)&server, sizeof(server)) < 0)
		err(1, "connect");
	if (mode && send(fd, &mode, 1, 0) != 1)
		err(1, "send");
	return fd;
}

static void first_byte(int fd)
{
	char byte;
	if (recv(fd, &byte, 1, 0) != 1)
		err(1, "no first byte");
}

static double down(long count, char *room)
{
	const uint64_t wanted = (uint64_t)count << 20, begin = now();
	uint64_t got = 0;
	const int fd = open_one('D');
	while (got < wanted) {
		const ssize_t n = recv(fd, room, CHUNK, 0);
		if (n <= 0)
			err(1, "recv");
		got += (uint64_t)n;
	}
	return (double)got * 1e9 / (double)(now() - begin);
}

static double up(long count, char *room)
{
	const uint64_t wanted = (uint64_t)count << 20, begin = now();
	const int fd = open_one('U');
	for (uint64_t sent = 0; sent < wanted; sent += CHUNK)
		if (send(fd, room, CHUNK, 0) != CHUNK)
			err(1, "send");
	shutdown(fd, SHUT_WR);
	first_byte(fd);
	return (double)wanted * 1e9 / (double)(now() - begin);
}

static int by_size(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

static double times(long count, char mode)
{
	uint64_t *all = calloc((size_t)count, sizeof(*all));
	for (long i = 0; i < count; i++) {
		const uint64_t begin = now();
		const int fd = open_one(mode);
		if (mode)
			first_byte(fd);
		all[i] = now() - begin;
		close(fd);
	}
	qsort(all, (size_t)count, sizeof(*all), by_size);
	const size_t middle = (size_t)count / 2;
	const uint64_t median = all[middle];
	free(all);
	return (double)median;
}

static double shorts(long count, char *room)
{
	const uint64_t begin = now();
	for (long i = 0; i < count; i++) {
		const int fd = open_one('K');
		size_t got = 0;
		ssize_t n;
		while ((n = recv(fd, room, CHUNK, 0)) > 0)
			got += (size_t)n;
		if (got != KIB)
			errx(1, "short connection %ld: %zu bytes", i, got);
		close(fd);
	}
	return (double)count * 1e9 / (double)(now() - begin);
}

static void hold(long count, char *room)
{
	int *all = calloc((size_t)count, sizeof(*all));
	for (long i = 0; i < count; i++)
		all[i] = open_one('D');
	for (long i = 0; i < count; i++)
		first_byte(all[i]);
	puts("held");
	fflush(stdout);
	while (read(0, room, 1) > 0)
		;
	free(all); /* their end is the process's */
}

int main(int argc, char **argv)
{
	static char room[CHUNK];
	signal(SIGPIPE, SIG_IGN);
	if (argc == 3 && strcmp(argv[1], "serve") == 0)
		return serve(argv[2]);
	if (argc != 5)
		errx(2, "see tests/bench/stream.c");
	server = (struct sockaddr_in){.sin_family = AF_INET,
				      .sin_port = htons((uint16_t)atoi(argv[3]))};
	inet_pton(AF_INET, argv[2], &server.sin_addr);
	const long count = atol(argv[4]);
	double figure = 0;
	if (strcmp(argv[1], "down") == 0)
		figure = down(count, room);
	else if (strcmp(argv[1], "up") == 0)
		figure = up(count, room);
	else if (strcmp(argv[1], "connect") == 0)
		figure = times(count, 0);
	else if (strcmp(argv[1], "greet") == 0)
		figure = times(count, 'G');
	else if (strcmp(argv[1], "short") == 0)
		figure = shorts(count, room);
	else
		hold(count, room);
	printf("%.0f\n", figure);
	return 0;
}

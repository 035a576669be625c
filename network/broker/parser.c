#include "network/broker/broker.h"

#include "spec/parse.h"
#include "spec/spec.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { EVENTS = 64, PAUSE_MS = 50 };

int64_t in_ms(const struct broker *b, int64_t ms)
{
	return b->now_ns + ms * MS_NS;
}

int64_t in_ns(const struct broker *b, uint64_t ns)
{
	return ns < (uint64_t)(NEVER - b->now_ns) ? b->now_ns + (int64_t)ns : NEVER;
}

void late_text(char text[LATE_BYTES], const char *what, uint64_t ns)
{
	char time[PARSE_TEXT_BYTES];
	spec_format_time(ns, time);
	snprintf(text, LATE_BYTES, "%s %s", what, time);
}

void wake_at(struct broker *b, int64_t at_ns)
{
	if (at_ns < b->wake_ns)
		b->wake_ns = at_ns;
}

/* Memory for the kernel's part is bounded by the descriptors that there can be. */
static void control(struct broker *b, int operation, struct watch *w, uint32_t events)
{
	struct epoll_event e = {.events = events, .data = {.ptr = w}};
	if (epoll_ctl(b->epoll, operation, w->fd, &e) < 0)
		b->over = true; /* what is not watched is not served: better none at all */
}

void watch_add(struct broker *b, struct watch *w, uint32_t events)
{
	control(b, EPOLL_CTL_ADD, w, events);
}

void watch_change(struct broker *b, struct watch *w, uint32_t events)
{
	control(b, EPOLL_CTL_MOD, w, events);
}

/* No descriptor here has a second one, so that close(2) takes it out of the set. */
void watch_close(struct watch *w)
{
	if (w->fd >= 0)
		close(w->fd);
	w->fd = -1;
}

/* END: the program is dead, and what it had sent before is on its way; or the supervisor is gone. */
static void on_supervisor(struct broker *b, struct watch *w, uint32_t events)
{
	char end;
	(void)events;
	if (b->end_ns != NEVER || recv(w->fd, &end, 1, MSG_DONTWAIT) != 1 || end != EGRESS_END) {
		b->over = true;
		return;
	}
	b->end_ns = in_ms(b, LAST_MS);
	wake_at(b, b->end_ns);
}

/* Nothing happened just now, and nobody has anything to send. */
static bool is_quiet(const struct broker *b, int events)
{
	return events == 0 && !connections_sending(b) && !datagrams_sending(b);
}

/* It answers only while it is asked. */
static void on_dialer(struct broker *b, struct watch *w, uint32_t events)
{
	(void)w;
	(void)events;
	b->over = true;
}

static void watch_sockets(struct broker *b)
{
	for (size_t i = 0; i < b->p->sockets_len; i++) {
		const struct sandbox_socket *s = &b->p->sockets[i];
		b->sockets[i] = (struct watch){.fd = s->fd,
					       .ready = s->transport == EGRESS_TCP ? on_listener
										   : on_datagram,
					       .owner = (void *)(uintptr_t)s};
		watch_add(b, &b->sockets[i], EPOLLIN);
	}
}

void pause_accepting(struct broker *b)
{
	b->paused = true;
	for (size_t i = 0; i < b->p->sockets_len; i++)
		if (b->p->sockets[i].transport == EGRESS_TCP)
			watch_change(b, &b->sockets[i], 0);
	wake_at(b, in_ms(b, PAUSE_MS));
}

static void accept_again(struct broker *b)
{
	b->paused = false;
	for (size_t i = 0; i < b->p->sockets_len; i++)
		if (b->p->sockets[i].transport == EGRESS_TCP)
			watch_change(b, &b->sockets[i], EPOLLIN);
}

/* Whoever has a deadline says the next one by wake_at(). */
static void look_at_clock(struct broker *b)
{
	if (b->now_ns < b->wake_ns)
		return;
	b->wake_ns = b->end_ns;
	if (b->paused)
		accept_again(b);
	for (size_t i = 0; b->busy + b->waiting > 0 && i < CONNECTIONS_MAX + WAITING_MAX; i++)
		if (b->connections[i].state != CONN_FREE)
			connection_time(&b->connections[i]);
	questions_time(b);
	datagrams_time(b);
	report_flush(b, false);
}

static void go_on(struct broker *b)
{
	b->again = false;
	for (size_t i = 0; i < CONNECTIONS_MAX + WAITING_MAX; i++)
		if (b->connections[i].again)
			connection_look(&b->connections[i]);
}

static int wait_ms(const struct broker *b)
{
	if (b->again || (b->end_ns != NEVER && is_quiet(b, 0)))
		return 0;
	if (b->wake_ns == NEVER)
		return -1;
	const int64_t left = b->wake_ns - monotonic_ns();
	return left <= 0 ? 0 : (int)((left + MS_NS - 1) / MS_NS);
}

static void turn(struct broker *b)
{
	struct epoll_event events[EVENTS];
	const int n = epoll_wait(b->epoll, events, EVENTS, wait_ms(b));
	if (n < 0 && errno != EINTR)
		b->over = true;
	b->now_ns = monotonic_ns();
	for (int i = 0; i < n && !b->over; i++) {
		struct watch *w = events[i].data.ptr;
		if (w->fd >= 0)
			w->ready(b, w, events[i].events);
	}
	if (b->again && !b->over)
		go_on(b);
	look_at_clock(b);
	if (b->limit_reached) {
		connections_end(b);
		datagrams_end(b);
	}
	connections_admit(b);
	if (b->end_ns != NEVER && (b->now_ns >= b->end_ns || is_quiet(b, n) || b->limit_reached))
		b->over = true;
}

static bool set_up(struct broker *b)
{
	const struct parser *p = b->p;
	b->epoll = epoll_create1(EPOLL_CLOEXEC);
	b->report = report_open();
	b->lookups = lookups_open();
	b->questions = questions_open();
	b->datagrams = datagrams_open();
	if (b->epoll < 0 || !b->report || !b->lookups || !b->questions || !b->datagrams)
		return false;
	b->supervisor = (struct watch){.fd = p->supervisor, .ready = on_supervisor};
	b->dialer = (struct watch){.fd = p->dialer, .ready = on_dialer};
	b->answers = (struct watch){.fd = p->names, .ready = on_names};
	watch_add(b, &b->supervisor, EPOLLIN);
	watch_add(b, &b->dialer, EPOLLIN);
	watch_add(b, &b->answers, EPOLLIN);
	watch_sockets(b);
	return !b->over;
}

/* Exact names have their addresses from the start; those of wildcards get theirs as they are asked for. */
static void name_rules(struct broker *b)
{
	synthetic_init(&b->names, b->p->rules->len);
	for (size_t i = 0; i < b->p->rules->len; i++)
		if (b->p->rules->rules[i].target == EGRESS_NAME)
			synthetic_keep(&b->names, b->p->rules->rules[i].name);
	b->names.max = b->names.len + EGRESS_NAMES_MAX;
}

void parser_run(const struct parser *p)
{
	/* Zero, and never written to as a whole: what is not used costs no memory. */
	static struct broker b;
	b.p = p;
	b.now_ns = monotonic_ns();
	b.wake_ns = b.end_ns = NEVER;
	b.left_bytes = p->config->bytes;
	name_rules(&b);
	if (!set_up(&b))
		return;
	while (!b.over)
		turn(&b);
	connections_end(&b);
	datagrams_end(&b);
	report_flush(&b, true);
}

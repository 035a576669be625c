/* The control of hostile_parser.c: the same parser_run() without any jail. Prints what the attempt
 * was told, or that it ended the process. Usage: hostile-control NAME */
#include "base/arena.h"
#include "network/broker/dialer.h"
#include "network/broker/parser.h"
#include "network/egress/address.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static void pair_of(int pair[2])
{
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		_exit(2);
}

/* It ends with the parser. Its resolver never says anything. */
static pid_t start_dialer(const struct egress_list *rules, const int dial[2], const int names[2])
{
	static struct answered answered;
	int resolver[2], questions[2];
	pair_of(resolver);
	pair_of(questions);
	const pid_t pid = fork();
	if (pid == 0) {
		close(dial[1]);
		close(names[1]);
		dialer_run(&(struct dialer){.rules = rules,
					    .parser = {.dial = dial[0], .names = names[0]},
					    .resolver = {.dial = resolver[0], .names = questions[0]},
					    .answered = &answered});
		_exit(0);
	}
	for (int i = 0; i < 2; i++) {
		close(resolver[i]);
		close(questions[i]);
	}
	return pid;
}

static pid_t start_parser(const struct egress_list *rules, int dialer, int names, int supervisor)
{
	const pid_t pid = fork();
	if (pid == 0) {
		parser_run(&(struct parser){.rules = rules,
					    .dialer = dialer,
					    .names = names,
					    .supervisor = supervisor});
		_exit(0);
	}
	return pid;
}

int main(int argc, char **argv)
{
	autoarena arena = ARENA_INIT;
	struct egress_list rules = {0};
	struct err e = ERR_INIT;
	struct egress_report said = {0};
	int supervisor[2], dialer[2], names[2];
	char rule[256];
	if (argc != 2)
		return 2;
	snprintf(rule, sizeof(rule), "%s.example:7000", argv[1]);
	if (egress_list_add(&rules, rule, &arena, &e) < 0 ||
	    egress_list_add(&rules, "private:udp:127.0.0.1:7000", &arena, &e) < 0)
		return 2;
	pair_of(dialer);
	pair_of(names);
	const pid_t connects = start_dialer(&rules, dialer, names);
	close(dialer[0]);
	close(names[0]);
	pair_of(supervisor);
	const pid_t hostile = start_parser(&rules, dialer[1], names[1], supervisor[1]);
	close(supervisor[1]);
	close(dialer[1]);
	close(names[1]);
	const ssize_t n = recv(supervisor[0], &said, sizeof(said), 0);
	said.reason[sizeof(said.reason) - 1] = '\0';
	printf("%s\n", n == sizeof(said) ? said.reason : "it became another program");
	kill(hostile, SIGKILL);
	waitpid(hostile, NULL, 0);
	waitpid(connects, NULL, 0);
	return 0;
}

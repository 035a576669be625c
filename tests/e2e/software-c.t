#!/usr/bin/python3
"""gcc and g++ compile and what they made runs: threads, shared memory, signals, subprocesses, C++17 parallelism."""
from software import runs, run_in, tools
from tap import done

C = r"""
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
extern char **environ;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long sum;
static void *add(void *n) { for (long i = 0; i < 1000; i++) { pthread_mutex_lock(&lock); sum += (long)n; pthread_mutex_unlock(&lock); } return n; }
static volatile sig_atomic_t seen;
static void on(int sig) { (void)sig; seen = 1; }
int main(void)
{
	pthread_t t[16];
	for (long i = 0; i < 16; i++) if (pthread_create(&t[i], NULL, add, (void *)i)) return 1;
	for (int i = 0; i < 16; i++) pthread_join(t[i], NULL);
	sem_t *sem = sem_open("/s", 0x40 | 0x80, 0600, 1);
	if (sem == SEM_FAILED || sem_wait(sem)) return 2;
	char *m = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t child = fork();
	if (child == 0) { strcpy(m, "shared"); _exit(0); }
	waitpid(child, NULL, 0);
	signal(SIGUSR1, on); raise(SIGUSR1);
	char *argv[] = {"echo", "spawned", NULL};
	int status;
	if (posix_spawnp(&child, "echo", NULL, NULL, argv, environ)) return 3;
	waitpid(child, &status, 0);
	FILE *p = popen("echo from a pipe", "r");
	char line[64] = "";
	if (!p || !fgets(line, sizeof line, p)) return 4;
	pclose(p);
	printf("%ld %s %d %d %s", sum, m, (int)seen, status, line);
	return 0;
}
"""
CPP = r"""
#include <algorithm>
#include <atomic>
#include <filesystem>
#include <future>
#include <iostream>
#include <numeric>
#include <optional>
#include <regex>
#include <shared_mutex>
#include <thread>
#include <vector>
int main()
{
	std::vector<long> v(100000);
	std::iota(v.begin(), v.end(), 0L);
	std::atomic<long> sum{0};
	std::vector<std::thread> threads;
	for (int k = 0; k < 8; k++) threads.emplace_back([&, k] { for (size_t i = k; i < v.size(); i += 8) sum += v[i]; });
	for (auto &t : threads) t.join();
	auto f = std::async(std::launch::async, [] { return std::regex_match("pinfold", std::regex("p.*d")); });
	std::filesystem::create_directories("a/b/c");
	std::optional<int> o = 7;
	try { throw std::runtime_error("caught"); }
	catch (const std::exception &e) { std::cout << sum << ' ' << f.get() << ' ' << std::filesystem::exists("a/b/c") << ' ' << *o << ' ' << e.what() << '\n'; }
}
"""
image = tools("gcc", "g++", "make", "tar")
runs("C", run_in(image, "gcc -O2 -pthread -o c c.c && ./c", files={"c.c": C}),
     f"spawned\n{1000 * sum(range(16))} shared 1 0 from a pipe\n")
runs("C++17", run_in(image, "g++ -std=c++17 -O1 -pthread -o cpp cpp.cpp && ./cpp", files={"cpp.cpp": CPP}),
     f"{sum(range(100000))} 1 1 7 caught\n")
runs("make -j", run_in(image, "make -s -j4 && cat out", files={
    "Makefile": "out: a b c d\n\tcat $^ > $@\n" + "".join(f"{n}:\n\techo {n} > {n}\n" for n in "abcd")}), "a\nb\nc\nd\n")
done()

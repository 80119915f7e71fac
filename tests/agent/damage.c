/*
 * damage.c - truncates the recordings in this directory while its threads allocate, goes on, and ends with 0 if all is as it should be.
 *
 *     damage threads   one thread with all signals blocked among them
 *     damage fork      a child goes on as well
 *     damage own       a SIGBUS of its own has its own handler, before and after
 *     damage default   a SIGBUS of its own ends it
 *     damage full      nothing is truncated
 *     damage suspended a handler truncates them, which comes while sigsuspend has all other signals blocked
 *     damage attach    waits, with threads, until somebody records it (the file "attached" is there), and goes on
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	THREADS = 3,
	ROUNDS = 20000,
};

static atomic_int is_over;
static atomic_ulong rounds[THREADS];

__attribute__((noinline)) static void allocate(int depth)
{
	void *block;

	if (depth) {
		allocate(depth - 1);
		__asm__ volatile("");
		return;
	}
	block = malloc(40);
	__asm__ volatile("" : : "r"(block) : "memory");
	free(block);
}

static void *work(void *arg)
{
	int number = (int)(size_t)arg;
	sigset_t all;

	sigfillset(&all);
	if (number == 0)
		pthread_sigmask(SIG_SETMASK, &all, NULL);
	while (!is_over) {
		allocate(number + (int)(rounds[number] % 50));
		rounds[number]++;
	}
	return NULL;
}

static void wait_for_rounds(void)
{
	for (int i = 0; i < THREADS; i++) {
		unsigned long before = rounds[i];

		while (rounds[i] < before + ROUNDS)
			sched_yield();
	}
}

/* How many recordings there are, which are truncated. */
static int find(int is_cut)
{
	DIR *dir = opendir(".");
	struct dirent *entry;
	int count = 0;

	while (dir && (entry = readdir(dir)))
		if (strstr(entry->d_name, ".wmk"))
			count += !is_cut || truncate(entry->d_name, 0) == 0;
	if (dir)
		closedir(dir);
	return count;
}

static int cut(void)
{
	return find(1);
}

static int child_ends_well(void)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		for (int i = 0; i < ROUNDS; i++)
			allocate(i % 40);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	return status == 0;
}

static volatile char *missing_page(void)
{
	int fd = open("of-the-program", O_RDWR | O_CREAT | O_TRUNC, 0600);
	volatile char *at;

	if (fd < 0 || ftruncate(fd, 4096) != 0)
		exit(20);
	at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (ftruncate(fd, 0) != 0)
		exit(21);
	close(fd);
	return at;
}

static sigjmp_buf out;
static volatile int faults;

static void on_bus(int sig, siginfo_t *info, void *context)
{
	(void)sig, (void)info, (void)context;
	faults = faults + 1;
	allocate(3);
	siglongjmp(out, 1);
}

static void fault(volatile char *page)
{
	if (!sigsetjmp(out, 1))
		page[9] = 1;
}

static volatile int is_cut;

static void on_user(int sig)
{
	sigset_t now;

	(void)sig;
	/* The program sees what it asked for. */
	is_cut = cut() != 0 && sigprocmask(SIG_BLOCK, NULL, &now) == 0 && sigismember(&now, SIGBUS) == 1;
	for (int i = 0; i < 60 * ROUNDS; i++)
		allocate(i % 50);
}

/* 0: all went well. */
static int suspended(void)
{
	struct sigaction act = {.sa_handler = on_user};
	sigset_t user, but_user;

	for (int i = 0; i < 500 * ROUNDS && (i % ROUNDS || !find(0)); i++)
		allocate(i % 50);
	sigemptyset(&user);
	sigaddset(&user, SIGUSR1);
	sigfillset(&but_user);
	sigdelset(&but_user, SIGUSR1);
	sigaction(SIGUSR1, &act, NULL);
	sigprocmask(SIG_BLOCK, &user, NULL);
	kill(getpid(), SIGUSR1);
	sigsuspend(&but_user);
	return is_cut ? 0 : 5;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	struct sigaction act = {.sa_sigaction = on_bus, .sa_flags = SA_SIGINFO}, was;
	volatile char *page = missing_page();
	pthread_t threads[THREADS];
	int is_own = strcmp(mode, "own") == 0;

	if (is_own && (sigaction(SIGBUS, &act, &was) != 0 || was.sa_handler != SIG_DFL))
		return 1;
	if (strcmp(mode, "suspended") == 0)
		return suspended();
	for (size_t i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, (void *)i);
	wait_for_rounds();
	if (is_own)
		fault(page);
	while (strcmp(mode, "attach") == 0 && access("attached", F_OK) != 0)
		sched_yield();
	wait_for_rounds();
	if (strcmp(mode, "full") != 0 && cut() == 0)
		return 2; /* nothing is recorded here */
	wait_for_rounds();
	if (is_own)
		fault(page);
	if (faults != 2 * is_own)
		return 3;
	if (strcmp(mode, "fork") == 0 && !child_ends_well())
		return 4;
	if (strcmp(mode, "default") == 0)
		page[9] = 1;
	is_over = 1;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

/*
 * dies.c - preloaded into the tracer. After DIES_AFTER steps it is killed, or with DIES_TARGET that process is, and the tracer goes on. A
 * step is a call of ptrace, a write into the process's memory, or a look whether it has stopped. How many there were is written to the
 * file DIES_COUNT. With DIES_EVERY of looks in a row only each that comes after twice as many as the one before is a step, and when the
 * tracer is killed each thread that it traces gets the signal DIES_EVERY: it comes as soon as the thread can have it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	THREADS_MAX = 64,
};

static long steps;
static unsigned long looks; /* in a row */
static pid_t threads[THREADS_MAX];
static size_t thread_count;

static void signal_all(void)
{
	const char *signal = getenv("DIES_EVERY");

	for (size_t i = 0; signal && i < thread_count; i++)
		syscall(SYS_tgkill, threads[0], threads[i], strtol(signal, NULL, 10));
}

static void step(void)
{
	const char *most = getenv("DIES_AFTER"), *target = getenv("DIES_TARGET");

	if (steps++ != (most ? strtol(most, NULL, 10) : -1))
		return;
	signal_all();
	kill(target ? (pid_t)strtol(target, NULL, 10) : getpid(), SIGKILL);
}

static void look(void)
{
	if (!getenv("DIES_EVERY") || (looks & (looks - 1)) == 0)
		step();
	looks++;
}

__attribute__((destructor)) static void count(void)
{
	const char *path = getenv("DIES_COUNT");
	FILE *f = path ? fopen(path, "w") : NULL;

	if (f) {
		fprintf(f, "%ld\n", steps);
		fclose(f);
	}
}

long ptrace(enum __ptrace_request request, ...)
{
	static long (*next)(enum __ptrace_request, pid_t, void *, void *);
	va_list all;
	pid_t pid;
	void *address, *data;

	va_start(all, request);
	pid = va_arg(all, pid_t);
	address = va_arg(all, void *);
	data = va_arg(all, void *);
	va_end(all);
	if (!next)
		next = (long (*)(enum __ptrace_request, pid_t, void *, void *))dlsym(RTLD_NEXT, "ptrace");
	looks = 0;
	step();
	if (request == PTRACE_SEIZE && thread_count < THREADS_MAX)
		threads[thread_count++] = pid;
	return next(request, pid, address, data);
}

pid_t waitpid(pid_t pid, int *status, int options)
{
	static pid_t (*next)(pid_t, int *, int);

	if (!next)
		next = (pid_t(*)(pid_t, int *, int))dlsym(RTLD_NEXT, "waitpid");
	look();
	return next(pid, status, options);
}

int waitid(idtype_t type, id_t id, siginfo_t *info, int options)
{
	look();
	return (int)syscall(SYS_waitid, type, id, info, options, NULL);
}

ssize_t pwrite(int fd, const void *bytes, size_t len, off_t at)
{
	static ssize_t (*next)(int, const void *, size_t, off_t);

	if (!next)
		next = (ssize_t(*)(int, const void *, size_t, off_t))dlsym(RTLD_NEXT, "pwrite");
	looks = 0;
	step();
	return next(fd, bytes, len, at);
}

ssize_t pwrite64(int fd, const void *bytes, size_t len, off64_t at)
{
	return pwrite(fd, bytes, len, (off_t)at);
}

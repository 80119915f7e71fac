/*
 * dies.c - preloaded into the tracer. After DIES_AFTER steps it is killed, or with DIES_TARGET that process is, and the tracer goes on. A
 * step is a call of ptrace, a write into the process's memory, or a look whether it has stopped. How many there were is written to the
 * file DIES_COUNT.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

static long steps;

static void step(void)
{
	const char *most = getenv("DIES_AFTER"), *target = getenv("DIES_TARGET");

	if (steps++ == (most ? strtol(most, NULL, 10) : -1))
		kill(target ? (pid_t)strtol(target, NULL, 10) : getpid(), SIGKILL);
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
	step();
	return next(request, pid, address, data);
}

pid_t waitpid(pid_t pid, int *status, int options)
{
	static pid_t (*next)(pid_t, int *, int);

	if (!next)
		next = (pid_t(*)(pid_t, int *, int))dlsym(RTLD_NEXT, "waitpid");
	step();
	return next(pid, status, options);
}

ssize_t pwrite(int fd, const void *bytes, size_t len, off_t at)
{
	static ssize_t (*next)(int, const void *, size_t, off_t);

	if (!next)
		next = (ssize_t(*)(int, const void *, size_t, off_t))dlsym(RTLD_NEXT, "pwrite");
	step();
	return next(fd, bytes, len, at);
}

ssize_t pwrite64(int fd, const void *bytes, size_t len, off64_t at)
{
	return pwrite(fd, bytes, len, (off_t)at);
}

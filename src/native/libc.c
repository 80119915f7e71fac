/*
 * libc.c - functions of the C library that the agent and the sampler have for themselves, hidden in their images.
 *
 * Their calls of memcpy would otherwise lead to the program's, if that has one: to code that the agent may change, and that cannot run while
 * the agent holds its lock, or to a sanitizer's, which looks at what is read and may wait for a lock that the interrupted code holds. The empty assembly keeps compilers from making a call of the
 * function out of its own loop.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "native/libc.h"
#include "recorder/sys.h"

/* glibc names its parameters otherwise. */
/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name) */

#define STEP(p) __asm__ volatile("" : "+r"(p))

/* ---- bytes ---- */

void *memcpy(void *restrict to, const void *restrict from, size_t len)
{
	void *at = to;

	__asm__ volatile("rep movsb" : "+D"(at), "+S"(from), "+c"(len) : : "memory");
	return to;
}

void *memmove(void *to, const void *from, size_t len)
{
	unsigned char *end = (unsigned char *)to + len;
	const unsigned char *last = (const unsigned char *)from + len;

	if ((uintptr_t)to - (uintptr_t)from >= len)
		return memcpy(to, from, len);
	while (len--) {
		*--end = *--last;
		STEP(end);
	}
	return to;
}

void *memset(void *to, int byte, size_t len)
{
	void *at = to;

	__asm__ volatile("rep stosb" : "+D"(at), "+c"(len) : "a"(byte) : "memory");
	return to;
}

int memcmp(const void *a, const void *b, size_t len)
{
	const unsigned char *p = a, *q = b;

	for (; len; len--, p++, q++) {
		STEP(p);
		if (*p != *q)
			return *p - *q;
	}
	return 0;
}

/* What compilers make of a memcmp that is compared with 0. */
int bcmp(const void *a, const void *b, size_t len)
{
	return memcmp(a, b, len);
}

/* ---- strings ---- */

size_t strnlen(const char *s, size_t most)
{
	size_t len = 0;

	while (len < most && s[len]) {
		len++;
		STEP(s);
	}
	return len;
}

size_t strlen(const char *s)
{
	return strnlen(s, SIZE_MAX);
}

int strncmp(const char *a, const char *b, size_t most)
{
	const unsigned char *p = (const unsigned char *)a, *q = (const unsigned char *)b;

	for (; most; most--, p++, q++) {
		STEP(p);
		if (*p != *q || !*p)
			return *p - *q;
	}
	return 0;
}

int strcmp(const char *a, const char *b)
{
	return strncmp(a, b, SIZE_MAX);
}

char *strchr(const char *s, int c)
{
	for (;; s++) {
		STEP(s);
		if (*s == (char)c)
			return (char *)s;
		if (!*s)
			return NULL;
	}
}

char *strrchr(const char *s, int c)
{
	const char *found = NULL;

	for (;; s++) {
		STEP(s);
		if (*s == (char)c)
			found = s;
		if (!*s)
			return (char *)found;
	}
}

char *strstr(const char *s, const char *part)
{
	size_t len = strlen(part);

	for (;; s++) {
		if (strncmp(s, part, len) == 0)
			return (char *)s;
		if (!*s)
			return NULL;
	}
}

char *strcpy(char *restrict to, const char *restrict from)
{
	return memcpy(to, from, strlen(from) + 1);
}

char *strncpy(char *restrict to, const char *restrict from, size_t len)
{
	size_t copied = strnlen(from, len);

	memcpy(to, from, copied);
	memset(to + copied, 0, len - copied);
	return to;
}

/* ---- time ---- */

/* The kernel's, which needs no system call for most clocks; NULL: there is none. Written once, at start. */
static int (*vdso_clock)(clockid_t clock, struct timespec *ret);

int clock_gettime(clockid_t clock, struct timespec *ret)
{
	long error = vdso_clock ? vdso_clock(clock, ret) : wmrt_sys3(SYS_clock_gettime, clock, (long)ret, 0);

	if (error >= 0)
		return 0;
	errno = (int)-error;
	return -1;
}

/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */

void libc_start(void)
{
	void *vdso = dlopen("linux-vdso.so.1", RTLD_LAZY | RTLD_NOLOAD);

	if (vdso)
		vdso_clock = (__typeof(vdso_clock))dlsym(vdso, "__vdso_clock_gettime");
}

/* core_trace_library.c - a shared library whose frames have no fixed size and are realigned; it aborts when asked for 7. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

int library_add(int count, ...);

static volatile int sink;

static int same(int n)
{
	for (int i = 0; i < n; i++)
		if (i & 1)
			sink += i;
	if (n == 7)
		abort();
	return sink;
}

__attribute__((noinline)) static int realigned(int n)
{
	volatile char room[n * 16 + 1];
	__attribute__((aligned(64))) volatile char line[64];

	line[3] = 1;
	for (int i = 0; i < n; i++)
		if (i == 3)
			room[i] = line[i];
	room[n] = 1;
	return same(n) + room[n] + line[3];
}

int library_add(int count, ...)
{
	va_list list;
	int sum = 0;
	char *room;

	va_start(list, count);
	for (int i = 0; i < count; i++)
		sum += va_arg(list, int);
	va_end(list);
	room = __builtin_alloca((size_t)sum);
	memset(room, 1, (size_t)sum);
	return realigned(sum) + room[sum - 1];
}

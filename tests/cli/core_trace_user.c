/* core_trace_user.c - calls the library of core_trace_library.c from a signal handler, or overflows its stack. */
#include <signal.h>
#include <stdlib.h>

int library_add(int count, ...);

static volatile int sink;

/* The library has one of the same name. */
__attribute__((noinline)) static int same(int n)
{
	int sum = 0;

	if (n > 2)
		return same(n - 1) + 1;
	for (int i = 0; i < n; i++)
		sum += i;
	return library_add(3, 1, 2, 4) + sum;
}

static void handle(int signal)
{
	if (signal == SIGUSR1)
		sink++;
	else
		sink--;
	same(4);
	sink++;
}

__attribute__((noinline)) static int overflow(int n)
{
	volatile char room[600];

	room[n % 600] = 1;
	if (n < 0)
		return 0;
	return overflow(n + 1) + room[(n + 1) % 600];
}

int main(int argc, char **argv)
{
	(void)argv;
	signal(SIGUSR1, handle);
	if (argc > 1)
		return overflow(0);
	for (int i = 0; i < 4; i++)
		if (i == 2)
			raise(SIGUSR1);
	return 0;
}

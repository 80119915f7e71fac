/* core_program.c - stops in a way of its argument's: fault, wait. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static volatile int sink;

static inline __attribute__((always_inline)) int load(const volatile int *p)
{
	return *p + sink;
}

__attribute__((noinline)) static int stop(const char *way)
{
	if (strcmp(way, "wait") == 0) {
		puts("ready");
		fflush(stdout);
		for (;;)
			pause();
	}
	return load((const volatile int *)0x10) + 1;
}

__attribute__((noinline)) static int deep(int n, const char *way)
{
	int result = n ? deep(n - 1, way) : stop(way);

	sink += result;
	return result + 1;
}

int main(int argc, char **argv)
{
	return argc > 1 ? deep(300, argv[1]) : 0;
}

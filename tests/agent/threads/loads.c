/* loads.c - threads that load libraries while others call into them, and back through the C library. */
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#include "../hazards/probe.h"

enum {
	THREADS = 4,
	ROUNDS = 40,
};

typedef int (*compare_fn)(const void *, const void *);

__attribute__((noinline)) static int compare(const void *a, const void *b)
{
	if (*(const int *)a % 31 == 0)
		PROBE();
	return *(const int *)a - *(const int *)b;
}

__attribute__((noinline)) static int backwards(const void *a, const void *b)
{
	return compare(b, a);
}

__attribute__((noinline)) static long sorts(long number, compare_fn by)
{
	int items[64];

	for (int i = 0; i < 64; i++)
		items[i] = (int)((number + 7) * 2654435761u >> 3) * (i + 3) % 997;
	qsort(items, 64, sizeof *items, by);
	return items[5];
}

__attribute__((noinline)) static long loads(long number)
{
	static const char *const names[] = {"libm.so.6", "libz.so.1", "liblzma.so.5", "libbz2.so.1.0"};
	void *library = dlopen(names[number % 4], RTLD_LAZY | (number % 3 ? RTLD_LOCAL : RTLD_GLOBAL));
	unsigned long (*crc)(unsigned long, const unsigned char *, unsigned int);
	long got = 0;

	if (!library)
		return 0;
	crc = (unsigned long (*)(unsigned long, const unsigned char *, unsigned int))dlsym(library, "crc32");
	if (crc)
		got = (long)crc(1, (const unsigned char *)"waymark", 7);
	PROBE();
	return got;
}

static void *work(void *argument)
{
	long got = 0;

	for (long i = 0; i < ROUNDS; i++) {
		got += sorts(i + (long)argument, i % 2 ? compare : backwards);
		got += loads(i + (long)argument);
		got += (long)strlen(strchr("a=b", '='));
	}
	PROBE();
	return (void *)got;
}

int main(void)
{
	pthread_t threads[THREADS];
	long got = 0;

	for (long i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, (void *)i);
	for (int i = 0; i < THREADS; i++) {
		void *one;

		pthread_join(threads[i], &one);
		got += (long)one;
	}
	printf("%ld\n", got);
	return 0;
}

/* throw.cpp THROW FLAG - exceptions that are thrown and caught all the time, through frames with cleanups, as work.c. */
#include <cstdio>
#include <stdexcept>
#include <string>
#include <unistd.h>

static volatile long sink;
static long destroyed;

struct cleanup {
	~cleanup()
	{
		destroyed++;
	}
};

__attribute__((noinline)) static void work(long n)
{
	for (long i = 0; i < n; i++)
		sink = sink + i;
}

__attribute__((noinline)) static void thrower(int depth)
{
	cleanup c;
	work(500);
	if (depth == 0)
		throw std::runtime_error(std::string("deep"));
	thrower(depth - 1);
	work(10);
}

__attribute__((noinline)) static long catcher(int depth)
{
	try {
		thrower(depth);
	} catch (const std::exception &e) {
		work(1000);
		return e.what()[0];
	}
	return 0;
}

int main(int, char **argv)
{
	long caught = 0, thrown = 0;

	puts("ready");
	fflush(stdout);
	do {
		caught += catcher(4) == 'd';
		thrown++;
		work(20000);
	} while (thrown % 64 || access(argv[2], F_OK) != 0);
	printf("%ld failures\n", thrown - caught + thrown * 5 - destroyed);
	return 11;
}

/* descriptors.c - the program takes all descriptors, also those that are not its own: no file of its own is written to. */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "probe.h"

enum {
	LAST_FD = 600,
};

__attribute__((noinline)) static int leaf(int n)
{
	PROBE();
	return n + 1;
}

__attribute__((noinline)) static int first(int n)
{
	PROBE();
	return leaf(n) * 2;
}

__attribute__((noinline)) static int second(int n)
{
	PROBE();
	return leaf(n) + first(n);
}

__attribute__((noinline)) static int third(int n)
{
	PROBE();
	return second(n) - leaf(n);
}

int main(void)
{
	struct stat st;
	FILE *file = tmpfile();
	int total = leaf(1);

	if (!file)
		return 1;
	for (int fd = 3; fd < LAST_FD; fd++)
		if (fd != fileno(file))
			dup2(fileno(file), fd);
	total += first(2) + second(3);
	if (fstat(fileno(file), &st) != 0)
		return 2;
	for (int fd = 3; fd < LAST_FD; fd++)
		close(fd);
	total += third(4);
	printf("%d %ld\n", total, (long)st.st_size);
	return 0;
}

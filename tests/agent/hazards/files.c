/* files.c - all descriptors become one file of the program's, which gets what the program writes and nothing else. */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "probe.h"

enum {
	LAST = 1020,
};

static volatile int total;

__attribute__((noinline)) static int leaf(int n)
{
	PROBE();
	return n + 1;
}

/* First called when the descriptors are the file's. */
__attribute__((noinline)) static int late(int n)
{
	PROBE();
	return n ? leaf(n) + late(n - 1) : leaf(0);
}

__attribute__((noinline)) static int later(int (*f)(int), int n)
{
	int got = f(n);

	PROBE();
	return got + leaf(n);
}

__attribute__((noinline)) static void take_all(int file)
{
	for (int fd = 3; fd < LAST; fd++)
		if (fd != file && dup2(file, fd) != fd)
			break;
	PROBE();
}

int main(void)
{
	char name[] = "/tmp/waymark-files-XXXXXX";
	int file = mkstemp(name);
	struct stat st;

	if (file < 0 || fcntl(file, F_SETFL, O_APPEND) != 0)
		return 2;
	unlink(name);
	leaf(1);
	take_all(file);
	write(file, "own", 3);
	total = later(late, 5) + later(leaf, 3);
	PROBE();
	if (fstat(file, &st) != 0)
		return 3;
	printf("%d %ld\n", total, (long)st.st_size);
	for (int fd = 3; fd < LAST; fd++)
		close(fd);
	total += later(late, 2);
	return 0;
}

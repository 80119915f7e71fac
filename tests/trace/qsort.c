/* A comparator, called by libc's qsort, meets a pointer that nobody set: frames of libc stand between traced ones. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int compared;

static int compare(const void *a, const void *b)
{
	const char *x = *(const char *const *)a, *y = *(const char *const *)b;

	compared++;
	while (*x && *x == *y) {
		x++;
		y++;
	}
	return *x < *y ? -1 : *x > *y;
}

__attribute__((noinline)) static void sort(const char **names, size_t count, int reverse)
{
	if (count < 2)
		return;
	qsort(names, count, sizeof *names, compare);
	for (size_t i = 0; reverse && i < count / 2; i++) {
		const char *t = names[i];
		names[i] = names[count - 1 - i];
		names[count - 1 - i] = t;
	}
}

int main(void)
{
	const char *good[] = {"pear", "apple", "fig", "plum", "grape", "peach"};
	const char *bad[] = {"pear", "apple", "fig", "peach", NULL, "grape", "plum"};

	sort(good, 6, 1);
	sort(bad, 7, 0);
	return compared;
}

/* The bug of bc 1.06, more_arrays(): the copy of the old array runs to the count of another array, past the new one's end. */
#include <stdio.h>
#include <stdlib.h>

static int v_count, a_count;
static char **arrays;
static char *names[4096];

__attribute__((noinline)) static void more_arrays(void)
{
	int old_count = a_count;
	char **old_arrays = arrays;

	a_count += 32;
	arrays = malloc((size_t)a_count * sizeof *arrays);
	for (int i = 1; i < old_count; i++)
		arrays[i] = old_arrays[i];
	for (int i = old_count; i < v_count; i++) /* should be a_count */
		arrays[i] = NULL;
	if (old_count)
		free(old_arrays);
}

__attribute__((noinline)) static int define(const char *name)
{
	static int next = 1;

	for (int i = 1; i < next; i++)
		if (names[i] && names[i][0] == name[0] && names[i][1] == name[1])
			return i;
	if (next >= a_count)
		more_arrays();
	names[next] = (char *)name;
	return next++;
}

int main(void)
{
	static char pool[100][3];

	for (int i = 0; i < 100; i++) {
		snprintf(pool[i], 3, "%02d", i);
		if (i == 70)
			v_count = 100000000;
		define(pool[i]);
	}
	return 0;
}

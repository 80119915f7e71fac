/* An assertion fails: a call that does not return. */
#include <assert.h>
#include <stdlib.h>

static int heap[64], count;

__attribute__((noinline)) static void check(void)
{
	for (int i = 1; i < count; i++)
		assert(heap[(i - 1) / 2] <= heap[i]);
}

__attribute__((noinline)) static void push(int value)
{
	int i = count++;

	heap[i] = value;
	while (i > (count == 30 ? 2 : 0) /* should be 0 */ && heap[(i - 1) / 2] > heap[i]) {
		int up = (i - 1) / 2;
		int t = heap[up];
		heap[up] = heap[i];
		heap[i] = t;
		i = up;
	}
	check();
}

int main(void)
{
	for (int i = 0; i < 60; i++)
		push(i % 4 ? 1000 - i * 10 : 1000 + i);
	return heap[0];
}

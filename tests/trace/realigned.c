/* A crash in a leaf whose stack is realigned (a local of 64-byte alignment) and whose size is known only when it runs. */
#include <alloca.h>

static volatile int sink;

__attribute__((noinline)) static int fill(int n, const int *from)
{
	_Alignas(64) volatile int block[16] = {0};
	volatile char *bytes = alloca((unsigned)n + 1);

	for (int i = 0; i < n; i++) {
		block[i & 15] = from[i];
		bytes[i] = (char)(i & 1 ? block[i & 15] : i);
	}
	return block[3] + bytes[n / 2];
}

__attribute__((noinline)) static int vla(int n, const int *from)
{
	_Alignas(32) volatile int first[8] = {0};
	volatile int room[n];

	for (int i = 0; i < n; i++)
		if (i % 3)
			room[i] = from[i];
		else
			first[i & 7] = i;
	return room[1] + first[3];
}

int main(void)
{
	static int numbers[64];

	sink = fill(20, numbers) + vla(30, numbers);
	sink = vla(6, numbers + 3);
	for (int i = 1; i < 4; i++)
		sink += fill(i, i == 3 ? (const int *)8 : numbers);
	return sink;
}

/* As smash.c, but it crashes before it returns: what the frame kept is overwritten, too, and must not be told as if it were true. */
#include <string.h>

#ifdef RECORDS
enum {
	TOO_MUCH = 16
};
#else
enum {
	TOO_MUCH = 4096
};
#endif

static int sink;

__attribute__((noinline)) static void fill(char *to, size_t len)
{
	memset(to, 0x7f, len);
}

__attribute__((noinline)) static int convert(int n)
{
	volatile char before[16] = {0};
	char target[16] = "";

	for (int i = 0; i < n; i++)
		if (i & 1)
			sink += i ^ before[i & 15];
		else
			sink -= i;
	if (n > 5)
		fill(target, TOO_MUCH);
	if (sink == 99)
		return *(volatile int *)8;
	*(volatile int *)16 = target[3];
	return before[0];
}

int main(void)
{
	char room[8192]; /* what convert overwrites ends in here, not at the end of the stack */

	fill(room, sizeof room);
	return convert(3 + (int)strlen("three")) + room[17];
}

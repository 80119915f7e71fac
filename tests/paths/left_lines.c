/*
 * left_lines.c - counts its own lines: each that has COUNT is counted where its block begins, in front of what may jump out of
 * it. longjmp leaves the loops of the function that called setjmp every so often. Prints "LINE COUNT" of each such line.
 */
#include <setjmp.h>
#include <stdio.h>

#define COUNT (counts[__LINE__]++)

static unsigned long counts[200];
static jmp_buf env;
static volatile int sum;

__attribute__((noinline)) static void check(int n)
{
	if (n % 557 == 3)
		longjmp(env, 1);
	sum += n;
}

/* Left 36 times in 20,001 rounds. */
static void loop(void)
{
	volatile int i = 0;
	COUNT;
	if (setjmp(env)) {
		COUNT;
		sum -= 3;
	}
	while (i < 20001) {
		COUNT, i++;
		if (i % 2) {
			COUNT, sum++;
		} else {
			COUNT, sum--;
		}
		COUNT, check(i);
		if (sum & 1) {
			COUNT, sum += 2;
		}
		COUNT;
	}
	COUNT;
}

/* Left in branches, in a switch and in the condition of a loop. */
static void branches(void)
{
	volatile int i = 0, k = 0;
	COUNT;
	setjmp(env);
	COUNT;
	for (; i < 3000; k = 0) {
		COUNT, i++;
		switch (i % 3) {
		case 0:
			COUNT, check(i);
			break;
		case 1:
			COUNT, check(i + 555);
			if (i % 2)
				COUNT, check(i * 2);
			/* fall through */
		default:
			COUNT;
		}
		do {
			COUNT, check(i + k);
		} while (k++ < 3);
	}
	COUNT;
}

int main(void)
{
	loop();
	branches();
	for (int line = 0; line < 200; line++)
		if (counts[line])
			printf("%d %lu\n", line, counts[line]);
	return 0;
}

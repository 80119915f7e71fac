/* switches.c - switches: dense, sparse, falling through, on ranges and 64 bits, into a loop, of one case, of hundreds. */
#include <stdio.h>

static unsigned sum;

static void dense(int n)
{
	switch (n) {
	case 0:
		sum += 1;
		break;
	case 1:
		sum += 2;
		/* fallthrough */
	case 2:
	case 3:
		sum += 3;
		break;
	case 4:
		return;
	case 5:
		sum += 5;
		/* fallthrough */
	default:
		sum += 6;
	}
	sum++;
}

static int sparse(long n)
{
	switch (n) {
	case -1:
		return 1;
	case 1000:
	case 1L << 40:
		return 2;
	case 100 ... 120:
		return 3;
	}
	return 0;
}

static void into_loop(int count) /* Duff */
{
	int n = (count + 3) / 4;
	switch (count % 4) {
	case 0:
		do {
			sum++;
		case 3:
			sum++;
		case 2:
			sum++;
		case 1:
			sum++;
		} while (--n > 0);
	}
}

static void in_loop(const char *s)
{
	for (; *s; s++)
		switch (*s) {
		case 'a':
			continue;
		case 'b':
			sum += 3;
			break;
		case 'q':
			goto out;
		default:
			switch (*s & 3) {
			case 0:
				sum++;
				break;
			case 1:
				sum += 2;
			}
		}
out:
	sum++;
}

#define CASE(n)                  \
	case n:                  \
		sum += (n) * 3u; \
		if (x & 1)       \
			sum++;   \
		break;
#define CASES8(n) CASE(n) CASE(n + 1) CASE(n + 2) CASE(n + 3) CASE(n + 4) CASE(n + 5) CASE(n + 6) CASE(n + 7)
#define CASES64(n) \
	CASES8(n)  \
	CASES8(n + 8) CASES8(n + 16) CASES8(n + 24) CASES8(n + 32) CASES8(n + 40) CASES8(n + 48) CASES8(n + 56)
#define CASES512(n)     \
	CASES64(n)      \
	CASES64(n + 64) \
	CASES64(n + 128) CASES64(n + 192) CASES64(n + 256) CASES64(n + 320) CASES64(n + 384) CASES64(n + 448)

/* At -O0 1025 ways through the switch, and 16400 paths: some more than have an array of counters (WM1_PATHS_ARRAY_DEFAULT). */
static void hundreds(unsigned n, unsigned x)
{
	switch (n) {
		CASES512(0) default : sum++;
	}
	if (n & 2)
		sum++;
	if (x & 2)
		sum += 2;
	if (x & 4)
		sum += 5;
	if (x & 8)
		sum += 7;
}

int main(void)
{
	for (int i = -3; i < 40; i++) {
		dense(i);
		sum += (unsigned)sparse(i * 10) + (unsigned)sparse(1L << (i & 63));
		into_loop(i < 1 ? 4 : i);
		hundreds((unsigned)i * 17, (unsigned)i);
	}
	in_loop("the quick brown fox");
	in_loop("abacab");
	in_loop("");
	printf("%u\n", sum);
	return 0;
}

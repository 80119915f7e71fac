/* loops.c - loops of every shape: nested, left and continued in the middle, entered in the middle, without end condition. */
#include <stdio.h>

static unsigned sum;

static void nested(int n)
{
	for (int i = 0; i < n; i++) {
		for (int k = i; k < n; k++) {
			if ((i ^ k) & 1)
				continue;
			if (i * k > 40)
				break;
			sum += (unsigned)(i * k);
		}
		for (int k = 0; k < 3; k++)
			for (int m = 0; m < k; m++)
				sum += k & m ? 2u : 3u;
	}
}

static int backwards(int n)
{
	do {
		if (n % 7 == 3)
			return n;
		while (n > 100)
			n -= 11;
	} while (--n > 0);
	return -1;
}

/* Two ways into one cycle: no natural loop. */
static void irreducible(int n)
{
	if (n & 1)
		goto second;
first:
	sum += 1;
	if (n-- < 0)
		return;
second:
	sum += 2;
	if (n % 3 == 0)
		n--;
	if (n > 0)
		goto first;
	if (n-- == -5)
		goto second;
}

static void endless(void)
{
	for (unsigned i = 1;; i = i * 3 + 1) {
		if (i > 100000)
			return;
		if (i % 4 == 1)
			sum++;
	}
}

static void self(int n)
{
again:
	if (n-- > 0)
		goto again;
}

static void short_circuits(int a, int b, int c)
{
	if ((a && b) || (c && !a) || (b > c && a != c))
		sum += a ? b ? 1u : 2u : c ? 3u : 4u;
	while (a > 0 && (b < 5 || c-- > 0)) {
		a--;
		b++;
	}
}

int main(void)
{
	for (int i = 0; i < 20; i++) {
		nested(i);
		sum += (unsigned)backwards(i * 13);
		irreducible(i);
		irreducible(-i);
		endless();
		self(i);
		for (int k = 0; k < 8; k++)
			short_circuits(k & 1 ? i : 0, k & 2 ? i / 2 : 0, k & 4);
	}
	printf("%u\n", sum);
	return 0;
}

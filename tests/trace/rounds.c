/* Many rounds of several loops: the rings wrap, many times in some and just so in others. */
static volatile int sink;
static int *volatile end;

__attribute__((noinline)) static void spin(int rounds, int kinds)
{
	for (int i = 0; i < rounds; i++) {
		if (i % kinds == 0)
			sink = i;
		else if (i % kinds == 1)
			sink += i;
		for (int k = i % 3; k > 0; k--)
			sink ^= k;
	}
	sink = *end;
}

/* Recursion, so that rings of several lengths stand on the stack: n rounds in the n-th frame. */
__attribute__((noinline)) static int nest(int n)
{
	for (int i = 0; i < n; i++)
		if (sink + i & 1)
			sink += i;
	if (n < 20)
		return nest(n + 1) + sink;
	spin(3000, 5);
	return 0;
}

int main(void)
{
	static int zero;

	end = &zero;
	spin(7, 2);
	end = 0;
	return nest(0);
}

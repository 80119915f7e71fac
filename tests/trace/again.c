/* One function inlined in several places and in loops: what one activation has reached another one, behind it in the same code, has
 * not. Its calls need no memory of their own. */
static volatile int sink;
static int *volatile bad[4];

__attribute__((noinline)) static int note(int n)
{
	return sink += n;
}

static inline __attribute__((always_inline)) int look(int *volatile *p, int n)
{
	int seen = **p;

	seen += note(n);
	return seen + note(seen);
}

__attribute__((noinline)) static int twice(int *volatile *p, int *volatile *q)
{
	return look(p, 1) + look(q, 2);
}

__attribute__((noinline)) static int rounds(int count)
{
	int sum = 0;

	for (int i = 0; i < count; i++)
		sum += look(&bad[i], i);
	return sum;
}

int main(void)
{
	int value = 3;

	bad[0] = bad[1] = bad[2] = &value;
	twice(&bad[0], &bad[1]);
	rounds(2);
	return rounds(4) + twice(&bad[0], &bad[3]);
}

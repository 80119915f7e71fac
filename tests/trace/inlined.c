/* A crash in a function that is inlined twice into another one. */
struct cell {
	int value;
	struct cell *next;
};

__attribute__((always_inline)) static inline int sum_of(const struct cell *c, int limit)
{
	int sum = 0;

	while (c) {
		if (c->value > limit)
			sum += limit;
		else
			sum += c->value;
		c = c->next;
	}
	return sum;
}

__attribute__((always_inline)) static inline int both(const struct cell *a, const struct cell *b)
{
	return a->value & 1 ? sum_of(a, 10) + sum_of(b, 20) : sum_of(b, 5);
}

__attribute__((noinline)) static int total(const struct cell *a, const struct cell *b)
{
	int n = 0;

	for (int i = 0; i < 4; i++)
		n += both(i & 1 ? a : b, i & 2 ? b : a);
	return n;
}

int main(void)
{
	static struct cell cells[8];

	for (int i = 0; i < 8; i++)
		cells[i] = (struct cell){i * 3 + 1, i < 7 ? &cells[i + 1] : 0};
	int n = total(&cells[0], &cells[4]);
	cells[6].next = (struct cell *)24;
	return n + total(&cells[0], &cells[4]);
}

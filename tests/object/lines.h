/* lines.h - what lines_a.c and lines_b.c both inline. */
struct item {
	long key, value;
};
struct table {
	struct item *items;
	long count;
};
long hash(long key);
long other(struct table *t, long n);
static inline long mix(long a, long b)
{
	return a * 31 + (b ^ (a >> 7));
}
static inline long pick(const struct table *t, long i)
{
	if (i < 0 || i >= t->count)
		return hash(i);
	return mix(t->items[i].key, t->items[i].value);
}
static inline long sum(const struct table *t, long from, long to)
{
	long s = 0;
	for (long i = from; i < to; i++)
		s += pick(t, i) + (s & 1 ? hash(s) : 0);
	return s;
}

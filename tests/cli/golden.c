/*
 * golden.c - what golden.sh counts and lets crash. Each variable has a value from its line on, so that what is shown of a stack is the
 * same on every machine. `golden N` weighs N items; `golden N crash` then stops by a fault in find.
 */
#include <stdio.h>
#include <stdlib.h>

enum kind {
	LIGHT,
	HEAVY,
	EMPTY
};

struct item {
	const struct item *next;
	enum kind kind;
	int weight;
};

static int weigh(const struct item *item, int limit)
{
	if (item->weight > 3 && item->weight < limit)
		return item->weight * 2;
	switch (item->kind) {
	case LIGHT:
		return item->weight;
	case HEAVY:
		return item->weight + 100;
	case EMPTY:
		break;
	}
	return 0;
}

static const struct item *find(const struct item *item, int weight)
{
	while (item->weight != weight)
		item = item->next;
	return item;
}

static int search(const struct item *list, int depth)
{
	if (depth == 0)
		return find(list, -1)->weight;
	return search(list, depth - 1) + 1;
}

int main(int argc, char **argv)
{
	static struct item items[8];
	int count = argc > 1 ? atoi(argv[1]) : 0;
	int total = 0;

	for (int i = 0; i < count; i++) {
		struct item *item = &items[i % 8];

		item->next = i % 8 ? item - 1 : NULL;
		item->kind = (enum kind)(i % 3);
		item->weight = i % 8;
		total += weigh(item, 6);
	}
	if (argc > 2)
		total += search(&items[7], 1);
	printf("%d\n", total);
	return 0;
}

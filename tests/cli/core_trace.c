/*
 * core_trace.c - a program of known paths that stops by a fault in list_find, called by walk, which calls itself. Lines that the
 * test names have their number in its expectations.
 */
#include <stdio.h>
#include <stdlib.h>

struct item {
	struct item *next;
	int key;
};

static volatile int total;

__attribute__((noinline)) static int weigh(int key)
{
	return key > 3 ? key * 2 : key;
}

__attribute__((noinline)) static int list_find(const struct item *item, int key)
{
	int sum = 0;

	while (item->key != key) {
		if (item->key & 1)
			sum += weigh(item->key);
		else
			sum -= 1;
		item = item->next;
	}
	return sum;
}

__attribute__((noinline)) static int walk(int depth, const struct item *list)
{
	int result;

	if (depth > 0) {
		result = walk(depth - 1, list) + 1;
	} else {
		if (total == 17)
			puts("seventeen");
		for (int i = 0; i < 3; i++)
			total += weigh(i);
		result = list_find(list, 99) + 1;
	}
	total += result;
	return result;
}

int main(void)
{
	struct item *list = NULL;

	for (int i = 0; i < 5; i++) {
		struct item *item = malloc(sizeof *item);

		item->key = i;
		item->next = list;
		list = item;
	}
	return walk(2, list) + total;
}

/* A hung process: a list that became a ring. A debugger writes its core while it runs. */
#include <stddef.h>
#include <string.h>
#include <unistd.h>

struct item {
	struct item *next;
	int key;
};

static struct item items[10];
static volatile int steps;
static char page[1 << 20];

__attribute__((noinline)) static struct item *find(struct item *first, int key)
{
	for (struct item *i = first; i; i = i->next) {
		if (i->key == key)
			return i;
		if (i->key & 1)
			steps = steps + 1;
		if (key < 0)
			memset(page, steps, sizeof page); /* so that what is recorded does not fill the disk */
		if (steps == 40 && key < 0 && write(1, "hung\n", 5) < 0)
			return NULL;
	}
	return NULL;
}

__attribute__((noinline)) static void insert(struct item *after, struct item *i)
{
	i->next = after->next;
	after->next = i;
}

int main(void)
{
	for (int i = 1; i < 10; i++) {
		items[i].key = i;
		insert(find(&items[0], i - 1), &items[i]);
	}
	insert(&items[2], &items[9]); /* is in the list already */
	return find(&items[0], -1) != NULL;
}

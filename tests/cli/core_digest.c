/* core_digest.c - crashes for core_digest.sh, which has for each of them what decided, by hand. Lines matter. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct item {
	int key;
	struct item *next;
};
static volatile int sink, zero;

__attribute__((noinline)) static int check(int x)
{
	return x + zero;
}

/* Two early returns decided; the first `if` did not, and what is asserted did not. */
__attribute__((noinline)) static void early(int a, int b)
{
	if (check(a) == 7)
		sink = check(1);
	assert(check(a) != 8);
	if (check(a) > 5)
		return;
	if (check(b) < 2)
		return;
	*(volatile int *)0 = 1;
}

/* The loop ended since the list did. */
__attribute__((noinline)) static int find(const struct item *p, int key)
{
	while (p && check(p->key) != key)
		p = p->next;
	return *(volatile const int *)&p->key;
}

/* Of three rounds the last one counts: it is an add, of an item that is not there. */
__attribute__((noinline)) static void commands(const char *text, struct item *items)
{
	struct item *item = items;

	for (; *text; text++) {
		switch (check(*text)) {
		case '+':
			item->key++;
			break;
		case '-':
			item = item->next;
			break;
		default:
			sink = check(3);
		}
	}
}

/* Never returns: that it went on is no decision, that it handled 3 is. */
__attribute__((noinline)) static void serve(int n)
{
	for (;;) {
		n = check(n) + 1;
		if (check(n) == 3)
			sink = *(volatile int *)8;
		else if (check(n) == 2)
			sink = n;
	}
}

/* The assertion's own ways. */
__attribute__((noinline)) static void asserts(int a, int b)
{
	if (check(a))
		assert(check(a) && check(b));
	sink = 2;
}

int main(int argc, char **argv)
{
	struct item last = {2, NULL}, first = {1, &last};

	switch (argc > 1 ? *argv[1] : 0) {
	case 'e':
		early(3, 4);
		break;
	case 'f':
		return find(&first, 5);
	case 'c':
		commands(&"+--+"[zero], &first);
		break;
	case 's':
		serve(0);
		break;
	case 'a':
		asserts(1, 0);
	}
	return 0;
}

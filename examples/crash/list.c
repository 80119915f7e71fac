/* list.c - adds up one node too many of a list, and crashes; see docs/slicing.md. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
struct node {
	int value;
	struct node *next;
};
static int limit, unused, calls;
static jmp_buf env;
static struct node *make(int value, struct node *next)
{
	struct node *n = malloc(sizeof *n);
	n->value = value;
	n->next = next;
	return n;
}
static int sum(struct node *n, int left)
{
	calls++;
	if (left)
		return n->value + sum(n->next, left - 1);
	return n->value;
}
static int other(struct node *n)
{
	unused = n->value;
	return sum(n, unused);
}
static void fails(int n)
{
	if (n > 5)
		longjmp(env, n);
}
int main(int argc, char **argv)
{
	struct node *list = NULL;
	int count = argc > 1 ? atoi(argv[1]) : 3;
	limit = count + 2;
	for (int i = 0; i < count; i++)
		list = make(i, list);
	if (setjmp(env))
		limit = 1;
	else
		fails(count);
	if (argc > 2)
		return other(list);
	if (argc > 3)
		limit = argc;
	printf("%d\n", sum(list, limit));
	return 0;
}

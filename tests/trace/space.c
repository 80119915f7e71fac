/* The bug of "space" (Siemens suite): a case inside a loop lacks its return, and the next case uses what was never set. */
#include <stdlib.h>
#include <string.h>

struct node {
	int kind;
	struct node *next;
	double *value;
};

__attribute__((noinline)) static int define(struct node *n, double *sum)
{
	int rounds = 0;

	while (n) {
		switch (n->kind) {
		case 0:
			*sum += 1;
			break;
		case 1:
			if (rounds > 100)
				return 1;
			*sum *= 2;
			/* break is missing */
		case 2:
			*sum += *n->value;
			break;
		case 3:
			return 2;
		default:
			return -1;
		}
		n = n->next;
		rounds++;
	}
	return 0;
}

static struct node *parse(const char *text)
{
	static double values[] = {1, 2, 3};
	struct node *first = NULL;

	for (size_t i = strlen(text); i-- > 0;) {
		struct node *n = calloc(1, sizeof *n);
		n->kind = text[i] - '0';
		n->next = first;
		if (n->kind == 2)
			n->value = &values[i % 3];
		first = n;
	}
	return first;
}

int main(void)
{
	double sum = 0;

	return define(parse("002020202"), &sum) + define(parse("00202122"), &sum);
}

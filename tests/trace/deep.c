/* Deep but finite recursion, through a pointer and a tail call, and a crash at the bottom. */
#include <stddef.h>

struct tree {
	struct tree *left, *right;
	int *value;
};

static struct tree nodes[4096];
static int zero;

static int visit_right(struct tree *t, int depth);
static int (*volatile next)(struct tree *, int) = visit_right;

__attribute__((noinline)) static int visit(struct tree *t, int depth)
{
	if (!t)
		return 0;
	int here = t->left ? visit(t->left, depth + 1) : 0;
	if (depth % 7 == 3)
		here++;
	return here + next(t->right, depth + 1) + *t->value;
}

static int visit_right(struct tree *t, int depth)
{
	if (depth & 1)
		return visit(t, depth);
	return depth % 5 ? visit(t, depth) + 1 : visit(t, depth) - 1;
}

int main(void)
{
	for (int i = 0; i < 3000; i++) {
		nodes[i].value = i == 2999 ? NULL : &zero;
		if (i + 1 < 3000)
			*(i % 3 ? &nodes[i].right : &nodes[i].left) = &nodes[i + 1];
	}
	return visit(&nodes[0], 0);
}

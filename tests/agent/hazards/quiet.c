/*
 * quiet.c - time is spent in functions that call nothing, or only the C library's, which are never changed: called from a site, called by a
 * tail call of an instrumented function, or come to by a tail call from another such one. The same site makes all of these calls, and the
 * stack shows nothing of tail calls.
 * hazards.sh: again epochs,wall,check,sample=1997
 */
#include <stdlib.h>
#include <string.h>

#include "probe.h"

enum {
	DEPTH = 6,
	WORDS = 8000,
};

struct node {
	struct node *left, *right;
};

typedef unsigned function(struct node *node, unsigned n);

static volatile unsigned sum;
static struct node none;

/* Quiet. */
__attribute__((noinline)) static unsigned works(struct node *node, unsigned n)
{
	unsigned words = !probe_is_on() ? 1 : node ? WORDS : WORDS / 2;

	for (unsigned i = 0; i < words; i++)
		sum += i;
	return n;
}

/* Quiet, and ends in the next. */
__attribute__((noinline)) static unsigned works_on(struct node *node, unsigned n)
{
	for (unsigned i = 0; i < (probe_is_on() ? WORDS : 1); i++)
		sum += i;
	return works(node, n + 1);
}

static function *volatile quiet = works, *volatile quiet_on = works_on;

/* Instrumented: what they call is not known before. They end in a quiet function. */
__attribute__((noinline)) static unsigned ends(struct node *node, unsigned n)
{
	if (n % 16 == 0)
		PROBE();
	return quiet(node, n + 2);
}

__attribute__((noinline)) static unsigned ends_on(struct node *node, unsigned n)
{
	if (n % 16 == 0)
		PROBE();
	return quiet_on(node, n + 3);
}

static function *const functions[] = {works, ends, works_on, ends_on};

/* Recursive, with a tail call at its end. */
__attribute__((noinline)) static unsigned drops(struct node *node, unsigned n)
{
	if (node->left != &none)
		n += drops(node->left, n);
	if (node->right != &none)
		n += drops(node->right, n);
	return quiet(node, n);
}

__attribute__((noinline)) static struct node *builds(unsigned depth)
{
	struct node *node = malloc(sizeof *node);

	node->left = depth ? builds(depth - 1) : &none;
	node->right = depth ? builds(depth - 1) : &none;
	return node;
}

/* One site: any of them. */
__attribute__((noinline)) static unsigned chooses(unsigned n)
{
	unsigned got = 0;

	for (unsigned i = 0; i < n; i++)
		got += functions[(i * i + n) % 4](&none, i);
	return got;
}

int main(void)
{
	unsigned got = 0;

	for (unsigned i = 0; i < 16; i++) {
		got += drops(builds(DEPTH), i);
		got += chooses(60 + i);
		PROBE();
	}
	printf("%u\n", got);
	return 0;
}

/*
 * blocks.c - keeps a table of its own of what it allocates: prints, for each of its functions, how large the blocks are and how long they live,
 * and which of those that are live at the end nothing leads to. For blocks.sh.
 *
 *     blocks [thread]     thread: another one runs at the end
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))
enum {
	SIZES = 20,
	LIVES = 16,
	BLOCKS = 60,
};

struct table {
	const char *name;
	uint64_t sizes[SIZES], bytes[SIZES], lives[LIVES];
	uint64_t lost, lost_bytes, live;
};

struct node {
	struct node *next;
	uint64_t birth;
	size_t size;
};

static uint64_t allocations;
static struct node *kept; /* what is kept is found from here */

static int bits_of(uint64_t n, unsigned shift)
{
	int bits = 0;

	for (; n; n >>= shift)
		bits++;
	return bits;
}

/* In every caller, so that the contexts are those of the callers. */
static inline __attribute__((always_inline)) struct node *add(struct table *t, size_t size)
{
	struct node *n = malloc(size);
	int class = size < 2 ? 0 : bits_of(size, 1) - 1;

	memset(n, 0, size);
	n->birth = ++allocations;
	n->size = size;
	t->sizes[class]++;
	t->bytes[class] += size;
	t->live++;
	return n;
}

static void end(struct table *t, struct node *n)
{
	int class = bits_of(allocations - n->birth, 2);

	t->lives[class < LIVES ? class : LIVES - 1]++;
	t->live--;
	free(n);
}

/* At once. */
NOINLINE static void brief(struct table *t)
{
	for (int i = 0; i < 100; i++)
		end(t, add(t, sizeof(struct node) + (size_t)i));
}

/* In the order of their allocation, and in the opposite one. */
NOINLINE static void queue(struct table *t)
{
	struct node *nodes[BLOCKS];

	for (int i = 0; i < BLOCKS; i++)
		nodes[i] = add(t, 200);
	for (int i = 0; i < BLOCKS / 2; i++)
		end(t, nodes[i]);
	for (int i = BLOCKS; i-- > BLOCKS / 2;)
		end(t, nodes[i]);
	memset(nodes, 0, sizeof nodes);
}

NOINLINE static void keep(struct table *t)
{
	for (int i = 0; i < 10; i++) {
		struct node *n = add(t, 50);

		n->next = kept;
		kept = n;
	}
}

/* What was freed before main may be pointed at by what is left of calls before it: no lost block is to lie there. */
NOINLINE static void take_freed(void)
{
	static void *taken[4][6];

	for (int i = 0; i < 4; i++)
		for (size_t k = 0; k < 6; k++)
			taken[i][k] = malloc(100 + k * 1000);
}

/* A ring, to which nothing leads. */
NOINLINE static void lose(struct table *t)
{
	struct node *first = add(t, 100), *last = first;

	for (int i = 0; i < 6; i++) {
		last->next = add(t, (size_t)100 + (size_t)i * 1000);
		last = last->next;
	}
	last->next = first;
	for (int i = 0; i < 7; i++, last = last->next) {
		t->lost++;
		t->lost_bytes += last->size;
	}
}

/* No pointer is left on the stack. */
NOINLINE static void clean(void)
{
	volatile char space[50000];

	for (size_t i = 0; i < sizeof space; i++)
		space[i] = 0;
}

static void *run_on(void *data)
{
	(void)data;
	for (;;)
		pause();
	return NULL;
}

static void print(const struct table *t)
{
	for (int i = 0; i < SIZES; i++)
		if (t->sizes[i])
			dprintf(1, "%s size %llu %llu %llu\n", t->name, i ? 1ULL << i : 0ULL,
				(unsigned long long)t->sizes[i], (unsigned long long)t->bytes[i]);
	for (int i = 0; i < LIVES; i++)
		if (t->lives[i])
			dprintf(1, "%s life %llu %llu\n", t->name, i ? 1ULL << (2 * i - 2) : 0ULL,
				(unsigned long long)t->lives[i]);
	dprintf(1, "%s live %llu lost %llu %llu\n", t->name, (unsigned long long)t->live, (unsigned long long)t->lost,
		(unsigned long long)t->lost_bytes);
}

int main(int argc, char **argv)
{
	static struct table tables[] = {{.name = "brief"}, {.name = "queue"}, {.name = "keep"}, {.name = "lose"}};
	pthread_t thread;

	(void)argv;
	if (argc > 1 && pthread_create(&thread, NULL, run_on, NULL))
		return 1;
	brief(&tables[0]);
	queue(&tables[1]);
	keep(&tables[2]);
	take_freed();
	lose(&tables[3]);
	clean();
	for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
		print(&tables[i]);
	return 0;
}

/* Values of all kinds, and a fault behind a chain of pointers. core_values.sh compares them with what gdb reads. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum color {
	RED,
	GREEN = 7,
	BLUE = -2
};

struct point {
	int16_t x, y;
};

struct node {
	struct node *next;
	const char *name;
	enum color color;
	bool is_open;
	unsigned int low : 3, high : 13;
	int signed_bits : 5;
	struct point corners[3];
	union {
		float real;
		uint32_t bits;
	};
	int (*compare)(const void *, const void *);
	char tag[8];
	char grid[2][4];
	double weights[12];
};

struct list {
	int count;
	struct node *head;
	struct node *last;
};

static int global_limit = 40;
static __thread int depth_of_thread = 3;
static struct list lists[2];
static char names[3][4] = {"one", "two", "six"};
int table[4] = {1, 2, 3, 4};

static int by_value(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* The fault: the last node has no next one. */
__attribute__((noinline)) static int touch(struct list *list, const char *text, int index, double weight)
{
	int sum = index;

	for (struct node *n = list->head; n; n = n->next)
		sum += (int)n->weights[index] + n->low;
	depth_of_thread++;
	if (sum > global_limit && strlen(text) > 2)
		list->last->next->weights[index] = weight + sum + table[index] + depth_of_thread + names[1][0];
	return sum + (int)weight;
}

__attribute__((noinline)) static int walk(struct node *node, enum color color, bool is_deep, unsigned char byte,
					  const char *empty, uint64_t big, float ratio, struct point where,
					  struct list list)
{
	char local[100] = "a text with \"quotes\", a \\ and \t";
	int numbers[12] = {3, 1, 2};
	volatile int result = node->color == color ? where.x : list.count;

	local[40] = (char)byte;
	result += touch(&list, local, numbers[1] + 1, 2.5) + numbers[is_deep] + (empty ? *empty : 0);
	return result + (int)big + (int)ratio;
}

static inline int pass(struct list *list, int more)
{
	struct point where = {-3, more};
	const char *name = list->last->name;

	return walk(list->last, BLUE, more != 4, 0xc3, more == 5 ? "" : NULL, UINT64_C(1) << 40, 0.1f, where, *list) +
	       name[0];
}

int main(int argc, char **argv)
{
	struct node *nodes = calloc(3, sizeof *nodes);

	for (int i = 0; i < 3; i++) {
		nodes[i].next = i < 2 ? &nodes[i + 1] : NULL;
		nodes[i].name = i ? "node with a name that is longer than what is shown of any text at all" : "first";
		nodes[i].color = i ? BLUE : (enum color)(argc + 100);
		nodes[i].low = 5;
		nodes[i].high = 77;
		nodes[i].signed_bits = -3;
		nodes[i].corners[1].y = -1;
		nodes[i].real = 1.5f;
		nodes[i].compare = by_value;
		memcpy(nodes[i].tag, "eight by", 8);
		nodes[i].weights[2] = 20;
	}
	lists[1] = (struct list){3, nodes, &nodes[2]};
	return pass(&lists[1], argc + 4) + argv[0][0];
}

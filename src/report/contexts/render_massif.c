/*
 * render_massif.c - the format of Valgrind's massif, for ms_print and massif-visualizer: two snapshots, before the first allocation and at the
 * end, with the callers of malloc as a tree. Time is in bytes that were allocated, as with --time-unit=B.
 */
#include <inttypes.h>

#include "base/plain_text.h"
#include "model/tables/call_tree.h"
#include "report/contexts/renderer.h"

static void print_snapshot(unsigned number, uint64_t time, uint64_t bytes, const char *tree, FILE *out)
{
	fprintf(out,
		"#-----------\nsnapshot=%u\n#-----------\ntime=%" PRIu64 "\nmem_heap_B=%" PRIu64
		"\nmem_heap_extra_B=0\nmem_stacks_B=0\nheap_tree=%s\n",
		number, time, bytes, tree);
}

static unsigned count_children(const struct call_tree_node *nodes, uint32_t n)
{
	unsigned count = 0;

	for (n = nodes[n].first_child; n; n = nodes[n].next_sibling)
		count++;
	return count;
}

static void print_node(const struct call_tree_node *nodes, uint32_t n, FILE *out)
{
	const struct frame *f = nodes[n].frame;

	fprintf(out, "%*sn%u: %" PRIu64 " ", (int)nodes[n].depth, "", count_children(nodes, n), nodes[n].total);
	if (!f) {
		fputs("(heap allocation functions) malloc/new/new[], --alloc-fns, etc.\n", out);
		return;
	}
	fputs("0x0: ", out);
	plain_print(out, f->name);
	if (f->file) {
		fputs(" (", out);
		plain_print(out, f->file);
		if (f->line)
			fprintf(out, ":%" PRIu32, f->line);
		putc(')', out);
	}
	putc('\n', out);
}

/* Children come behind their parent. */
static void print_tree(const struct call_tree_node *nodes, FILE *out)
{
	uint32_t n = 0;

	for (;;) {
		print_node(nodes, n, out);
		if (nodes[n].first_child) {
			n = nodes[n].first_child;
			continue;
		}
		while (n && !nodes[n].next_sibling)
			n = nodes[n].parent;
		if (!n)
			return;
		n = nodes[n].next_sibling;
	}
}

struct error *render_massif(const struct view *v, FILE *out)
{
	const struct pattern_vec all = {.count = 0};
	const struct call_tree_options options = {.is_up = true, .functions = &all};
	const struct profile *p = v->profile;
	struct call_tree tree;
	uint32_t allocated;
	struct error *err;

	if (!v->has_metric || !p->metrics.items[v->metric].is_of_heap || p->metrics.items[v->metric].unit != UNIT_BYTES)
		return error_create(ERROR_ARGUMENT,
				    "massif shows bytes of the heap, of which nothing is recorded here");
	err = call_tree_create(v, &options, &tree);
	if (err)
		return err;
	fprintf(out, "desc: --time-unit=B (%s: %s)\ncmd: ", v->producer, p->metrics.items[v->metric].name);
	plain_print(out, p->sources.count ? p->sources.items[0].header.program : "nothing");
	fputs("\ntime_unit: B\n", out);
	print_snapshot(0, 0, 0, "empty", out);
	print_snapshot(1, profile_find_metric(p, "bytes", &allocated) ? p->metrics.items[allocated].total : 0,
		       tree.nodes.items[0].total, "detailed", out);
	print_tree(tree.nodes.items, out);
	call_tree_deinit(&tree);
	return NULL;
}

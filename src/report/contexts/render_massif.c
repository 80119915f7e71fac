/*
 * render_massif.c - the format of Valgrind's massif, for ms_print and massif-visualizer: snapshots of the time line of a process, in
 * milliseconds. That of the peak has the callers of malloc as a tree, by what was live then; with --metric=live the last one has, by what was
 * live then.
 *
 * Of other metrics, and of several processes, there are two snapshots, before the first allocation and at the end. Time is in bytes that were
 * allocated then, as with --time-unit=B.
 */
#include <inttypes.h>
#include <string.h>

#include "base/plain_text.h"
#include "model/tables/call_tree.h"
#include "model/tables/heap_line.h"
#include "report/contexts/renderer.h"

enum {
	SNAPSHOTS = 200, /* between the first one and the peak's or the last one */
};

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

static void print_head(const struct view *v, const char *unit, FILE *out)
{
	const struct profile *p = v->profile;

	fprintf(out, "desc: --time-unit=%s (%s: %s)\ncmd: ", unit, v->producer, p->metrics.items[v->metric].name);
	plain_print(out, p->sources.count ? p->sources.items[0].header.program : "nothing");
	fprintf(out, "\ntime_unit: %s\n", unit);
}

/* The metric is of one moment of a process that has a time line. */
static bool find_line(const struct view *v, uint32_t *ret_source, bool *ret_is_peak)
{
	const char *metric = v->profile->metrics.items[v->metric].name;

	*ret_is_peak = strcmp(metric, "peak") == 0;
	return (*ret_is_peak || strcmp(metric, "live") == 0) && v->profile->sources.count == 1 &&
	       heap_line_source(v->profile, ret_source);
}

/* The peak's is between the slices, at its own time. */
static struct error *print_snapshots(const struct view *v, uint32_t source, bool is_peak, const struct call_tree *tree,
				     FILE *out)
{
	const uint64_t ns_a_ms = 1000000;
	unsigned number = 1;
	struct heap_line line;
	struct error *err = heap_line_create(v->profile, source, SNAPSHOTS, &line);
	bool is_told = false;

	if (err)
		return err;
	print_head(v, "ms", out);
	print_snapshot(0, 0, 0, "empty", out);
	for (size_t i = 0; i < line.slices.count; i++) {
		const struct heap_slice *slice = &line.slices.items[i];

		if (is_peak && !is_told && slice->after_ns >= line.peak_ns) {
			print_snapshot(number++, line.peak_ns / ns_a_ms, tree->nodes.items[0].total, "peak", out);
			print_tree(tree->nodes.items, out);
			is_told = true;
		}
		print_snapshot(number++, slice->after_ns / ns_a_ms, slice->live, "empty", out);
	}
	if (!is_peak) {
		print_snapshot(number, line.end_ns / ns_a_ms, tree->nodes.items[0].total, "detailed", out);
		print_tree(tree->nodes.items, out);
	}
	heap_line_deinit(&line);
	return NULL;
}

struct error *render_massif(const struct view *v, FILE *out)
{
	const struct pattern_vec all = {.count = 0};
	const struct call_tree_options options = {.is_up = true, .functions = &all};
	const struct profile *p = v->profile;
	struct call_tree tree;
	uint32_t allocated, source;
	bool is_peak;
	struct error *err;

	if (!v->has_metric || !p->metrics.items[v->metric].is_of_heap || p->metrics.items[v->metric].unit != UNIT_BYTES)
		return error_create(ERROR_ARGUMENT,
				    "massif shows bytes of the heap, of which nothing is recorded here");
	err = call_tree_create(v, &options, &tree);
	if (err)
		return err;
	if (find_line(v, &source, &is_peak)) {
		err = print_snapshots(v, source, is_peak, &tree, out);
	} else {
		print_head(v, "B", out);
		print_snapshot(0, 0, 0, "empty", out);
		print_snapshot(1, profile_find_metric(p, "bytes", &allocated) ? p->metrics.items[allocated].total : 0,
			       tree.nodes.items[0].total, "detailed", out);
		print_tree(tree.nodes.items, out);
	}
	call_tree_deinit(&tree);
	return err;
}

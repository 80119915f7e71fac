/*
 * step_trace.c PROGRAM [ARGUMENT...] - runs a traced program (final stage) one instruction at a time, but for code that is not its own. In front of each instruction of a
 * traced function, what its frame record says must be what its activation did: the nodes it came through since the path began,
 * as the points of .debug_waymark_points tell them when control passes, the paths it ended before, and the calls or blocks of its
 * coverage that it has reached.
 *
 * Prints how many instructions and paths were compared: at most STEPS_MAX. Exit status 1 on the first difference.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/user.h>

#include "core/paths/path_state.h"
#include "object/find.h"
#include "support/own_steps.h"

enum {
	STEPS_MAX = 200000, /* of a program that goes on the rest is not looked at */
};

struct nodes {
	uint32_t *items;
	size_t count, capacity;
	bool is_behind; /* a path: it began behind a round of a loop */
};

struct activation {
	uint32_t function;
	uint8_t scheme;
	bool is_fresh;  /* still at its entry */
	bool has_ended; /* its path has; the next point begins one */
	bool is_pushing;
	uint64_t sp;
	uint64_t record; /* 0: not known */
	struct nodes path;
	struct nodes *ended; /* all of them */
	size_t ended_count, ended_capacity;
	bool *reached;     /* [point] of coverage; NULL: none yet */
	uint32_t last;     /* of them */
	uint8_t seen[512]; /* the record when it was last compared */
	bool is_compared;
};

static struct object_trace trace;
static struct path_numbering *numberings;          /* [function], made when needed */
static struct coverage_points *coverage_points[2]; /* of calls, of blocks: the same */
static struct arena arena;
static struct activation *stack;
static size_t depth, stack_capacity;
static unsigned long long steps, compared, paths, points;

static void check(struct error *err)
{
	if (err)
		die("%s", err->message);
}

static void append(struct nodes *list, uint32_t node)
{
	if (list->count == list->capacity) {
		list->capacity = list->capacity ? 2 * list->capacity : 16;
		list->items = realloc(list->items, list->capacity * sizeof *list->items);
	}
	list->items[list->count++] = node;
}

static uint64_t register_of(const struct user_regs_struct *r, unsigned dwarf)
{
	const uint64_t values[] = {r->rax, r->rdx, r->rcx, r->rbx, r->rsi, r->rdi, r->rbp, r->rsp,
				   r->r8,  r->r9,  r->r10, r->r11, r->r12, r->r13, r->r14, r->r15};
	if (dwarf >= sizeof values / sizeof *values)
		die("frame at register %u", dwarf);
	return values[dwarf];
}

static const struct tracemeta_variant *variant_of(const struct activation *a)
{
	const struct tracemeta_function *f = &trace.meta.functions[a->function];
	for (uint32_t i = 0; i < f->variant_count; i++)
		if (f->variants[i].scheme == a->scheme)
			return &f->variants[i];
	die("function %u has no scheme %u", a->function, a->scheme);
}

static const struct path_numbering *numbering_of(uint32_t function)
{
	if (!numberings[function].start_count)
		check(path_number(&trace.flows[function]->cfg, &arena, &numberings[function]));
	return &numberings[function];
}

/* ---- what control does ---- */

static void end_path(struct activation *a)
{
	if (a->ended_count == a->ended_capacity) {
		a->ended_capacity = a->ended_capacity ? 2 * a->ended_capacity : 16;
		a->ended = realloc(a->ended, a->ended_capacity * sizeof *a->ended);
	}
	a->ended[a->ended_count++] = a->path;
	a->path = (struct nodes){0};
	a->has_ended = true;
	a->is_pushing = false;
}

static void drop(struct activation *a)
{
	free(a->path.items);
	for (size_t i = 0; i < a->ended_count; i++)
		free(a->ended[i].items);
	free(a->ended);
	free(a->reached);
}

static struct activation *begin(const struct tracepoint *p, uint64_t sp)
{
	if (depth == stack_capacity) {
		stack_capacity = stack_capacity ? 2 * stack_capacity : 64;
		stack = realloc(stack, stack_capacity * sizeof *stack);
	}
	stack[depth] = (struct activation){.function = p->function, .scheme = p->scheme, .sp = sp, .is_fresh = true};
	return &stack[depth++];
}

static const struct coverage_points *own_points_of(const struct activation *a)
{
	const enum wm1_scheme coverage = tracemeta_own_coverage(a->scheme);
	struct coverage_points *o = &coverage_points[coverage == WM1_SCHEME_BLOCKS][a->function];
	if (!o->nodes)
		check(tracemeta_own_points(&trace.meta.functions[a->function], &trace.flows[a->function]->cfg, coverage,
					   &arena, o));
	return o;
}

static void reach(struct activation *a, uint32_t point)
{
	if (!a->reached)
		a->reached = calloc(own_points_of(a)->count, sizeof *a->reached);
	a->reached[point] = true;
	a->last = point;
	a->is_compared = false;
}

static void pass(const struct tracepoint *p, const struct user_regs_struct *regs)
{
	if (!(p->scheme & WM1_SCHEME_PATHS))
		return;
	struct activation *a = depth ? &stack[depth - 1] : NULL;
	if (p->kind == WM1_POINT_COVERED) {
		/* A function of one block has no other points, and is not followed. */
		if (a && a->function == p->function && a->scheme == p->scheme)
			reach(a, p->node);
		return;
	}
	bool is_entry =
		p->kind == WM1_POINT_ENTRY || p->kind == WM1_POINT_FRAME || (p->kind == WM1_POINT_NODE && !p->node);
	if (is_entry && (!a || !a->is_fresh || a->function != p->function || a->scheme != p->scheme))
		a = begin(p, regs->rsp);
	if (!a || a->function != p->function || a->scheme != p->scheme)
		die("at 0x%" PRIx64 ": a point of function %u (%s), but %s is active", p->address, p->function,
		    trace.flows[p->function]->name, a ? trace.flows[a->function]->name : "nothing");
	a->is_compared = false;
	if (a->is_pushing)
		end_path(a);
	switch (p->kind) {
	case WM1_POINT_FRAME:
		a->record = register_of(regs, p->dwarf_register) + (uint64_t)(int64_t)p->displacement;
		break;
	case WM1_POINT_NODE:
		a->is_fresh = false;
		unsigned cuts = cfg_cuts_to(&trace.flows[p->function]->cfg, p->node);
		/* The call that returns twice comes back: what went on since is given up. */
		if (cuts & 1u << CFG_CUT_TWICE)
			a->path.count = 0;
		/* All ways to a loop's head end a path: behind a round nothing is pushed. */
		if (a->path.count && !a->has_ended && cuts & 1u << CFG_CUT_ITERATION) {
			a->path.count = 0;
			a->path.is_behind = true;
		}
		a->has_ended = false;
		if (!a->path.count || a->path.items[a->path.count - 1] != p->node)
			append(&a->path, p->node);
		break;
	case WM1_POINT_PUSH:
		a->is_pushing = true;
		break;
	default:
		break;
	}
}

/* ---- what the record says ---- */

/* All nodes that control passed, in order; between them there may be others, which have no code. */
static void compare(const struct activation *a, const struct path *path, const struct nodes *truth, uint64_t pc)
{
	const struct cfg *g = &trace.flows[a->function]->cfg;
	uint32_t node = numbering_of(a->function)->starts[path->start];
	size_t met = 0;
	if ((numbering_of(a->function)->start_iterations[path->start] != NO_EDGE) != truth->is_behind)
		die("at 0x%" PRIx64 ": function %u: the path begins %s a round", pc, a->function,
		    truth->is_behind ? "in front of" : "behind");
	if (!truth->count || truth->items[0] != node)
		die("at 0x%" PRIx64 ": function %u: the path begins at node %u instead of %u", pc, a->function, node,
		    truth->count ? truth->items[0] : UINT32_MAX);
	for (uint32_t e = 0;; e++) {
		if (met < truth->count && truth->items[met] == node)
			met++;
		if (e == path->edge_count)
			break;
		node = g->edges[path->edges[e]].to;
	}
	paths++;
	if (met < truth->count)
		die("at 0x%" PRIx64 ": function %u: the path does not come through node %u", pc, a->function,
		    truth->items[met]);
}

static uint64_t number_at(const uint8_t *bytes, unsigned len)
{
	uint64_t value = 0;
	memcpy(&value, bytes, len);
	return value;
}

static void compare_ring(const struct activation *a, const struct tracemeta_variant *v, const uint8_t *record,
			 struct path *path, uint64_t pc)
{
	uint64_t count = number_at(record + v->count_off, 4);
	uint64_t kept = count < v->ring_slots ? count : v->ring_slots;
	if (count != a->ended_count)
		die("at 0x%" PRIx64 ": %" PRIu64 " paths have ended instead of %zu", pc, count, a->ended_count);
	if (a->is_pushing && kept == v->ring_slots)
		kept--;
	for (uint64_t i = count - kept; i < count; i++) {
		uint64_t number = number_at(record + v->ring_off + i % v->ring_slots * v->sum_bytes, v->sum_bytes);
		if (number >= numbering_of(a->function)->path_count)
			die("at 0x%" PRIx64 ": no path %" PRIu64 " (function %u)", pc, number, a->function);
		path_regenerate(&trace.flows[a->function]->cfg, numbering_of(a->function), number, path);
		compare(a, path, &a->ended[i], pc);
	}
}

static void compare_coverage(const struct activation *a, const struct tracemeta_variant *v, const uint8_t *record,
			     uint64_t pc)
{
	const struct coverage_points *o = own_points_of(a);
	const uint8_t *local = record + (v->local_off == TRACE_NO_OFFSET ? 0 : v->local_off);
	uint8_t *kept = malloc(o->kept_count + 1), *used = malloc(o->count + 1);
	if (v->local_points != o->kept_count)
		die("function %u keeps %u points instead of %u", a->function, v->local_points, o->kept_count);
	for (uint32_t i = 0; i < o->kept_count; i++)
		kept[i] = (v->local_bits == 8 ? local[i] : local[i / 8] >> i % 8 & 1) ? POINT_USED : POINT_UNUSED;
	check(coverage_points_expand(o, kept, &a->last, a->reached != NULL, !a->reached, used));
	for (uint32_t i = 0; i < o->count; i++, points++)
		if (used[i] != (a->reached && a->reached[i] ? POINT_USED : POINT_UNUSED))
			die("at 0x%" PRIx64 ": %s: point %u of coverage is told to be %u", pc,
			    trace.flows[a->function]->name, i, used[i]);
	free(used);
	free(kept);
}

static void compare_record(struct activation *a, uint64_t pc)
{
	const struct tracemeta_variant *v = variant_of(a);
	const struct tracemeta_function *f = &trace.meta.functions[a->function];
	uint8_t record[sizeof a->seen] = {0};
	size_t len = v->frame_bytes < sizeof record ? v->frame_bytes : sizeof record;
	if (v->frame_bytes > sizeof record)
		return;
	if (v->frame_bytes && !a->record)
		die("at 0x%" PRIx64 ": where the record of function %u is was not said", pc, a->function);
	if (len && !own_steps_read(a->record, record, len)) /* of the stack, not touched: zeros */
		memset(record, 0, len);
	if (a->is_compared && !memcmp(record, a->seen, len))
		return;
	memcpy(a->seen, record, len);
	a->is_compared = true;
	compared++;
	if (tracemeta_own_coverage(v->scheme) != WM1_SCHEME_NONE)
		compare_coverage(a, v, record, pc);
	struct path path = {.edges = malloc((f->node_count + 1) * sizeof(uint32_t))};
	if (v->ring_slots)
		compare_ring(a, v, record, &path, pc);
	if (!a->has_ended) {
		uint32_t node = a->path.items[a->path.count - 1];
		const struct path_state *state = &f->states[node];
		uint64_t sum = v->sum_off == TRACE_NO_OFFSET ? 0 : number_at(record + v->sum_off, v->sum_bytes);
		struct error *err =
			path_regenerate_partial(&trace.flows[a->function]->cfg, numbering_of(a->function), state, node,
						sum, v->sum_bytes ? 8u * v->sum_bytes : 64, &path);
		if (err)
			die("at 0x%" PRIx64 ": %s: %s", pc, trace.flows[a->function]->name, err->message);
		compare(a, &path, &a->path, pc);
	}
	free(path.edges);
}

/* ---- steps ---- */

static const struct tracepoint *first_point(uint64_t address)
{
	size_t low = 0, high = trace.points.count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (trace.points.points[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return &trace.points.points[low];
}

/* The instruction that ran last, of several bytes, stands in front of this one, and is no jump. */
static bool fell_through(uint64_t from, uint64_t pc)
{
	uint8_t code[2];
	if (pc <= from + 1 || pc - from > 15)
		return false;
	if (!own_steps_read(own_steps_base(0) + from, code, sizeof code))
		die("cannot read code at 0x%" PRIx64, from);
	return code[0] != 0xeb && code[0] != 0xe9 && (code[0] & 0xf0) != 0x70 &&
	       !(code[0] == 0x0f && (code[1] & 0xf0) == 0x80);
}

static void follow(const struct user_regs_struct *regs)
{
	const uint64_t pc = regs->rip - own_steps_base(0);
	const struct tracepoint *end = trace.points.points + trace.points.count;
	static const struct bbmap_function *last;
	static uint64_t last_sp, last_pc;
	const uint64_t from = last_pc;
	uint32_t block;
	const struct bbmap_function *here = bbmap_find(&trace.blocks, pc, &block);
	/* A record below the stack pointer is no more then. Between blocks there may be padding, which is in none. */
	bool is_tail_call = here && last && here != last && regs->rsp == last_sp;
	if (here)
		last = here;
	last_sp = regs->rsp;
	last_pc = pc;
	while (depth && (stack[depth - 1].sp < regs->rsp || (is_tail_call && stack[depth - 1].sp == regs->rsp)))
		drop(&stack[--depth]);
	if (!trace.points.count || pc < trace.points.points[0].address || pc > end[-1].address + 65536)
		return;
	if (fell_through(from, pc))
		for (const struct tracepoint *p = first_point(pc - 1); p < end && p->address == pc - 1; p++)
			pass(p, regs);
	for (const struct tracepoint *p = first_point(pc); p < end && p->address == pc; p++) {
		/* Of a node without code, next to one that others jump to. */
		bool is_passed = p->kind == WM1_POINT_NODE && p->node && p + 1 < end && p[1].address == pc &&
				 p[1].kind == WM1_POINT_NODE;
		if (!is_passed)
			pass(p, regs);
	}
	if (depth && !stack[depth - 1].is_fresh)
		compare_record(&stack[depth - 1], pc);
}

static bool step(const struct user_regs_struct *regs)
{
	steps++;
	follow(regs);
	return steps < STEPS_MAX;
}

int main(int argc, char **argv)
{
	struct object_search search;
	if (argc < 2)
		return 2;
	arena_init(&arena);
	object_search_init(&search);
	check(object_search_add_exe(&search, argv[1]));
	struct object_wanted wanted = {.path = argv[1]};
	check(object_find_trace(&search, &wanted, &trace));
	numberings = calloc(trace.meta.function_count + 1, sizeof *numberings);
	for (int i = 0; i < 2; i++)
		coverage_points[i] = calloc(trace.meta.function_count + 1, sizeof *coverage_points[i]);
	own_steps_run(argv + 1, argv + 1, 1, step);
	free(coverage_points[0]);
	free(coverage_points[1]);
	free(numberings);
	object_trace_deinit(&trace);
	object_search_deinit(&search);
	arena_deinit(&arena);
	printf("%llu instructions%s, %llu records compared, %llu paths, %llu points\n", steps,
	       steps < STEPS_MAX ? "" : " (no more)", compared, paths, points);
	return !compared;
}

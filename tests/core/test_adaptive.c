/*
 * test_adaptive.c - known answers: the figures of Li et al., "Dynamic and Adaptive Calling Context Encoding" (CGO 2014), and the rules of
 * adaptive.h one by one.
 *
 * Of the figures only what the text says of them is known. Each graph below is made from it; dacce.c encodes it as the paper does,
 * must come to the paper's numbers and decode them, and the adaptive encoding must decode the same contexts to the same calls.
 */
#include "check.h"

#include "callcontext.h"
#include "core/contexts/adaptive.h"
#include "dacce.h"

enum {
	PATH_MAX_CALLS = 9, /* of the contexts of a figure that are enumerated */
};

struct figure {
	struct dacce paper;
	struct adaptive a;
	char letters[32]; /* by function */
	uint32_t contexts;
};

static uint32_t function_of(const struct figure *f, char letter)
{
	return (uint32_t)(strchr(f->letters, letter) - f->letters);
}

static uint32_t edge_of(const struct figure *f, char caller, char callee)
{
	for (uint32_t e = 0; e < f->a.graph.edge_count; e++)
		if (f->letters[f->a.graph.edges[e].caller] == caller &&
		    f->letters[f->a.graph.edges[e].callee] == callee)
			return e;
	CHECK(false);
	return 0;
}

/* Functions are added as they are first named. */
static void add_functions(struct figure *f, char caller, char callee)
{
	const char letters[] = {caller, callee};
	uint32_t n;

	for (int i = 0; i < 2; i++) {
		if (strchr(f->letters, letters[i]))
			continue;
		CHECK_OK(adaptive_add_function(&f->a, &n));
		f->letters[n] = letters[i];
	}
}

/* calls as in dacce_encode, a hot one before a cold one; those with a `?` are added when the others are numbered. */
static void figure_build(struct figure *f, const char *calls)
{
	uint64_t weight = 1000;
	uint32_t e;

	*f = (struct figure){0};
	dacce_encode(&f->paper, calls);
	adaptive_init(&f->a, NULL, 0);
	for (int is_new = 0; is_new < 2; is_new++) {
		for (uint32_t i = 0; i < f->paper.call_count; i++) {
			const struct dacce_call *call = &f->paper.calls[i];

			if ((!call->is_encoded && !call->is_back) != is_new)
				continue;
			add_functions(f, call->caller, call->callee);
			CHECK_OK(adaptive_add_edge(&f->a, function_of(f, call->caller), function_of(f, call->callee), i,
						   false, &e));
			adaptive_count(&f->a, e, call->is_back ? 0 : weight--);
		}
		if (!is_new)
			CHECK_OK(adaptive_encode(&f->a, NULL));
	}
	for (uint32_t i = 0; i < f->paper.call_count; i++) {
		const struct dacce_call *call = &f->paper.calls[i];
		enum edge_kind kind = call->is_encoded ? EDGE_ENCODED : call->is_back ? EDGE_BACK : EDGE_NEW;

		CHECK(f->a.graph.edges[edge_of(f, call->caller, call->callee)].kind == kind);
	}
}

/* Our context of a path, and what it decodes to. */
static void walk(const struct figure *f, const char *path, struct callcontext *c)
{
	CHECK_OK(callcontext_init(c, &f->a.graph, function_of(f, path[0])));
	for (; path[1]; path++)
		CHECK_OK(callcontext_call(c, edge_of(f, path[0], path[1])));
}

static void decode(const struct figure *f, const struct callcontext *c, char *text)
{
	const struct callcontext_view view = {c->stack.items, c->stack.count, c->node, c->id};
	struct callgraph_edges edges = {0};
	uint32_t start;

	if (CHECK_OK(callcontext_decode(&f->a.graph, &view, DACCE_TEXT - 2, &edges, &start))) {
		*text++ = f->letters[start];
		for (size_t i = 0; i < edges.count; i++)
			*text++ = f->letters[f->a.graph.edges[edges.items[i]].callee];
	}
	*text = '\0';
	callgraph_edges_deinit(&edges);
}

/* The paper's encoding of a path has this id and these entries (NULL: any); both encodings decode to the path. */
static void check_path(struct figure *f, const char *path, uint64_t id, const char *entries)
{
	struct dacce_context p;
	struct callcontext c;
	char text[DACCE_TEXT];

	dacce_walk(&f->paper, path, &p);
	if (entries) {
		CHECK_U64(p.id, id);
		dacce_print(&p, text);
		CHECK_TEXT(text, entries);
	}
	dacce_decode(&f->paper, &p, text);
	CHECK_TEXT(text, path);
	walk(f, path, &c);
	decode(f, &c, text);
	CHECK_TEXT(text, path);
	callcontext_deinit(&c);
	f->contexts++;
}

/* Every path of up to PATH_MAX_CALLS calls from where path[0 .. len) ends. */
static void check_paths_from(struct figure *f, char *path, size_t len)
{
	path[len] = '\0';
	check_path(f, path, 0, NULL);
	for (uint32_t i = 0; i < f->paper.call_count && len <= PATH_MAX_CALLS; i++) {
		if (f->paper.calls[i].caller != path[len - 1])
			continue;
		path[len] = f->paper.calls[i].callee;
		check_paths_from(f, path, len + 1);
	}
}

/* How many contexts were compared. */
static uint32_t check_all_paths(struct figure *f)
{
	char path[PATH_MAX_CALLS + 3] = "A";

	f->contexts = 0;
	check_paths_from(f, path, 1);
	return f->contexts;
}

static void figure_deinit(struct figure *f)
{
	adaptive_deinit(&f->a);
}

/* Figure 2: AD is called for the first time while ACD is encoded; maxID is 0. With id 0 and <0,A,D> nobody could tell AD from ACD. */
static void test_normal_calls(void)
{
	struct figure f;

	figure_build(&f, "AC CD AD?");
	CHECK_U64(f.paper.max_id, 0);
	check_path(&f, "AD", 1, "<0,A,D>");
	check_path(&f, "ACD", 0, "");
	CHECK_U64(check_all_paths(&f), 4);
	/* the picture of adaptive.h */
	CHECK_U64(f.a.graph.nodes[function_of(&f, 'D')].restart, 2);
	CHECK_OK(adaptive_encode(&f.a, NULL));
	CHECK_U64(f.a.graph.edges[edge_of(&f, 'A', 'D')].addend, 3);
	check_all_paths(&f);
	figure_deinit(&f);

	/* "suppose the full call path is ABCD, in which edge AB and CD are unencoded" */
	figure_build(&f, "AC BC AD AB? CD?");
	CHECK_U64(f.paper.max_id, 1);
	check_path(&f, "ABCD", 2, "<0,A,B><3,C,D>");
	figure_deinit(&f);
	figure_build(&f, "BC AB? CD?");
	check_path(&f, "ABCD", 1, "<0,A,B><1,C,D>");
	figure_deinit(&f);
}

/* Figure 3: maxID is 4 and C calls E indirectly. E is new there; I is called by D, which has two contexts, before E. */
static void test_indirect_calls(void)
{
	struct figure f;

	figure_build(&f, "AB AC BD CD DE BE DI EI CE?");
	CHECK_U64(f.paper.max_id, 4);
	check_path(&f, "ACE", 5, "<0,C,E>");
	check_path(&f, "ACEI", 7, "<0,C,E>");
	CHECK(check_all_paths(&f) > 12);
	figure_deinit(&f);

	/* 3(d): after the next encoding the callee that was found has a number. */
	figure_build(&f, "AB AC BD CD DE BE CE DI EI");
	check_path(&f, "ACEI", 5, "");
	check_all_paths(&f);
	figure_deinit(&f);
}

/* Figure 5: D calls A, which the encoding has found to be recursive; AD is not encoded. */
static void test_recursive_calls(void)
{
	struct figure f;

	figure_build(&f, "AC CD DA! AD?");
	CHECK_U64(f.paper.max_id, 0);
	check_path(&f, "ADACDAD", 1, "<0,A,D><1,D,A><1,D,A><1,A,D>");
	CHECK(check_all_paths(&f) > 20);
	/* 5(e): equal entries are counted */
	f.paper.counts_runs = true;
	check_path(&f, "ADACDAD", 1, "<0,A,D><1,D,A,1><1,A,D>");
	check_path(&f, "ACDACDACDACD", 1, "<0,D,A><1,D,A,1>");
	check_all_paths(&f);
	figure_deinit(&f);
}

/* ---- Figure 7: D is tail called by C and returns to A ---- */

struct machine {
	uint64_t id;
	struct callcontext_stack stack;
};

static void machine_call(const struct figure *f, struct machine *m, uint32_t edge)
{
	const struct callgraph_edge *e = &f->a.graph.edges[edge];

	if (e->kind == EDGE_ENCODED) {
		m->id += e->addend;
		return;
	}
	CHECK_OK(callcontext_stack_append(&m->stack, (struct callgraph_push){m->id, edge, 1}));
	m->id = f->a.graph.nodes[e->callee].restart;
}

/* What stands behind an ordinary call: takes the call's addend off. */
static void machine_return(const struct figure *f, struct machine *m, uint32_t edge)
{
	const struct callgraph_edge *e = &f->a.graph.edges[edge];

	CHECK(e->kind == EDGE_ENCODED);
	m->id -= e->addend;
}

/*
 * "Assume the invocation order is ACDFABDF": CD is a tail call, nothing stands behind it. In the paper its addend, 1, is left in
 * A and ABDF gets ACDF's id, unless A stores and restores. A bare edge never has one: where CD is hotter than BD
 * there is nothing to take off, else it pushes, and A, which knows how high the stack was, drops the entry and has its id.
 */
static void test_tail_calls(void)
{
	struct figure f;
	struct machine m = {0};
	struct dacce_context c;
	char text[DACCE_TEXT];

	figure_build(&f, "AB AC BD CD DF");
	CHECK_U64(f.paper.calls[3].addend, 1);
	check_path(&f, "ACDF", 1, "");
	check_path(&f, "ABDF", 0, "");
	dacce_walk(&f.paper, "ABDF", &c);
	c.id += f.paper.calls[3].addend; /* left over */
	dacce_decode(&f.paper, &c, text);
	CHECK_TEXT(text, "ACDF");

	for (int is_hot = 0; is_hot < 2; is_hot++) {
		static const char path[] = "ACDF", then[] = "ABDF";
		struct callcontext_view view;
		struct callgraph_edges edges = {0};
		uint32_t tail = edge_of(&f, 'C', 'D'), start;

		f.a.graph.edges[tail].is_bare = true;
		adaptive_count(&f.a, is_hot ? tail : edge_of(&f, 'B', 'D'), 5000);
		CHECK_OK(adaptive_encode(&f.a, NULL));
		CHECK(f.a.graph.edges[tail].kind == (is_hot ? EDGE_ENCODED : EDGE_CUT));
		CHECK_U64(f.a.graph.edges[tail].addend, 0);
		check_all_paths(&f);

		m.id = f.a.graph.nodes[0].restart;
		for (int i = 0; i < 3; i++)
			machine_call(&f, &m, edge_of(&f, path[i], path[i + 1]));
		machine_return(&f, &m, edge_of(&f, 'D', 'F'));
		if (m.stack.count)
			m.id = m.stack.items[--m.stack.count].id;
		machine_return(&f, &m, edge_of(&f, 'A', 'C'));
		CHECK_U64(m.id, f.a.graph.nodes[0].restart);
		for (int i = 0; i < 3; i++)
			machine_call(&f, &m, edge_of(&f, then[i], then[i + 1]));
		view = (struct callcontext_view){m.stack.items, m.stack.count, function_of(&f, 'F'), m.id};
		if (CHECK_OK(callcontext_decode(&f.a.graph, &view, 9, &edges, &start)) && CHECK_U64(edges.count, 3))
			for (size_t i = 0; i < 3; i++)
				CHECK_U64(edges.items[i], edge_of(&f, then[i], then[i + 1]));
		callgraph_edges_deinit(&edges);
		m.stack.count = 0;
	}
	callcontext_stack_deinit(&m.stack);
	figure_deinit(&f);
}

/* ---- the rules ---- */

/* What is added has ids at once and leaves those of the others alone. */
static void test_additions(void)
{
	struct figure f;
	struct callcontext c;
	char text[DACCE_TEXT];
	uint32_t n, e;

	figure_build(&f, "AB AC BD CD DE");
	walk(&f, "ACDE", &c);
	CHECK_U64(c.id, 3); /* behind ABD 0, BD 1 and D 2 */
	CHECK_OK(adaptive_add_function(&f.a, &n));
	f.letters[n] = 'X';
	CHECK(f.a.graph.is_encoded && f.a.graph.is_gapless && f.a.graph.nodes[n].has_dummy);
	CHECK_U64(f.a.graph.nodes[n].contexts, 1);
	CHECK_U64(f.a.graph.nodes[n].restart, 0);
	CHECK_U64(f.a.numbered_functions, n);
	CHECK_OK(adaptive_add_edge(&f.a, function_of(&f, 'E'), n, 0, false, &e));
	CHECK_OK(adaptive_add_edge(&f.a, n, function_of(&f, 'B'), 0, false, &e));
	CHECK_U64(f.a.numbered_edges, 5);
	CHECK_OK(callcontext_call(&c, edge_of(&f, 'E', 'X')));
	CHECK_U64(c.id, 0);
	CHECK_OK(callcontext_call(&c, edge_of(&f, 'X', 'B')));
	decode(&f, &c, text);
	CHECK_TEXT(text, "ACDEXB");
	CHECK_OK(callcontext_return(&c, edge_of(&f, 'X', 'B')));
	CHECK_OK(callcontext_return(&c, edge_of(&f, 'E', 'X')));
	CHECK_U64(c.id, 3);
	CHECK_U64(c.stack.count, 0);
	callcontext_deinit(&c);
	CHECK_ERROR(adaptive_add_edge(&f.a, 0, n + 1, 0, false, &e), ERROR_ARGUMENT, NULL);
	CHECK_ERROR(adaptive_add_edge(&f.a, n + 1, 0, 0, false, &e), ERROR_ARGUMENT, NULL);
	CHECK_U64(f.a.graph.edge_count, 7);
	figure_deinit(&f);
}

static void test_translation(void)
{
	struct figure f;
	struct callcontext c, untouched = {.node = 77};
	char text[DACCE_TEXT];
	uint32_t edges[4];

	figure_build(&f, "AC CD AD? DA?");
	edges[0] = edge_of(&f, 'A', 'D');
	edges[1] = edge_of(&f, 'D', 'A');
	edges[2] = edge_of(&f, 'A', 'C');
	edges[3] = edge_of(&f, 'C', 'D');
	CHECK_OK(adaptive_encode(&f.a, NULL));
	CHECK_U64(f.a.epoch, 2);
	CHECK(f.a.graph.edges[edges[0]].kind == EDGE_ENCODED && f.a.graph.edges[edges[1]].kind == EDGE_BACK);
	CHECK_OK(callcontext_translate(&f.a.graph, function_of(&f, 'A'), edges, 4, &c));
	CHECK_U64(c.stack.count, 1);
	decode(&f, &c, text);
	CHECK_TEXT(text, "ADACD");
	callcontext_deinit(&c);
	CHECK_ERROR(callcontext_translate(&f.a.graph, function_of(&f, 'A'), edges + 1, 3, &untouched), ERROR_ARGUMENT,
		    NULL);
	CHECK_ERROR(callcontext_translate(&f.a.graph, 9, edges, 4, &untouched), ERROR_ARGUMENT, NULL);
	CHECK_U64(untouched.node, 77);
	f.a.epoch = UINT32_MAX;
	CHECK_ERROR(adaptive_encode(&f.a, NULL), ERROR_OVERFLOW, NULL);
	figure_deinit(&f);
}

/* A bare edge is first until another one is hotter than what a push costs beside an addition; then it pushes. */
static void test_bare(void)
{
	struct figure f;
	struct callgraph_stats stats;

	figure_build(&f, "AB AC AE BD CD ED");
	for (uint32_t e = 0; e < f.a.graph.edge_count; e++)
		f.a.graph.edges[e].weight = 50;
	f.a.graph.edges[edge_of(&f, 'E', 'D')].is_bare = true;
	f.a.graph.edges[edge_of(&f, 'A', 'C')].is_bare = true;
	CHECK_OK(adaptive_encode(&f.a, &stats));
	CHECK(f.a.graph.edges[edge_of(&f, 'E', 'D')].kind == EDGE_ENCODED);
	CHECK_U64(f.a.graph.edges[edge_of(&f, 'E', 'D')].addend, 0);
	CHECK_U64(f.a.graph.edges[edge_of(&f, 'A', 'C')].addend, 0);
	CHECK_U64(stats.cut_edges, 0);
	check_all_paths(&f);
	adaptive_count(&f.a, edge_of(&f, 'B', 'D'), 50 * (CALLGRAPH_BARE_COSTS - 1));
	CHECK_OK(adaptive_encode(&f.a, &stats));
	CHECK_U64(stats.cut_edges, 0);
	adaptive_count(&f.a, edge_of(&f, 'B', 'D'), 1);
	CHECK_OK(adaptive_encode(&f.a, &stats));
	CHECK(f.a.graph.edges[edge_of(&f, 'E', 'D')].kind == EDGE_CUT);
	CHECK_U64(f.a.graph.edges[edge_of(&f, 'B', 'D')].addend, 0);
	CHECK_U64(stats.cut_edges, 1);
	check_all_paths(&f);
	figure_deinit(&f);
}

/* ---- the triggers ---- */

static void test_new_edges(void)
{
	struct adaptive a;
	uint32_t n, e;

	adaptive_init(&a, NULL, 5);
	CHECK_U64(a.epoch, 5);
	a.thresholds.new_edges = 3;
	a.thresholds.new_edges_share = 2;
	CHECK(adaptive_due(&a) == ADAPTIVE_NONE);
	CHECK_OK(adaptive_add_function(&a, &n));
	CHECK(a.graph.is_encoded && a.graph.is_gapless);
	for (uint32_t numbered = 0; numbered < 20; numbered = a.graph.edge_count) {
		for (uint32_t i = 0; i < 3 + numbered / 2; i++) {
			CHECK_OK(adaptive_add_edge(&a, n, n, i, false, &e));
			CHECK(adaptive_due(&a) == ADAPTIVE_NONE);
		}
		CHECK_OK(adaptive_add_edge(&a, n, n, 9, false, &e));
		CHECK(adaptive_due(&a) == ADAPTIVE_NEW_EDGES);
		CHECK_OK(adaptive_encode(&a, NULL));
		CHECK(adaptive_due(&a) == ADAPTIVE_NONE);
	}
	CHECK_U64(a.epoch, 5 + 4); /* 4, 10, 19, 32 edges */
	adaptive_deinit(&a);
}

static void test_hot_changed(void)
{
	struct figure f;
	uint32_t hot, cold;

	figure_build(&f, "AB AC BD CD");
	hot = edge_of(&f, 'B', 'D');
	cold = edge_of(&f, 'C', 'D');
	CHECK(f.a.graph.edges[hot].addend == 0 && f.a.graph.edges[cold].addend > 0);
	adaptive_count(&f.a, hot, 4002);
	adaptive_count(&f.a, cold, 4003); /* 5000, 5000 */
	CHECK(adaptive_due(&f.a) == ADAPTIVE_NONE);
	adaptive_count(&f.a, cold, 5001);
	CHECK(adaptive_due(&f.a) == ADAPTIVE_NONE); /* not twice as hot */
	adaptive_count(&f.a, cold, 1);
	CHECK_U64(f.a.misplaced_calls, 1);
	CHECK(adaptive_due(&f.a) == ADAPTIVE_NONE); /* one call */
	adaptive_count(&f.a, cold, 1000);
	CHECK(adaptive_due(&f.a) == ADAPTIVE_HOT_CHANGED);
	CHECK_OK(adaptive_encode(&f.a, NULL));
	CHECK(f.a.graph.edges[cold].addend == 0 && f.a.graph.edges[hot].addend > 0);
	CHECK(adaptive_due(&f.a) == ADAPTIVE_NONE);
	figure_deinit(&f);
}

/* A new call that is made often is encoded; a recursive one pushes whatever is done, so nothing is due for it. */
static void test_stack_busy(void)
{
	struct figure f;
	uint32_t e;

	figure_build(&f, "AB BC");
	CHECK_OK(adaptive_add_edge(&f.a, function_of(&f, 'A'), function_of(&f, 'C'), 0, false, &e));
	adaptive_count(&f.a, edge_of(&f, 'A', 'B'), 15000);
	adaptive_count(&f.a, e, 1000);
	CHECK(adaptive_due(&f.a) == ADAPTIVE_NONE); /* one in 16 */
	adaptive_count(&f.a, e, 100);
	CHECK(adaptive_due(&f.a) == ADAPTIVE_STACK_BUSY);
	CHECK_OK(adaptive_encode(&f.a, NULL));
	adaptive_count(&f.a, e, 10000);
	CHECK_U64(f.a.pushed_calls, 0);

	CHECK_OK(adaptive_add_edge(&f.a, function_of(&f, 'C'), function_of(&f, 'C'), 0, false, &e));
	adaptive_count(&f.a, e, 1000000);
	CHECK(adaptive_due(&f.a) == ADAPTIVE_STACK_BUSY);
	CHECK_OK(adaptive_encode(&f.a, NULL));
	CHECK(f.a.graph.edges[e].kind == EDGE_BACK);
	adaptive_count(&f.a, e, 1000000);
	CHECK_U64(f.a.pushed_calls, 1000000);
	CHECK(adaptive_due(&f.a) == ADAPTIVE_NONE);
	adaptive_count(&f.a, e, UINT64_MAX);
	CHECK_U64(f.a.graph.edges[e].weight, UINT64_MAX);
	figure_deinit(&f);
}

int main(void)
{
	test_normal_calls();
	test_indirect_calls();
	test_recursive_calls();
	test_tail_calls();
	test_additions();
	test_translation();
	test_bare();
	test_new_edges();
	test_hot_changed();
	test_stack_busy();
	return check_status();
}

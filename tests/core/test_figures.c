/*
 * test_figures.c - known answers: the figures of Sumner et al., "Precise Calling Context Encoding" (ICSE 2010).
 *
 * Where the paper's figure orders edges left to right, weights fall in that order here.
 */
#include "check.h"

#include "callcontext.h"

/* Nodes are letters; call i is `calls[2i]` calls `calls[2i + 1]` and has site i. */
struct figure {
	struct callgraph g;
	struct callgraph_stats stats;
	uint32_t node[128]; /* by letter */
};

static void figure_build(struct figure *f, const char *nodes, const char *roots, const char *const *calls)
{
	uint64_t weight = 1000;
	uint32_t ignored;

	memset(f, 0, sizeof(*f));
	callgraph_init(&f->g, NULL);
	for (; *nodes; nodes++)
		CHECK_OK(callgraph_add_node(&f->g, strchr(roots, *nodes) != NULL, &f->node[(unsigned char)*nodes]));
	for (uint32_t i = 0; calls[i]; i++)
		CHECK_OK(callgraph_add_edge(&f->g, f->node[(unsigned char)calls[i][0]],
					    f->node[(unsigned char)calls[i][1]], i, weight--, &ignored));
	CHECK_OK(callgraph_encode(&f->g, NULL, &f->stats));
}

static char letter_of(const struct figure *f, uint32_t node)
{
	for (int c = 'A'; c <= 'Z'; c++)
		if (f->node[c] == node && (node || c == 'A'))
			return (char)c;
	return '?';
}

/* The nth edge, from 0, from one letter to another. */
static uint32_t find_edge(const struct figure *f, char caller, char callee, unsigned int nth)
{
	for (uint32_t e = 0; e < f->g.edge_count; e++)
		if (f->g.edges[e].caller == f->node[(unsigned char)caller] &&
		    f->g.edges[e].callee == f->node[(unsigned char)callee] && nth-- == 0)
			return e;
	fprintf(stderr, "no edge %c%c\n", caller, callee);
	CHECK(false);
	return 0;
}

/* Walks `path`, in which a digit after a letter picks one of parallel edges ("ABD2F": the second from D to F). */
static void walk(const struct figure *f, const char *path, struct callcontext *c)
{
	char at = *path++;

	CHECK_OK(callcontext_init(c, &f->g, f->node[(unsigned char)at]));
	while (*path) {
		unsigned int nth = *path >= '1' && *path <= '9' ? (unsigned int)(*path++ - '1') : 0;

		CHECK_OK(callcontext_call(c, find_edge(f, at, *path, nth)));
		at = *path++;
	}
}

/* The path that a context decodes to, in the notation of walk; edges between the same nodes are told by their number. */
static void decode_to_text(const struct figure *f, const struct callcontext *c, char *text)
{
	struct callcontext_view view = {c->stack.items, c->stack.count, c->node, c->id};
	struct callgraph_edges edges = {0};
	uint32_t start = 0;

	if (CHECK_OK(callcontext_decode(&f->g, &view, 1000, &edges, &start))) {
		*text++ = letter_of(f, start);
		for (size_t i = 0; i < edges.count; i++) {
			const struct callgraph_edge *edge = &f->g.edges[edges.items[i]];
			unsigned int nth = 0, total = 0;

			for (uint32_t e = 0; e < f->g.edge_count; e++) {
				if (f->g.edges[e].caller != edge->caller || f->g.edges[e].callee != edge->callee)
					continue;
				nth += e <= edges.items[i];
				total++;
			}
			if (total > 1)
				*text++ = (char)('0' + nth);
			*text++ = letter_of(f, edge->callee);
		}
	}
	*text = '\0';
	callgraph_edges_deinit(&edges);
}

static void check_context(const struct figure *f, const char *path, uint64_t id)
{
	struct callcontext c;
	char text[256];

	walk(f, path, &c);
	if (c.id != id)
		fprintf(stderr, "context %s:\n", path);
	CHECK_U64(c.id, id);
	CHECK_U64(c.stack.count, 0);
	decode_to_text(f, &c, text);
	CHECK_TEXT(text, path);
	callcontext_deinit(&c);
}

static void check_contexts_of(const struct figure *f, char node, uint64_t want)
{
	CHECK_U64(f->g.nodes[f->node[(unsigned char)node]].contexts, want);
}

/* Figure 2: one addition at C->D tells all contexts apart and the largest id is 1; Ball-Larus needs 3 ("the maximum id is 3
 * versus 1"), since it keeps the paths ABDE, ABDF, ACDE, ACDF apart from each other. */
static void test_inadequacy_of_ball_larus(void)
{
	static const char *const calls[] = {"AB", "AC", "BD", "CD", "DE", "DF", NULL};
	struct figure f;

	figure_build(&f, "ABCDEF", "A", calls);
	check_context(&f, "A", 0);
	check_context(&f, "AB", 0);
	check_context(&f, "AC", 0);
	check_context(&f, "ABD", 0);
	check_context(&f, "ACD", 1);
	check_context(&f, "ABDE", 0);
	check_context(&f, "ACDE", 1);
	check_context(&f, "ABDF", 0);
	check_context(&f, "ACDF", 1);
	CHECK_U64(f.stats.max_id, 1);
	CHECK_U64(f.stats.ball_larus_max_id, 3);
	CHECK(!f.stats.ball_larus_overflowed);
	CHECK_U64(f.stats.zero_edges, 5);
	CHECK_U64(f.stats.back_edges, 0);
	callgraph_deinit(&f.g);
}

/*
 * Figure 4, acyclic encoding. The contexts in its table are AB AJ ABD AJD ABE ABDF AJDF ABDF AJDF, those in the table of the
 * hybrid encoding of the same graph (figure 8) ABDG AJDG AJG ABDFI AJDFI ABDFI AJDFI ABDGI AJDGI AJGI AJI: from these the
 * edges follow, D calling F at two sites. The text gives: A, B, J have 1 context, D has 2; F->I has no code, the addend of G->I
 * is the annotation of F, that of J->I the sum of those of F and G; id 6 at I decodes over G->I to 2, over J->G to 0: AJGI.
 * H, which no quoted context reaches, is left out.
 */
static void test_acyclic(void)
{
	static const char *const calls[] = {"AB", "AJ", "BD", "JD", "BE", "DF", "DF",
					    "DG", "JG", "FI", "GI", "JI", NULL};
	struct figure f;

	figure_build(&f, "ABDEFGIJ", "A", calls);
	check_contexts_of(&f, 'A', 1);
	check_contexts_of(&f, 'B', 1);
	check_contexts_of(&f, 'J', 1);
	check_contexts_of(&f, 'D', 2);
	check_contexts_of(&f, 'E', 1);
	check_contexts_of(&f, 'F', 4);
	check_contexts_of(&f, 'G', 3);
	check_contexts_of(&f, 'I', 8);
	check_context(&f, "AB", 0);
	check_context(&f, "AJ", 0);
	check_context(&f, "ABD", 0);
	check_context(&f, "AJD", 1);
	check_context(&f, "ABE", 0);
	check_context(&f, "ABD1F", 0);
	check_context(&f, "AJD1F", 1);
	check_context(&f, "ABD2F", 2);
	check_context(&f, "AJD2F", 3);
	check_context(&f, "ABDG", 0);
	check_context(&f, "AJDG", 1);
	check_context(&f, "AJG", 2);
	check_context(&f, "ABD1FI", 0);
	check_context(&f, "AJD1FI", 1);
	check_context(&f, "ABD2FI", 2);
	check_context(&f, "AJD2FI", 3);
	check_context(&f, "ABDGI", 4);
	check_context(&f, "AJDGI", 5);
	check_context(&f, "AJGI", 6);
	check_context(&f, "AJI", 7);
	CHECK_U64(f.g.edges[find_edge(&f, 'F', 'I', 0)].addend, 0);
	CHECK_U64(f.g.edges[find_edge(&f, 'G', 'I', 0)].addend, 4);
	CHECK_U64(f.g.edges[find_edge(&f, 'J', 'I', 0)].addend, 7);
	CHECK_U64(f.g.edges[find_edge(&f, 'D', 'F', 1)].addend, 2);
	CHECK_U64(f.stats.max_id, 7);
	/* paths: F, G 1; D 1 + 1 + 1; J D + G + I; B D + E; A B + J */
	CHECK_U64(f.stats.ball_larus_max_id, (3 + 1) + (3 + 1 + 1) - 1);
	callgraph_deinit(&f.g);
}

/*
 * Figure 5, recursion: F calls C back. The text gives the contexts ACGFH, CDF, CGF, ACGFCDE, ACGFCDFH and that A and F call C,
 * hence the edges; B (in the figure, in no context) is called by A. ACGFCDE is (3, F->C) on the stack and id 0 at E: so CDF,
 * ACDF are 0 and 1, CGF, ACGF 2 and 3. The paper puts every dummy first, which is what roots get here: C is made one.
 */
static void recursive_figure(struct figure *f)
{
	static const char *const calls[] = {"AC", "CD", "DF", "CG", "GF", "FH", "DE", "AB", "FC", NULL};

	figure_build(f, "ABCDFGEH", "AC", calls);
}

static void check_stack(const struct callcontext *c, const struct callgraph_push *want, size_t count)
{
	if (!CHECK_U64(c->stack.count, count))
		return;
	for (size_t i = 0; i < count; i++) {
		CHECK_U64(c->stack.items[i].id, want[i].id);
		CHECK_U64(c->stack.items[i].edge, want[i].edge);
		CHECK_U64(c->stack.items[i].run, want[i].run);
	}
}

static void check_recursive(const struct figure *f, const char *path, const struct callgraph_push *stack, size_t count,
			    uint64_t id)
{
	struct callcontext c;
	char text[256];

	walk(f, path, &c);
	check_stack(&c, stack, count);
	CHECK_U64(c.id, id);
	decode_to_text(f, &c, text);
	CHECK_TEXT(text, path);
	callcontext_deinit(&c);
}

static void test_recursive(void)
{
	struct callgraph_push entry = {.id = 3, .run = 1};
	struct figure f;

	recursive_figure(&f);
	entry.edge = find_edge(&f, 'F', 'C', 0);
	CHECK(f.g.edges[entry.edge].kind == EDGE_BACK);
	CHECK_U64(f.stats.back_edges, 1);
	check_contexts_of(&f, 'C', 2);
	check_contexts_of(&f, 'F', 4);
	check_context(&f, "CDF", 0);
	check_context(&f, "ACDF", 1);
	check_context(&f, "CGF", 2);
	check_context(&f, "ACGF", 3);
	/* not divided, although C can be the target of a back edge */
	check_context(&f, "ACGFH", 3);
	check_recursive(&f, "ACGFCDE", &entry, 1, 0);
	check_recursive(&f, "ACGFCDFH", &entry, 1, 0);
	callgraph_deinit(&f.g);
}

/* The same graph, "ACGF CGF CGF CGF": two pairs, the former for ACGF, the latter for three repetitions of CGF. */
static void test_repeated(void)
{
	struct callgraph_push stack[2] = {{.id = 3, .run = 1}, {.id = 2, .run = 3}};
	struct callcontext c;
	struct figure f;
	char text[256];

	recursive_figure(&f);
	stack[0].edge = stack[1].edge = find_edge(&f, 'F', 'C', 0);
	check_recursive(&f, "ACGFCGFCGFCGFC", stack, 2, 0);
	check_recursive(&f, "ACGFCGFCGFCGFCDFH", stack, 2, 0);

	/* and back again, one repetition after the other */
	walk(&f, "ACGFCGFCGFCGFC", &c);
	for (uint32_t run = 3; run-- > 0;) {
		CHECK_OK(callcontext_return(&c, stack[0].edge));
		CHECK_U64(c.id, 2);
		CHECK_OK(callcontext_return(&c, find_edge(&f, 'G', 'F', 0)));
		CHECK_OK(callcontext_return(&c, find_edge(&f, 'C', 'G', 0)));
		CHECK_U64(c.stack.count, run ? 2 : 1);
	}
	CHECK_ERROR(callcontext_return(&c, find_edge(&f, 'A', 'C', 0)), ERROR_ARGUMENT, NULL);
	CHECK_OK(callcontext_return(&c, stack[0].edge));
	CHECK_U64(c.id, 3);
	decode_to_text(&f, &c, text);
	CHECK_TEXT(text, "ACGF");
	callcontext_deinit(&c);
	callgraph_deinit(&f.g);
}

/* A push that does not follow from the one below, an encoded edge as a push, an id out of range, a limit. */
static void test_bad_stacks(void)
{
	struct callgraph_push stack[2] = {{.id = 3, .run = 1}, {.id = 3, .run = 1}};
	struct callgraph_edges edges = {0};
	struct callcontext_view view;
	struct figure f;
	uint32_t start = 77;

	recursive_figure(&f);
	stack[0].edge = stack[1].edge = find_edge(&f, 'F', 'C', 0);
	view = (struct callcontext_view){stack, 2, f.node['C'], 0};
	CHECK_ERROR(callcontext_decode(&f.g, &view, 100, &edges, &start), ERROR_FORMAT, "does not follow");
	stack[1].id = 2;
	CHECK_ERROR(callcontext_decode(&f.g, &view, 6, &edges, &start), ERROR_OVERFLOW, NULL);
	stack[0].run = 2;
	CHECK_ERROR(callcontext_decode(&f.g, &view, 100, &edges, &start), ERROR_FORMAT, "entry 0");
	stack[0].run = 1;
	stack[1].id = 4;
	CHECK_ERROR(callcontext_decode(&f.g, &view, 100, &edges, &start), ERROR_FORMAT, "entry 1");
	stack[1].id = 2;
	stack[1].run = 0;
	CHECK_ERROR(callcontext_decode(&f.g, &view, 100, &edges, &start), ERROR_FORMAT, "entry 1");
	stack[1].run = UINT32_MAX;
	CHECK_ERROR(callcontext_decode(&f.g, &view, 100, &edges, &start), ERROR_OVERFLOW, NULL);
	stack[1].run = 1;
	view.id = 1; /* AC: starts at A, but the push below entered C */
	CHECK_ERROR(callcontext_decode(&f.g, &view, 100, &edges, &start), ERROR_FORMAT, "does not follow");
	view.id = 2;
	CHECK_ERROR(callcontext_decode(&f.g, &view, 100, &edges, &start), ERROR_FORMAT, "has no context 2");
	view.id = 0;
	stack[0].edge = find_edge(&f, 'A', 'C', 0);
	CHECK_ERROR(callcontext_decode(&f.g, &view, 100, &edges, &start), ERROR_FORMAT, "not a push");
	stack[0].edge = f.g.edge_count;
	CHECK_ERROR(callcontext_decode(&f.g, &view, 100, &edges, &start), ERROR_FORMAT, "not a push");
	CHECK_U64(edges.count, 0);
	CHECK_U64(start, 77);
	stack[0].edge = stack[1].edge;
	CHECK_OK(callcontext_decode(&f.g, &view, 7, &edges, &start));
	CHECK_U64(edges.count, 7);
	CHECK_U64(start, f.node['A']);
	callgraph_edges_deinit(&edges);
	callgraph_deinit(&f.g);
}

int main(void)
{
	test_inadequacy_of_ball_larus();
	test_acyclic();
	test_recursive();
	test_repeated();
	test_bad_stacks();
	return check_status();
}

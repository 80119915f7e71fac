/*
 * test_activity.c - what can have run: known answers, what is refused, and that the work grows as the program does.
 *
 * States are written as text, one letter for each node or edge: Y ran, N cannot have, ? may have.
 */
#include "check.h"

#include <stdlib.h>

#include "cfgs.h"
#include "core/activity/activity.h"

enum {
	MOST = 12, /* functions, frames, calls of a function */
};

struct world {
	struct arena arena;
	struct activity_program p;
	struct activity_function functions[MOST];
	struct cfg cfgs[MOST];
	struct activity_call calls[MOST][MOST];
	struct activity_frame frames[MOST];
	struct activity_stack stacks[MOST];
	struct activity_result r;
};

static void begin(struct world *w)
{
	*w = (struct world){.p = {.functions = w->functions, .stacks = w->stacks}};
	arena_init(&w->arena);
}

static void end(struct world *w)
{
	arena_deinit(&w->arena);
}

static struct activity_function *add_function(struct world *w, const char *cfg)
{
	uint32_t f = w->p.function_count++;

	w->cfgs[f] = cfg_from_text(&w->arena, cfg);
	CHECK_OK(cfg_cut_cycles(&w->cfgs[f]));
	w->functions[f] = (struct activity_function){.cfg = &w->cfgs[f], .calls = w->calls[f]};
	return &w->functions[f];
}

static struct activity_call *add_call(struct world *w, uint32_t f, uint32_t node, uint32_t callee)
{
	struct activity_call *call = &w->calls[f][w->functions[f].call_count++];

	*call = (struct activity_call){.node = node, .callee = callee};
	return call;
}

/* Of what ends the process. */
static void add_exit(struct world *w, uint32_t f, uint32_t node)
{
	add_call(w, f, node, ACTIVITY_FOREIGN)->no_return = true;
}

/* Innermost first, all of one stack. */
static struct activity_frame *add_frame(struct world *w, uint32_t f, const uint32_t *path, uint32_t count,
					const uint32_t *edges)
{
	struct activity_frame *frame = &w->frames[w->stacks[0].frame_count++];

	w->p.stack_count = 1;
	w->stacks[0].frames = w->frames;
	*frame = (struct activity_frame){
		.function = f, .path = path, .path_count = count, .path_edges = edges, .call = UINT32_MAX};
	return frame;
}

static const uint32_t NODES[] = {0, 1, 2, 3, 4, 5, 6};

/* Of its path, only where it ends is known. */
static struct activity_frame *stand_in(struct world *w, uint32_t f, uint32_t node)
{
	return add_frame(w, f, &NODES[node], 1, NULL);
}

static void check_states(const uint8_t *got, uint32_t count, const char *want)
{
	char text[64] = "";

	for (uint32_t i = 0; i < count; i++)
		text[i] = got[i] == ACTIVITY_NO ? 'N' : got[i] == ACTIVITY_YES ? 'Y' : '?';
	CHECK_TEXT(text, want);
}

static void check_nodes(const struct world *w, uint32_t f, const char *want)
{
	check_states(w->r.nodes[f], w->cfgs[f].node_count, want);
	CHECK_U64(w->r.functions[f], w->r.nodes[f][0]);
}

static void check_edges(const struct world *w, uint32_t f, const char *want)
{
	check_states(w->r.edges[f], w->cfgs[f].edge_count, want);
}

static bool analyse(struct world *w)
{
	return CHECK_OK(activity_analyse(&w->p, &w->arena, &w->r));
}

/* ---- one frame ---- */

/* Ohmann and Liblit, figure 3: A to G are 0 to 6, B the loop's header, D and E its two sides. */
static const char *const ADD_ACTION = "0-1 1-2 1-6 2-4 2-3 3-5 4-5 5-1";
/* edges by number:                    AB  BC  BG  CE  CD  DF  EF  FB */

enum {
	AT_G = 6
};
static const uint32_t LAST_TWO[] = {1, 2, 3, 5, 1, 6};
static const uint32_t LAST_TWO_EDGES[] = {1, 4, 5, 7, 2};

/* The crash is in strcpy, in G, and nothing is known of the loop. */
static void test_position(void)
{
	struct world w;

	begin(&w);
	add_function(&w, ADD_ACTION);
	stand_in(&w, 0, AT_G);
	if (analyse(&w)) {
		check_nodes(&w, 0, "YY????Y");
		check_edges(&w, 0, "Y?Y?????");
	}
	end(&w);
}

/* The last path went through D; before it E may have run, unless there was nothing before it. */
static void test_path(void)
{
	struct activity_frame *frame;
	struct world w;

	begin(&w);
	add_function(&w, ADD_ACTION);
	frame = add_frame(&w, 0, LAST_TWO, 6, LAST_TWO_EDGES);
	if (analyse(&w)) {
		check_nodes(&w, 0, "YYYY?YY");
		check_edges(&w, 0, "YYY?YY?Y");
	}
	frame->path = LAST_TWO + 3; /* F B G: which side it was is not known */
	frame->path_edges = LAST_TWO_EDGES + 3;
	frame->path_count = 3;
	if (analyse(&w)) {
		check_nodes(&w, 0, "YYY??YY");
		check_edges(&w, 0, "YYY????Y");
	}
	end(&w);
}

static void test_whole_path(void)
{
	static const uint32_t path[] = {0, 1, 2, 3, 5, 1, 6}, edges[] = {0, 1, 4, 5, 7, 2};
	struct world w;

	begin(&w);
	add_function(&w, ADD_ACTION);
	add_frame(&w, 0, path, 7, edges)->path_is_whole = true;
	if (analyse(&w)) {
		check_nodes(&w, 0, "YYYYNYY");
		check_edges(&w, 0, "YYYNYYNY");
	}
	end(&w);
}

/* Figure 9: what only leads to an unused point, or only comes from one, goes too. Here realloc in F was not called. */
static void test_coverage_reduce(void)
{
	static const uint8_t unused[] = {POINT_UNUSED, POINT_USED};
	struct activity_frame *frame;
	struct world w;

	begin(&w);
	add_function(&w, ADD_ACTION);
	add_call(&w, 0, 5, ACTIVITY_FOREIGN);
	add_call(&w, 0, 6, ACTIVITY_PURE);
	frame = stand_in(&w, 0, AT_G);
	frame->calls_used = unused;
	if (analyse(&w)) {
		check_nodes(&w, 0, "YYNNNNY");
		check_edges(&w, 0, "YNYNNNNN");
	}
	/* over the whole run, the same of what has ended; of one that may leave, the way to it stays */
	frame->calls_used = NULL;
	w.functions[0].calls_used = unused;
	w.functions[0].is_root = true;
	if (analyse(&w)) {
		check_nodes(&w, 0, "YYNNNNY");
		add_call(&w, 0, 6, ACTIVITY_PURE);
	}
	end(&w);
}

/* One side of an if is not covered: the other one ran. */
static void test_other_side(void)
{
	static const uint8_t blocks[] = {0, 0, 0, POINT_UNUSED, 0, POINT_USED, 0};
	struct activity_frame *frame;
	struct world w;

	begin(&w);
	add_function(&w, ADD_ACTION);
	frame = stand_in(&w, 0, AT_G);
	frame->nodes_used = blocks;
	if (analyse(&w)) {
		check_nodes(&w, 0, "YYYNYYY");
		check_edges(&w, 0, "YYYYNNYY");
	}
	end(&w);
}

/* Control is in D or E, or it is not known where. Before a block's point control can be in it all the same. */
static void test_positions(void)
{
	static const uint32_t sides[] = {3, 4};
	static const uint8_t blocks[] = {0, 0, 0, POINT_UNUSED, POINT_UNUSED, POINT_UNUSED, POINT_UNUSED};
	struct activity_frame *frame;
	struct world w;

	begin(&w);
	add_function(&w, ADD_ACTION);
	frame = add_frame(&w, 0, NULL, 0, NULL);
	frame->positions = sides;
	frame->position_count = 2;
	if (analyse(&w))
		check_nodes(&w, 0, "YYY???N");
	frame->nodes_used = blocks;
	if (analyse(&w))
		check_nodes(&w, 0, "YYY??NN");
	frame->position_count = 1;
	if (analyse(&w))
		check_nodes(&w, 0, "YYYYNNN");
	frame->position_count = 0;
	frame->nodes_used = NULL;
	if (analyse(&w))
		check_nodes(&w, 0, "Y??????");
	end(&w);
}

/* 1 calls setjmp and is left by longjmp from 3, which the path that is left does not tell. */
static void test_setjmp(void)
{
	static const uint32_t path[] = {0, 1, 2, 4}, edges[] = {0, 1, 3};
	struct activity_frame *frame;
	struct world w;

	begin(&w);
	add_function(&w, "0-1 1*2 2-3 2-4 3-5 5-6");
	add_call(&w, 0, 1, ACTIVITY_PURE);
	add_call(&w, 0, 3, ACTIVITY_PURE);
	add_call(&w, 0, 5, ACTIVITY_FOREIGN)->may_leave = true;
	frame = add_frame(&w, 0, path, 4, edges);
	frame->path_is_whole = true;
	if (analyse(&w)) {
		check_nodes(&w, 0, "YYY?Y?N");
		check_edges(&w, 0, "YY?Y?N");
	}
	/* whatever is said to be whole is not, if it begins elsewhere */
	frame->path = path + 2;
	frame->path_edges = edges + 2;
	frame->path_count = 2;
	if (analyse(&w))
		check_nodes(&w, 0, "YYY?Y?N");
	w.calls[0][2].may_leave = false;
	if (analyse(&w)) {
		check_nodes(&w, 0, "YYYNYNN");
		check_edges(&w, 0, "YYNYNN");
	}
	end(&w);
}

/* What the frame says cannot be: its path is believed, its coverage is not. */
static void test_contradiction(void)
{
	static const uint8_t blocks[] = {0, POINT_UNUSED, 0, 0, 0, 0, 0};
	struct activity_frame *frame;
	struct world w;

	begin(&w);
	add_function(&w, ADD_ACTION);
	frame = stand_in(&w, 0, AT_G);
	frame->nodes_used = blocks;
	if (analyse(&w))
		check_nodes(&w, 0, "YY????Y");
	w.functions[0].nodes_used = blocks;
	if (analyse(&w))
		check_nodes(&w, 0, "YY????Y");
	end(&w);
}

/* ---- the program ---- */

/*
 * Figure 10: main (0) calls 1 in node 1, 2 in node 2, and in node 3 it calls 3, which crashes in node 1 after it may have called 4.
 * 5 is called by nothing. The call in progress has no other activation.
 */
static void make_calls(struct world *w)
{
	struct activity_frame *frame;

	begin(w);
	add_function(w, "0-1 0-2 1-3 2-3 3-4 3-5");
	w->functions[0].is_root = w->functions[0].is_once = true;
	add_call(w, 0, 1, 1);
	add_call(w, 0, 2, 2);
	add_call(w, 0, 3, 3);
	for (uint32_t f = 1; f < 3; f++)
		add_function(w, "0-1 0-2 1-3 2-3");
	add_function(w, "0-1 0-2 1-2 2-3");
	add_call(w, 3, 0, 4);
	add_call(w, 3, 3, 5);
	add_function(w, "0-1");
	add_function(w, "0-1");
	stand_in(w, 3, 1);
	frame = stand_in(w, 0, 3);
	frame->call = 2;
	frame->call_is_known = true;
}

static void test_calls(void)
{
	static const uint8_t first[] = {POINT_USED, POINT_UNUSED, POINT_USED}, second[] = {0, POINT_USED, 0};
	struct world w;

	make_calls(&w);
	if (analyse(&w)) {
		check_nodes(&w, 0, "Y??YNN");
		check_edges(&w, 0, "????NN");
		check_nodes(&w, 1, "????");
		check_nodes(&w, 3, "YYNN"); /* 2 and 3 come behind the crash, and no other activation was begun */
		check_nodes(&w, 4, "YY");   /* on the way to 1, and 0 is done with it */
		check_nodes(&w, 5, "NN");
	}
	w.functions[0].calls_used = first;
	if (analyse(&w)) {
		check_nodes(&w, 0, "YYNYNN");
		check_edges(&w, 0, "YNYNNN");
		check_nodes(&w, 1, "Y??Y");
		check_nodes(&w, 2, "NNNN");
	}
	/* the other way round, from functions: 1 was never entered, so 2 was */
	w.functions[0].calls_used = NULL;
	w.functions[1].entered = POINT_UNUSED;
	if (analyse(&w)) {
		check_nodes(&w, 0, "YNYYNN");
		check_nodes(&w, 2, "Y??Y");
	}
	w.functions[1].entered = POINT_UNKNOWN;
	w.functions[2].entered = POINT_USED;
	if (analyse(&w)) {
		check_nodes(&w, 0, "Y?YYNN");
		check_edges(&w, 0, "?Y??NN");
	}
	w.frames[1].calls_used = second;
	if (analyse(&w))
		check_nodes(&w, 0, "Y?YYNN");
	end(&w);
}

/* The call in progress began another activation too, if the frame that is there can have come by a tail call. */
static void test_tail_calls(void)
{
	struct world w;

	make_calls(&w);
	add_call(&w, 3, 3, 3); /* the last one in an exit */
	if (analyse(&w)) {
		check_nodes(&w, 3, "YY??");
		check_nodes(&w, 5, "??");
	}
	w.calls[3][2].no_return = true;
	if (analyse(&w))
		check_nodes(&w, 3, "YYNN");
	w.calls[3][2] = (struct activity_call){.node = 3, .callee = ACTIVITY_FOREIGN};
	if (analyse(&w))
		check_nodes(&w, 3, "YYNN");
	w.functions[3].is_address_taken =
		true; /* foreign code may call it, and it ends in a tail call of foreign code */
	if (analyse(&w))
		check_nodes(&w, 3, "YY??");
	end(&w);
}

/* main has gone when its own frame is not the outermost; activations that are not told of are anywhere. */
static void test_once(void)
{
	struct world w;

	make_calls(&w);
	w.p.is_partial = true;
	if (analyse(&w)) {
		check_nodes(&w, 0, "Y??Y??");
		check_nodes(&w, 3, "YY??");
		check_nodes(&w, 5, "??");
	}
	w.p.is_partial = false;
	w.functions[0].is_once = false;
	if (analyse(&w))
		check_nodes(&w, 0, "Y??Y??");
	end(&w);
}

/* The callee's frame may be one of several that the call led to. */
static void test_hidden_frames(void)
{
	struct activity_frame *frame;
	struct world w;

	begin(&w);
	add_function(&w, "0-1");
	add_call(&w, 0, 1, 1);
	add_function(&w, "0-1 0-2");
	stand_in(&w, 1, 1);
	frame = stand_in(&w, 0, 1);
	frame->call = 0;
	frame->call_is_known = true;
	if (analyse(&w))
		check_nodes(&w, 1, "YYN");
	w.p.is_partial = true;
	if (analyse(&w))
		check_nodes(&w, 1, "YY?");
	end(&w);
}

/* 0 calls 1, then crashes. In 1: node 1 exits, node 2 may throw, node 3 is after it. */
static void test_exits(void)
{
	struct world w;

	begin(&w);
	add_function(&w, "0-1");
	add_call(&w, 0, 0, 1);
	add_function(&w, "0-1 0-2 2-3 3-4");
	add_exit(&w, 1, 1);
	add_call(&w, 1, 2, 2);
	add_call(&w, 1, 4, 3)->no_return = true;
	add_function(&w, "0-1 0-2");
	add_call(&w, 2, 1, ACTIVITY_FOREIGN);
	add_function(&w, "0-1");
	add_exit(&w, 3, 1);
	stand_in(&w, 0, 1);
	if (analyse(&w)) {
		/* 1 was entered and has not returned nor been left: the frame tells what cannot be */
		check_nodes(&w, 0, "YY");
		check_nodes(&w, 1, "YNNNN");
		check_nodes(&w, 3, "NN");
	}
	w.calls[2][0].may_leave = true; /* now 2 may throw past 1; 0 cannot have come on from there, but by unwinding */
	if (analyse(&w)) {
		check_nodes(&w, 1, "YNYNN");
		check_nodes(&w, 2, "???");
	}
	end(&w);
}

/* A handler that jumps leaves what it interrupts anywhere. */
static void test_handlers(void)
{
	struct world w;

	begin(&w);
	add_function(&w, "0-1");
	add_call(&w, 0, 0, 1);
	add_function(&w, "0-1 0-2 1-3");
	add_exit(&w, 1, 3);
	add_function(&w, "0-1");
	w.functions[2].is_root = w.functions[2].is_handler = true;
	add_call(&w, 2, 1, 3);
	add_function(&w, "0-1");
	add_exit(&w, 3, 1);
	stand_in(&w, 0, 1);
	if (analyse(&w)) {
		check_nodes(&w, 1, "YNYN");
		check_nodes(&w, 3, "NN");
	}
	w.calls[3][0].may_leave = true; /* throws: not past what was interrupted */
	if (analyse(&w))
		check_nodes(&w, 1, "YNYN");
	w.calls[3][0].jumps = true;
	if (analyse(&w)) {
		check_nodes(&w, 1, "Y???");
		check_nodes(&w, 3, "??");
	}
	end(&w);
}

/* Foreign code calls back what is taken; code that calls nothing back does not. Each stack counts. */
static void test_callbacks(void)
{
	struct activity_frame other = {.function = 2, .path = &NODES[1], .path_count = 1, .call = UINT32_MAX};
	struct world w;

	begin(&w);
	add_function(&w, "0-1");
	add_call(&w, 0, 0, ACTIVITY_PURE);
	add_function(&w, "0-1");
	w.functions[1].is_address_taken = true;
	add_function(&w, "0-1");
	stand_in(&w, 0, 1);
	if (analyse(&w))
		check_nodes(&w, 1, "NN");
	w.calls[0][0].callee = ACTIVITY_FOREIGN;
	if (analyse(&w)) {
		check_nodes(&w, 1, "??");
		check_nodes(&w, 2, "NN");
	}
	w.calls[0][0].callee = ACTIVITY_ANY;
	w.stacks[1] = (struct activity_stack){&other, 1};
	w.p.stack_count = 2;
	if (analyse(&w)) {
		check_nodes(&w, 1, "??");
		check_nodes(&w, 2, "YY");
	}
	end(&w);
}

/* A point was reached in a function that nothing calls: something is not as it was told. */
static void test_stray_point(void)
{
	static const uint8_t blocks[] = {0, POINT_USED, 0};
	struct world w;

	begin(&w);
	add_function(&w, "0-1");
	add_function(&w, "0-1 0-2");
	add_call(&w, 1, 2, 2);
	add_function(&w, "0-1");
	w.functions[1].nodes_used = blocks;
	stand_in(&w, 0, 0);
	if (analyse(&w)) {
		check_nodes(&w, 1, "YY?");
		check_nodes(&w, 2, "??");
	}
	end(&w);
}

/* ---- of one frame ---- */

static void test_of_frame(void)
{
	static const uint32_t bad[] = {7};
	struct activity_frame frame = {.function = 0, .path = &NODES[2], .path_count = 1, .call = UINT32_MAX};
	uint8_t nodes[7], edges[8];
	struct world w;

	begin(&w);
	add_function(&w, ADD_ACTION);
	w.functions[0].is_root = true;
	stand_in(&w, 0, AT_G);
	if (analyse(&w)) {
		check_nodes(&w, 0, "YY????Y");
		CHECK_OK(activity_of_frame(&w.r, &frame, nodes, edges));
		check_states(nodes, 7, "YYY???N");
		frame.path = bad;
		CHECK_ERROR(activity_of_frame(&w.r, &frame, nodes, edges), ERROR_ARGUMENT, "path has node 7 of 7");
	}
	end(&w);
}

static void check_refused(struct world *w, const char *message)
{
	CHECK_ERROR(activity_analyse(&w->p, &w->arena, &w->r), ERROR_ARGUMENT, message);
	end(w);
}

static void test_refused(void)
{
	static const uint32_t path[] = {1, 2}, edges[] = {0}, far[] = {9};
	struct activity_frame *frame;
	struct world w;

	make_calls(&w);
	w.calls[0][0].node = 3;
	check_refused(&w, "call 1 of function 0 is in node 2 of 6, after node 3");
	make_calls(&w);
	w.calls[0][2].node = 6;
	check_refused(&w, "call 2 of function 0 is in node 6 of 6");
	make_calls(&w);
	w.calls[3][0].callee = 6;
	check_refused(&w, "call 0 of function 3 calls function 6 of 6");
	make_calls(&w);
	w.frames[1].function = 6;
	check_refused(&w, "a frame is of function 6 of 6");
	make_calls(&w);
	w.frames[1].call = 3;
	check_refused(&w, "a frame is in call 3 of 3");
	make_calls(&w);
	frame = add_frame(&w, 0, path, 2, edges);
	check_refused(&w, "path has edge 0 from node 1 to 2");
	make_calls(&w);
	frame = add_frame(&w, 0, NULL, 0, NULL);
	frame->positions = far;
	frame->position_count = 1;
	check_refused(&w, "a frame is in node 9 of 6");
}

/* ---- linear ---- */

enum shape {
	DEEP_CALLS = 0, /* each function calls the next: nothing is known to come back before the last one is seen */
	MANY_CALLERS,   /* one function is called from everywhere, and may throw */
	LONG_FUNCTION,  /* branches in a row, with calls */
	LADDER,         /* dominators far apart: two chains with crossings */
	LOOPS,          /* loops in loops, from the inside out */
	DEEP_STACK,     /* recursion */
	LINEAR_SHAPES,
};

static char *chain_text(enum shape shape, uint32_t count)
{
	char *text = malloc((size_t)count * 64 + 64), *at = text;

	*at = 0;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t a = 2 * i, b = 2 * i + 1;

		if (shape == LADDER)
			at += sprintf(at, "%u-%u %u-%u %u-%u %u-%u ", a, a + 2, a, b + 2, b, b + 2, b, a + 2);
		else if (shape == LOOPS)
			at += sprintf(at, "%u-%u %u-%u ", i, i + 1, i + 1, i / 2 + 1);
		else
			at += sprintf(at, "%u-%u %u-%u %u-%u ", a, b, a, a + 2, b, a + 2);
	}
	if (shape == LADDER)
		sprintf(at, "0-1");
	return text;
}

static uint64_t count_steps(enum shape shape, uint32_t size)
{
	uint32_t functions = shape == DEEP_CALLS || shape == MANY_CALLERS ? size : 2, here = 0;
	bool is_large = shape == LONG_FUNCTION || shape == LADDER || shape == LOOPS;
	struct activity_function *list = calloc(functions, sizeof(*list));
	struct activity_call *calls = calloc((size_t)size + 1, sizeof(*calls));
	uint8_t *used = malloc((size_t)size + 1);
	struct activity_frame *frames = calloc((size_t)size + 1, sizeof(*frames));
	struct activity_stack stack = {frames, shape == DEEP_STACK ? size : 1};
	struct activity_program p = {list, functions, &stack, 1, false};
	char *text = is_large ? chain_text(shape, size) : NULL;
	struct activity_result r = {0};
	struct arena arena;
	struct cfg small, large;

	arena_init(&arena);
	small = cfg_from_text(&arena, "0-1 0-2 1-3 2-3");
	large = is_large ? cfg_from_text(&arena, text) : small;
	memset(used, POINT_USED, (size_t)size + 1);
	for (uint32_t f = 0; f < functions; f++) {
		list[f] = (struct activity_function){.cfg = f ? &small : &large, .calls = &calls[f], .is_root = !f};
		calls[f].callee = shape == DEEP_CALLS && f + 1 < functions ? f + 1 : functions - 1;
		list[f].call_count = f + 1 < functions;
	}
	if (shape == MANY_CALLERS) {
		calls[size] = (struct activity_call){.node = 1, .callee = ACTIVITY_FOREIGN, .may_leave = true};
		list[functions - 1].calls = &calls[size];
		list[functions - 1].call_count = 1;
	}
	if (is_large) {
		list[0].nodes_used = NULL;
		list[0].call_count = large.node_count < size ? large.node_count : size;
		for (uint32_t c = 0; c < list[0].call_count; c++)
			calls[c] = (struct activity_call){.node = c, .callee = 1};
		list[0].calls_used = used;
	}
	for (uint32_t i = 0; i < stack.frame_count; i++)
		frames[i] = (struct activity_frame){.path = &here, .path_count = 1, .call = UINT32_MAX};
	CHECK_OK(activity_analyse(&p, &arena, &r));
	arena_deinit(&arena);
	free(text);
	free(frames);
	free(used);
	free(calls);
	free(list);
	return r.steps;
}

/* Dominators take a logarithm more in the worst case, and none of these is that. */
static void test_linear(void)
{
	for (int shape = 0; shape < LINEAR_SHAPES; shape++) {
		uint64_t small = count_steps((enum shape)shape, 2000), large = count_steps((enum shape)shape, 32000);

		printf("shape %d: %llu and %llu steps\n", shape, (unsigned long long)small, (unsigned long long)large);
		CHECK(small > 2000);
		CHECK(large < small * 16 * 5 / 4);
	}
}

int main(void)
{
	test_position();
	test_path();
	test_whole_path();
	test_coverage_reduce();
	test_other_side();
	test_positions();
	test_setjmp();
	test_contradiction();
	test_calls();
	test_tail_calls();
	test_once();
	test_hidden_frames();
	test_exits();
	test_handlers();
	test_callbacks();
	test_stray_point();
	test_of_frame();
	test_refused();
	test_linear();
	return check_status();
}

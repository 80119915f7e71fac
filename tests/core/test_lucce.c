/*
 * test_lucce.c - known answers: the figures of Salnikov-Tarnovski and Vojdani, "Lucce: Lazy and Unintrusive Calling Context Encoding for
 * Java", and the rules and limits of lucce.h one by one.
 *
 * Of figure 1 only what the text says of it is known; it is figure 4 of PCCE, whose table test_figures.c has. lucce_paper.c encodes
 * the same executions to the letter of the paper and must come to the same numbers.
 */
#include "check.h"

#include <stdlib.h>

#include "core/contexts/lucce_history.h"
#include "graphs.h"
#include "lucce_paper.h"

enum {
	PATH_MAX_CALLS = 1200,
	MAX_SEEN = 400,
};

/* A context that was entered. */
struct seen {
	char *path;
	uint32_t node;
	struct lucce_id id;
	struct paper_id paper;
};

/* A program of functions that are letters. A digit before a letter is the site of that call, 1 where there is none: "ABD2F". */
struct figure {
	struct lucce l;
	struct lucce_history history;
	struct paper paper;
	bool has_paper;   /* is encoded to the letter of the paper, too */
	char letters[32]; /* by function; that of the root is '.' */
	struct seen seen[MAX_SEEN];
	size_t seen_count;
};

static void figure_init(struct figure *f, bool has_paper, const struct lucce_limits *limits)
{
	memset(f, 0, sizeof(*f));
	f->has_paper = has_paper;
	f->letters[0] = '.';
	CHECK_OK(lucce_init(&f->l, NULL, limits));
	CHECK_OK(lucce_history_init(&f->history, NULL, limits ? limits->first_version : 0));
	paper_init(&f->paper);
}

static uint32_t function_of(struct figure *f, char letter)
{
	const char *at = strchr(f->letters, letter);
	uint32_t n = 0;

	if (at)
		return (uint32_t)(at - f->letters);
	CHECK_OK(lucce_add_node(&f->l, &n));
	f->letters[n] = letter;
	return n;
}

/* LUCCE_NO_EDGE when the limits leave no room for it. */
static uint32_t edge_of(struct figure *f, char caller, char callee, uint32_t site)
{
	uint32_t from = function_of(f, caller), to = function_of(f, callee), e;
	struct error *err;

	for (e = 0; e < f->l.edges.count; e++)
		if (f->l.edges.items[e].caller == from && f->l.edges.items[e].callee == to &&
		    f->l.edges.items[e].site == site)
			return e;
	err = lucce_add_edge(&f->l, from, to, site, &e);
	if (!err)
		return e;
	CHECK_ERROR(err, ERROR_OVERFLOW, NULL);
	return LUCCE_NO_EDGE;
}

/* What happened since is written out and read. */
static void read_log(struct figure *f)
{
	for (size_t i = 0; i < f->l.log.count; i++)
		CHECK_OK(lucce_history_add(&f->history, &f->l.log.items[i]));
	lucce_take(&f->l, f->l.log.count);
	CHECK_U64(f->history.version, f->l.version);
}

static void to_text(const struct figure *f, const uint32_t *edges, size_t count, char *text)
{
	for (size_t i = 0; i < count; i++) {
		const struct lucce_edge *e = &f->history.edges.items[edges[i]];

		if (e->site != 1)
			*text++ = (char)('0' + e->site);
		*text++ = f->letters[e->callee];
	}
	*text = '\0';
}

static void check_seen(const struct figure *f, const struct seen *s)
{
	char text[2 * PATH_MAX_CALLS + 1] = "";
	struct callgraph_edges edges = {0};

	if (CHECK_OK(lucce_decode(&f->history, s->node, s->id, PATH_MAX_CALLS, &edges)))
		to_text(f, edges.items, edges.count, text);
	CHECK_TEXT(text, s->path);
	callgraph_edges_deinit(&edges);
	if (f->has_paper) {
		uint32_t paper_edges[PAPER_CALLS], count = 0;

		CHECK(paper_decode(&f->paper, (uint8_t)s->node, s->paper, paper_edges, &count));
		to_text(f, paper_edges, count, text);
		CHECK_TEXT(text, s->path);
	}
}

/* Calls along the path from the root; steps: kept ones by edge, or NULL. Remembers the context where it ends and returns it. */
static struct seen *walk_kept(struct figure *f, const char *path, struct lucce_step *steps)
{
	struct lucce_id id = {0, 0};
	struct paper_id paper = {0, 0};
	struct seen *s = &f->seen[f->seen_count++];
	const char *at = path;
	char caller = '.';

	if (f->seen_count == MAX_SEEN)
		abort();
	while (*at) {
		uint32_t site = *at <= '9' ? (uint32_t)(*at++ - '0') : 1;
		uint32_t edge = edge_of(f, caller, *at, site);
		struct lucce_step step = steps ? steps[edge] : (struct lucce_step){0};

		if (!lucce_step_fits(&step, id))
			step = lucce_enter(&f->l, edge, id);
		if (steps)
			steps[edge] = step;
		id = lucce_step_to(&step, id);
		if (f->has_paper) {
			paper = paper_update(&f->paper, (uint8_t)function_of(f, caller), (uint8_t)function_of(f, *at),
					     site, paper);
			CHECK_U64(id.number, paper.number);
		}
		caller = *at++;
	}
	*s = (struct seen){strdup(path), function_of(f, caller), id, paper};
	return s;
}

static struct seen *walk(struct figure *f, const char *path)
{
	return walk_kept(f, path, NULL);
}

/* The number of a path that is now walked. */
static void check_number(struct figure *f, const char *path, uint64_t number)
{
	struct seen *s = walk(f, path);

	if (!CHECK_U64(s->id.number, number))
		fprintf(stderr, "in context %s\n", path);
	read_log(f);
	check_seen(f, s);
}

static void check_count(const struct figure *f, char letter, uint64_t count)
{
	CHECK_U64(f->l.nodes.items[strchr(f->letters, letter) - f->letters].count, count);
}

static void check_no_context(struct figure *f, char letter, struct lucce_id id)
{
	struct callgraph_edges edges = {0};

	CHECK_ERROR(lucce_decode(&f->history, function_of(f, letter), id, PATH_MAX_CALLS, &edges), ERROR_FORMAT, NULL);
	CHECK_U64(edges.count, 0);
	callgraph_edges_deinit(&edges);
}

/* Everything that was entered decodes at the end, too. */
static void figure_deinit(struct figure *f)
{
	read_log(f);
	for (size_t i = 0; i < f->seen_count; i++) {
		if (f->seen[i].id.version != LUCCE_LOST)
			check_seen(f, &f->seen[i]);
		free(f->seen[i].path);
	}
	lucce_deinit(&f->l);
	lucce_history_deinit(&f->history);
	paper_deinit(&f->paper);
}

/* ---- the figures ---- */

/* Figure 1: when all calls are known and each function was entered after its callers, the graph is annotated as PCCE has it. */
static void test_whole_graph(void)
{
	static const struct {
		const char *path;
		uint64_t number;
	} contexts[] = {{"AB", 0},     {"AJ", 0},    {"ABD", 0},   {"AJD", 1},   {"ABE", 0},
			{"ABDF", 0},   {"AJDF", 1},  {"ABD2F", 2}, {"AJD2F", 3}, {"ABDG", 0},
			{"AJDG", 1},   {"AJG", 2},   {"ABDFI", 0}, {"AJDFI", 1}, {"ABD2FI", 2},
			{"AJD2FI", 3}, {"ABDGI", 4}, {"AJDGI", 5}, {"AJGI", 6},  {"AJI", 7}};
	static const struct {
		char letter;
		uint64_t count;
	} counts[] = {{'A', 1}, {'B', 1}, {'J', 1}, {'D', 2}, {'E', 1}, {'F', 4}, {'G', 3}, {'I', 8}};
	struct figure f;

	figure_init(&f, true, NULL);
	for (size_t i = 0; i < sizeof(contexts) / sizeof(*contexts); i++)
		walk(&f, contexts[i].path);
	for (size_t i = 0; i < sizeof(contexts) / sizeof(*contexts); i++)
		check_number(&f, contexts[i].path, contexts[i].number);
	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++)
		check_count(&f, counts[i].letter, counts[i].count);
	figure_deinit(&f);
}

/* Figures 2 and 3: 1 is ABDE before XB is found, and XBCE afterwards; each decodes in its version. */
static void test_new_edge(void)
{
	struct figure f;
	const struct seen *before, *after;

	figure_init(&f, true, NULL);
	check_number(&f, "ABCE", 0);
	before = walk(&f, "ABDE");
	CHECK_U64(before->id.number, 1);
	check_count(&f, 'E', 2);
	check_number(&f, "XBDE", 2);
	check_count(&f, 'B', 2);
	check_count(&f, 'C', 1); /* "does not count the path X -> B -> C -> E" */
	check_count(&f, 'D', 2);
	check_count(&f, 'E', 3);
	after = walk(&f, "XBCE");
	CHECK_U64(after->id.number, 1);
	CHECK(before->id.version < after->id.version);
	walk(&f, "ABE"); /* B had a context before, but not this call */
	read_log(&f);
	check_no_context(&f, 'E', (struct lucce_id){2, before->id.version});
	figure_deinit(&f);
}

/* Figure 4: A and A', here Z, call B, which is called again by D. */
static void test_recursion(void)
{
	char path[4 + 3 * 20 + 1] = "ZBCD";
	struct figure f;

	figure_init(&f, true, NULL);
	check_number(&f, "AB", 0);
	check_number(&f, "ZBCD", 1);
	check_count(&f, 'D', 2);
	check_number(&f, "ZBCDBC", 3);
	check_count(&f, 'B', 4);
	check_count(&f, 'C', 4);
	check_count(&f, 'D', 2);
	/* "changing with each level of recursion" */
	for (size_t i = 0; i < 20; i++) {
		uint64_t count = f.l.nodes.items[function_of(&f, 'B')].count;

		strcat(path, "BCD");
		walk(&f, path);
		CHECK(f.l.nodes.items[function_of(&f, 'B')].count > count);
	}
	figure_deinit(&f);
}

/*
 * A function that calls itself: av(XN) counts N's own number. Taken behind the change of numCC(N), as the paper has it, XN is past
 * that number, and XNM falls into the range of YM.
 */
static void test_direct_recursion(void)
{
	static const char *const paths[] = {"N", "NN", "NM", "YM", "XN", "XNM"};
	uint32_t edges[PAPER_CALLS], count = 0;
	struct paper_id id = {0, 0};
	struct figure f;

	figure_init(&f, false, NULL);
	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		char caller = '.';

		walk(&f, paths[i]);
		id = (struct paper_id){0, 0};
		for (const char *at = paths[i]; *at; caller = *at++)
			id = paper_update(&f.paper, (uint8_t)function_of(&f, caller), (uint8_t)function_of(&f, *at), 1,
					  id);
	}
	CHECK_U64(id.number, 8);
	CHECK(!paper_decode(&f.paper, (uint8_t)function_of(&f, 'M'), id, edges, &count));
	/* N has 1 + 4 + 1 when XNM comes through it, of which XN is the last. */
	CHECK_U64(f.seen[f.seen_count - 1].id.number, 6);
	check_count(&f, 'N', 7);
	figure_deinit(&f);
}

/* ---- versions ---- */

/* Two callees, and one of them has two callers. The current version in place of ours would log in every round. */
static void test_quiet_loop(void)
{
	static const char *const paths[] = {"AFG", "AHG", "AHGI"};
	struct figure f;
	uint64_t version = 0;
	size_t paper_version = 0;

	figure_init(&f, true, NULL);
	for (int round = 0; round < 6; round++) {
		if (round == 3) {
			version = f.l.version;
			paper_version = f.paper.version;
		}
		for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++)
			walk(&f, paths[i]);
	}
	CHECK_U64(f.l.version, version);
	CHECK(f.paper.version > paper_version + 3);
	figure_deinit(&f);
}

/* Every path of up to 12 calls of a graph whose edges lead from a smaller to a larger function. */
static void walk_acyclic(struct lucce *l, uint32_t node, struct lucce_id id)
{
	for (uint32_t e = 0; e < l->edges.count; e++) {
		struct lucce_step step;

		if (l->edges.items[e].caller != node)
			continue;
		step = lucce_enter(l, e, id);
		walk_acyclic(l, l->edges.items[e].callee, lucce_step_to(&step, id));
	}
}

/* A program without recursion falls silent after as many rounds as it has functions at most. */
static void test_quiet_programs(void)
{
	enum {
		FUNCTIONS = 12,
		EDGES = 26,
		PROGRAMS = 50,
	};
	struct rng r = {20150707};

	for (int program = 0; program < PROGRAMS; program++) {
		struct lucce l;
		uint64_t version;
		uint32_t n, e;

		CHECK_OK(lucce_init(&l, NULL, NULL));
		for (uint32_t i = 0; i < FUNCTIONS; i++)
			CHECK_OK(lucce_add_node(&l, &n));
		for (uint32_t i = 0; i < EDGES; i++) {
			uint32_t callee = 1 + (uint32_t)rng_below(&r, FUNCTIONS);

			CHECK_OK(lucce_add_edge(&l, (uint32_t)rng_below(&r, callee), callee, i, &e));
		}
		for (int round = 0; round < FUNCTIONS; round++)
			walk_acyclic(&l, LUCCE_ROOT, (struct lucce_id){0, 0});
		version = l.version;
		CHECK(version > FUNCTIONS + EDGES);
		walk_acyclic(&l, LUCCE_ROOT, (struct lucce_id){0, 0});
		CHECK_U64(l.version, version);
		lucce_deinit(&l);
	}
}

/* Two activations of B that were entered in different versions call C in turns. */
static void test_kept_steps(void)
{
	struct figure f;
	struct seen *frames[2], *entered[2];
	struct lucce_step kept[2] = {{0}, {0}};
	uint32_t edge;
	uint64_t version;

	figure_init(&f, false, NULL);
	frames[0] = walk(&f, "AB");
	frames[1] = walk(&f, "XB");
	edge = edge_of(&f, 'B', 'C', 1);
	CHECK(frames[0]->id.version < frames[1]->id.version);
	/* without: lv(B) is another each time */
	version = f.l.version;
	for (int i = 0; i < 10; i++)
		kept[i % 2] = lucce_enter(&f.l, edge, frames[i % 2]->id);
	CHECK_U64(f.l.version, version + 10 + 1);
	/* with: never */
	version = f.l.version;
	for (int i = 0; i < 2; i++) {
		CHECK(lucce_step_fits(&kept[i], frames[i]->id));
		CHECK(!lucce_step_fits(&kept[i], frames[!i]->id));
		entered[i] = &f.seen[f.seen_count++];
		*entered[i] = (struct seen){strdup(i ? "XBC" : "ABC"),
					    function_of(&f, 'C'),
					    lucce_step_to(&kept[i], frames[i]->id),
					    {0, 0}};
	}
	CHECK_U64(f.l.version, version);
	CHECK(!lucce_step_fits(&(struct lucce_step){0}, (struct lucce_id){0, 0}));
	CHECK(!lucce_step_fits(&(struct lucce_step){.version = LUCCE_LOST}, (struct lucce_id){0, 0}));
	figure_deinit(&f);
}

/* The same recursion again and again: with one step an edge, no level makes an event twice. */
static void test_kept_recursion(void)
{
	struct lucce_step steps[16] = {{0}};
	struct figure f;
	uint64_t version;

	figure_init(&f, false, NULL);
	walk_kept(&f, "ANM", steps);
	version = f.l.version;
	for (int i = 0; i < 5; i++)
		walk_kept(&f, "ANM", steps);
	CHECK_U64(f.l.version, version);
	walk(&f, "ANNNM");
	CHECK(f.l.version > version + 4);
	figure_deinit(&f);
}

/* ---- limits ---- */

/* Recursion over two sites, which doubles numCC at each level. */
static void check_outgrown(uint64_t max_number, size_t depth)
{
	const struct lucce_limits limits = {.max_number = max_number};
	char path[2 * PATH_MAX_CALLS + 1] = "A";
	uint64_t largest = 0;
	struct figure f;
	size_t len = 1;

	figure_init(&f, false, &limits);
	for (size_t i = 0; i < depth; i++) {
		if (i % 3)
			path[len++] = '2';
		path[len++] = 'N';
		path[len] = '\0';
		walk(&f, path);
		for (size_t n = 1; n < f.l.nodes.count; n++)
			if (f.l.nodes.items[n].count > largest)
				largest = f.l.nodes.items[n].count;
	}
	CHECK(largest <= (max_number ? max_number : INT64_MAX));
	CHECK(max_number < 10 || largest > max_number / 8);
	CHECK(f.l.resets > 0 && f.l.boundaries >= f.l.resets);
	for (int i = 0; i < LUCCE_LOSSES; i++)
		CHECK_U64(f.l.lost[i], 0);
	figure_deinit(&f);
}

static void test_numbers(void)
{
	check_outgrown(0, 100);
	check_outgrown(1, 60);
	check_outgrown(2, 60);
	check_outgrown(7, 60);
	check_outgrown(UINT64_MAX, 100);
}

/* The frames of an older generation call on, each over its boundary; of the root none is old. */
static void test_boundary(void)
{
	const struct lucce_limits limits = {.max_number = 2};
	struct figure f;
	struct seen *old, *c;
	struct lucce_step step, again;
	uint32_t edge;

	figure_init(&f, false, &limits);
	old = walk(&f, "AB");
	walk(&f, "XB");
	CHECK_U64(f.l.resets, 0);
	c = walk(&f, "YB"); /* the third context */
	CHECK_U64(f.l.resets, 1);
	CHECK_U64(f.l.boundaries, 1);
	CHECK_U64(c->id.number, 0);
	edge = edge_of(&f, 'B', 'C', 1);
	step = lucce_enter(&f.l, edge, old->id);
	CHECK(step.is_boundary && lucce_step_fits(&step, old->id));
	CHECK(!lucce_step_fits(&step, (struct lucce_id){1, old->id.version}));
	CHECK_U64(f.l.boundaries, 2);
	CHECK_U64(f.l.resets, 1);
	f.seen[f.seen_count++] =
		(struct seen){strdup("ABC"), function_of(&f, 'C'), lucce_step_to(&step, old->id), {0, 0}};
	/* Entered after the reset: no boundary. Two functions call C, of one context each. */
	again = lucce_enter(&f.l, edge, c->id);
	CHECK(!again.is_boundary);
	CHECK_U64(f.l.boundaries, 2);
	f.seen[f.seen_count++] =
		(struct seen){strdup("YBC"), function_of(&f, 'C'), lucce_step_to(&again, c->id), {0, 0}};
	walk(&f, "AB");
	CHECK_U64(f.l.boundaries, 2);
	/* its version has one context, that of its callee */
	read_log(&f);
	check_no_context(&f, 'C', (struct lucce_id){1, step.version});
	check_no_context(&f, 'B', (struct lucce_id){0, step.version});
	figure_deinit(&f);
}

/* Versions past 2^32 are as good as others. */
static void test_wide_versions(void)
{
	const struct lucce_limits limits = {.first_version = UINT32_MAX - 6};
	struct figure f;

	figure_init(&f, false, &limits);
	CHECK_U64(walk(&f, "AB")->id.version, UINT32_MAX);
	for (int i = 0; i < 3; i++)
		CHECK(walk(&f, "ABCBC")->id.version > UINT32_MAX);
	figure_deinit(&f);
}

/* What needs no version goes on when there are no more. */
static void test_last_version(void)
{
	struct lucce_limits limits = {.first_version = UINT32_MAX - 6, .max_version = UINT32_MAX};
	struct figure f;
	struct seen *ab;
	struct lucce_step step;
	uint32_t n = 77, edge;

	/* Two functions, two edges, numCC(A) and then lv(A) and numCC(B), which come together or not at all. */
	figure_init(&f, false, &limits);
	CHECK_U64(walk(&f, "AB")->id.version, LUCCE_LOST);
	CHECK_U64(f.l.lost[LUCCE_LOST_VERSIONS], 1);
	CHECK_U64(f.l.version, UINT32_MAX - 1);
	CHECK_U64(walk(&f, "A")->id.version, UINT32_MAX - 4);
	figure_deinit(&f);

	limits.first_version--;
	figure_init(&f, false, &limits);
	ab = walk(&f, "AB");
	CHECK_U64(f.l.version, UINT32_MAX);
	CHECK_ERROR(lucce_add_node(&f.l, &n), ERROR_OVERFLOW, "is the last one");
	CHECK_ERROR(lucce_add_edge(&f.l, 1, 1, 1, &n), ERROR_OVERFLOW, "is the last one");
	CHECK_U64(n, 77);
	CHECK_U64(walk(&f, "AB")->id.version, ab->id.version);
	edge = edge_of(&f, 'A', 'B', 2);
	CHECK_U64(edge, LUCCE_NO_EDGE);
	step = lucce_enter(&f.l, edge, (struct lucce_id){0, 0});
	CHECK_U64(step.version, LUCCE_LOST);
	CHECK_U64(lucce_step_to(&step, ab->id).version, LUCCE_LOST);
	CHECK_U64(f.l.lost[LUCCE_LOST_EDGE], 1);
	step = lucce_enter(&f.l, edge_of(&f, 'A', 'B', 1), lucce_step_to(&step, ab->id));
	CHECK_U64(step.version, LUCCE_LOST);
	CHECK_U64(f.l.lost[LUCCE_LOST_CALLER], 1);
	CHECK_U64(f.l.lost[LUCCE_LOST_VERSIONS], 0);
	figure_deinit(&f);
}

/* A new function needs four events with its edge and entry, of which the log holds three. */
static void test_pending(void)
{
	const struct lucce_limits limits = {.max_pending = LUCCE_ENTRY_EVENTS};
	struct figure f;
	struct seen *a;
	struct lucce_id lost;
	struct lucce_step step;
	uint32_t ab, n;
	uint64_t version;

	figure_init(&f, false, &limits);
	a = walk(&f, "A");
	CHECK_U64(f.l.log.count, 3);
	CHECK_ERROR(lucce_add_node(&f.l, &n), ERROR_OVERFLOW, "are not written yet");
	read_log(&f);
	ab = edge_of(&f, 'A', 'B', 1);
	version = f.l.version;
	/* lv(A) and numCC(B) do not fit behind two others */
	step = lucce_enter(&f.l, ab, a->id);
	lost = lucce_step_to(&step, a->id);
	CHECK_U64(lost.version, LUCCE_LOST);
	CHECK_U64(f.l.lost[LUCCE_LOST_PENDING], 1);
	CHECK_U64(f.l.version, version);
	CHECK_U64(f.l.log.count, 2);
	CHECK_U64(walk(&f, "A")->id.version, a->id.version);
	read_log(&f);
	walk(&f, "AB");
	CHECK_U64(f.l.lost[LUCCE_LOST_PENDING], 1);
	/* an owner that is short of memory lowers it */
	f.l.limits.max_pending = 1;
	CHECK_U64(f.l.log.count, 2);
	CHECK_U64(walk(&f, "A")->id.version, a->id.version);
	CHECK_U64(f.l.lost[LUCCE_LOST_PENDING], 1);
	figure_deinit(&f);
}

static void test_limits_that_leave_no_room(void)
{
	struct lucce l = {.version = 77};
	struct lucce_limits limits = {.max_pending = LUCCE_ENTRY_EVENTS - 1};

	CHECK_ERROR(lucce_init(&l, NULL, &limits), ERROR_ARGUMENT, NULL);
	limits = (struct lucce_limits){.first_version = 10, .max_version = 9};
	CHECK_ERROR(lucce_init(&l, NULL, &limits), ERROR_ARGUMENT, NULL);
	limits = (struct lucce_limits){.max_version = LUCCE_LOST};
	CHECK_ERROR(lucce_init(&l, NULL, &limits), ERROR_ARGUMENT, NULL);
	CHECK_U64(l.version, 77);
}

static void test_arguments(void)
{
	struct lucce l;
	uint32_t n = 77;

	CHECK_OK(lucce_init(&l, NULL, NULL));
	CHECK_ERROR(lucce_add_edge(&l, 0, 1, 0, &n), ERROR_ARGUMENT, NULL);
	CHECK_U64(n, 77);
	CHECK_OK(lucce_add_node(&l, &n));
	CHECK_U64(n, 1);
	CHECK_ERROR(lucce_add_edge(&l, 2, 1, 0, &n), ERROR_ARGUMENT, NULL);
	CHECK_ERROR(lucce_add_edge(&l, 1, LUCCE_ROOT, 0, &n), ERROR_ARGUMENT, NULL);
	CHECK_U64(l.edges.count, 0);
	CHECK_U64(l.log.count, 1);
	lucce_deinit(&l);
}

/* ---- memory ---- */

static uint64_t allowed; /* allocations that still succeed */

static void *alloc(void *state, size_t size_bytes)
{
	(void)state;
	return allowed && allowed-- ? malloc(size_bytes) : NULL;
}

static void *resize(void *state, void *block, size_t old_bytes, size_t new_bytes)
{
	(void)state;
	(void)old_bytes;
	return allowed && allowed-- ? realloc(block, new_bytes) : NULL;
}

static void release(void *state, void *block)
{
	(void)state;
	free(block);
}

static const struct allocator failing = {alloc, resize, release, NULL};

/* A log is read while every allocation fails once: each event is then added when there is memory again. */
static void check_short_history(const struct lucce_events *log)
{
	struct lucce_history h;
	uint64_t refused = 0;

	allowed = 0;
	CHECK_ERROR(lucce_history_init(&h, &failing, 0), ERROR_NO_MEMORY, NULL);
	lucce_history_deinit(&h);
	allowed = 1;
	CHECK_OK(lucce_history_init(&h, &failing, 0));
	for (size_t i = 0; i < log->count; i++) {
		struct error *err = NULL;

		for (uint64_t n = 0; n == 0 || err; n++) {
			CHECK_U64(h.version, i);
			allowed = n;
			err = lucce_history_add(&h, &log->items[i]);
			if (err)
				refused += (uint64_t)CHECK_ERROR(err, ERROR_NO_MEMORY, NULL);
		}
	}
	CHECK_U64(h.version, log->count);
	for (size_t e = 0; e < h.edges.count; e++) {
		const struct callgraph_edges *in = &h.nodes.items[h.edges.items[e].callee].in;

		CHECK(in->items[in->count - 1] >= e && in->count <= 2);
	}
	CHECK(refused > 10);
	lucce_history_deinit(&h);
}

/* A ring of functions, three times round; as much of it as memory is there for. Every context that is not lost decodes. */
static bool run_in(uint64_t allocations)
{
	enum {
		FUNCTIONS = 9,
		CALLS = 3 * FUNCTIONS,
	};
	struct lucce_id ids[CALLS + 1] = {{0, 0}};
	struct callgraph_edges edges = {0};
	struct lucce_history h;
	bool is_whole = true;
	struct error *err;
	struct lucce l;
	uint32_t n, e;

	allowed = allocations;
	err = lucce_init(&l, &failing, NULL);
	for (uint32_t i = 0; i < FUNCTIONS && !err; i++)
		err = lucce_add_node(&l, &n);
	for (uint32_t i = 0; i <= FUNCTIONS && !err; i++) {
		err = lucce_add_edge(&l, i, i < FUNCTIONS ? i + 1 : 1, 0, &e);
		CHECK_U64(l.edges.count, err ? i : i + 1);
	}
	if (err) {
		lucce_deinit(&l);
		return !CHECK_ERROR(err, ERROR_NO_MEMORY, NULL);
	}
	for (uint32_t i = 0; i < CALLS; i++) {
		struct lucce_step step = lucce_enter(&l, i ? 1 + (i - 1) % FUNCTIONS : 0, ids[i]);

		ids[i + 1] = lucce_step_to(&step, ids[i]);
		is_whole &= step.version != LUCCE_LOST;
	}
	CHECK(is_whole == !l.lost[LUCCE_LOST_MEMORY]);
	CHECK_OK(lucce_history_init(&h, NULL, 0));
	for (size_t i = 0; i < l.log.count; i++)
		CHECK_OK(lucce_history_add(&h, &l.log.items[i]));
	if (is_whole)
		check_short_history(&l.log);
	for (uint32_t i = 1; i <= CALLS && ids[i].version != LUCCE_LOST; i++) {
		edges.count = 0;
		CHECK_OK(lucce_decode(&h, 1 + (i - 1) % FUNCTIONS, ids[i], CALLS, &edges));
		CHECK_U64(edges.count, i);
	}
	callgraph_edges_deinit(&edges);
	lucce_history_deinit(&h);
	lucce_deinit(&l);
	return is_whole;
}

static void test_memory(void)
{
	uint64_t n = 0;

	while (n < 1000 && !run_in(n))
		n++;
	CHECK(n > 5 && n < 1000);
}

/* ---- decoding ---- */

static void test_decode_errors(void)
{
	struct callgraph_edges edges = {0};
	struct figure f;
	struct lucce_id id;
	uint32_t e;

	figure_init(&f, false, NULL);
	id = walk(&f, "ABCBC")->id;
	e = function_of(&f, 'C');
	CHECK_ERROR(lucce_decode(&f.history, e, id, 9, &edges), ERROR_NOT_FOUND, "the log ends at 0");
	read_log(&f);
	CHECK_OK(callgraph_edges_append(&edges, 77));
	CHECK_ERROR(lucce_decode(&f.history, e, id, 4, &edges), ERROR_OVERFLOW, "more than 4");
	CHECK_ERROR(lucce_decode(&f.history, e, (struct lucce_id){0, LUCCE_LOST}, 9, &edges), ERROR_NOT_FOUND, "lost");
	CHECK_ERROR(lucce_decode(&f.history, e, (struct lucce_id){100, id.version}, 9, &edges), ERROR_FORMAT, NULL);
	CHECK_ERROR(lucce_decode(&f.history, e, (struct lucce_id){0, 0}, 9, &edges), ERROR_FORMAT, NULL);
	CHECK_ERROR(lucce_decode(&f.history, 9, id, 9, &edges), ERROR_FORMAT, NULL);
	CHECK_ERROR(lucce_decode(&f.history, LUCCE_ROOT, id, 9, &edges), ERROR_FORMAT, NULL);
	CHECK_U64(edges.count, 1);
	CHECK_OK(lucce_decode(&f.history, LUCCE_ROOT, (struct lucce_id){0, 0}, 9, &edges));
	CHECK_U64(edges.count, 1);
	CHECK_OK(lucce_decode(&f.history, e, id, 5, &edges));
	CHECK_U64(edges.count, 6);
	CHECK_U64(edges.items[0], 77);
	CHECK_U64(edges.items[1], edge_of(&f, '.', 'A', 1));
	callgraph_edges_deinit(&edges);
	figure_deinit(&f);
}

static void test_refused_events(void)
{
	static const struct lucce_event good[] = {
		{.change = LUCCE_NODE, .index = 1},
		{.change = LUCCE_NODE, .index = 2},
		{.change = LUCCE_EDGE, .index = 1},
		{.change = LUCCE_COUNT, .index = 1, .number = 1},
		{.change = LUCCE_ENTERED, .index = 1, .version = 4},
		{.change = LUCCE_BOUNDARY, .index = 0, .version = 5},
	};
	static const struct lucce_event bad[] = {
		{.change = 0, .index = 1},
		{.change = 7, .index = 1},
		{.change = LUCCE_NODE, .index = 2},
		{.change = LUCCE_NODE, .index = 4},
		{.change = LUCCE_EDGE, .index = LUCCE_ROOT},
		{.change = LUCCE_EDGE, .index = 3},
		{.change = LUCCE_EDGE, .index = 1, .caller = 3},
		{.change = LUCCE_COUNT, .index = LUCCE_ROOT, .number = 2},
		{.change = LUCCE_COUNT, .index = 3, .number = 2},
		{.change = LUCCE_ENTERED, .index = LUCCE_ROOT, .version = 1},
		{.change = LUCCE_ENTERED, .index = 3, .version = 1},
		{.change = LUCCE_ENTERED, .index = 1, .version = 7},
		{.change = LUCCE_BOUNDARY, .index = 1, .version = 1},
		{.change = LUCCE_BOUNDARY, .index = 0, .version = 7},
	};
	struct callgraph_edges edges = {0};
	struct lucce_history h;

	CHECK_OK(lucce_history_init(&h, NULL, 0));
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
		CHECK_OK(lucce_history_add(&h, &good[i]));
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		CHECK_ERROR(lucce_history_add(&h, &bad[i]), ERROR_FORMAT, "version 7 of the call graph");
	CHECK_U64(h.version, 6);
	/* the boundary is not where it says: of the root there is only {0, 0} */
	CHECK_ERROR(lucce_decode(&h, 1, (struct lucce_id){0, 6}, 9, &edges), ERROR_FORMAT, NULL);
	CHECK_ERROR(lucce_decode(&h, 2, (struct lucce_id){0, 6}, 9, &edges), ERROR_FORMAT, NULL);
	CHECK_ERROR(lucce_decode(&h, 1, (struct lucce_id){1, 6}, 9, &edges), ERROR_FORMAT, NULL);
	lucce_history_deinit(&h);
	CHECK_OK(lucce_history_init(&h, NULL, LUCCE_LOST - 1));
	CHECK_ERROR(lucce_history_add(&h, &good[0]), ERROR_FORMAT, NULL);
	lucce_history_deinit(&h);
	callgraph_edges_deinit(&edges);
}

int main(void)
{
	test_whole_graph();
	test_new_edge();
	test_recursion();
	test_direct_recursion();
	test_quiet_loop();
	test_quiet_programs();
	test_kept_steps();
	test_kept_recursion();
	test_numbers();
	test_boundary();
	test_wide_versions();
	test_last_version();
	test_pending();
	test_limits_that_leave_no_room();
	test_arguments();
	test_memory();
	test_decode_errors();
	test_refused_events();
	return check_status();
}

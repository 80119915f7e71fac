/*
 * test_call_tree.c - trees of random profiles against sums by written ways: of each context every way from where the tree begins.
 *
 *     test_call_tree [SEED]
 */
#include "model/tables/call_tree.h"
#include "random_profile.h"

enum {
	PROFILES = 300,
	WAYS_MAX = 4096,
	WAY_MAX = 4096,
};

struct way {
	char text[WAY_MAX];
	uint64_t total, self;
};

struct oracle {
	struct way ways[WAYS_MAX];
	size_t count;
};

static struct way *way_of(struct oracle *o, const char *text)
{
	for (size_t i = 0; i < o->count; i++)
		if (strcmp(o->ways[i].text, text) == 0)
			return &o->ways[i];
	if (!CHECK(o->count < WAYS_MAX))
		exit(1);
	o->ways[o->count] = (struct way){0};
	snprintf(o->ways[o->count].text, WAY_MAX, "%s", text);
	return &o->ways[o->count++];
}

static bool is_chosen(const struct frame *f, const struct pattern_vec *functions)
{
	return patterns_match(functions, f->name) || patterns_match(functions, f->link_name);
}

static bool allocates(const struct frame *f)
{
	return strcmp(f->link_name, "malloc") == 0 || strcmp(f->link_name, "_Znwm") == 0;
}

static void add_context(struct oracle *o, const struct frame_vec *frames, uint64_t value,
			const struct call_tree_options *options, bool skips)
{
	static char text[WAY_MAX];
	size_t first = 0, end = frames->count, len = 0;
	int64_t step = options->is_up ? -1 : 1, last;

	while (skips && end > 1 && allocates(&frames->items[end - 1]))
		end--;
	if (options->functions->count)
		while (first < end && !is_chosen(&frames->items[first], options->functions))
			first++;
	else if (options->is_up)
		first = end - 1;
	if (first == end || !value)
		return;
	last = options->is_up ? 0 : (int64_t)end - 1;
	for (int64_t i = (int64_t)first; i >= 0 && i < (int64_t)end; i += step) {
		struct way *way;

		len += (size_t)snprintf(text + len, WAY_MAX - len, "|%s", frames->items[i].name);
		way = way_of(o, text);
		way->total += value;
		way->self += i == last ? value : 0;
	}
}

static void compare(struct oracle *o, const struct call_tree *t, double least)
{
	static char texts[WAYS_MAX][WAY_MAX];
	size_t wanted = 0;

	CHECK(t->nodes.count <= WAYS_MAX);
	for (size_t i = 0; i < o->count; i++)
		wanted += (double)o->ways[i].total >= least;
	CHECK_U64(t->nodes.count - 1, wanted);
	CHECK(!t->is_cut);
	for (uint32_t i = 1; i < t->nodes.count; i++) {
		const struct call_tree_node *node = &t->nodes.items[i];
		const struct way *want;

		CHECK(node->parent < i);
		CHECK(snprintf(texts[i], WAY_MAX, "%s|%s", node->parent ? texts[node->parent] : "", node->frame->name) <
		      WAY_MAX);
		want = way_of(o, texts[i]);
		CHECK_U64(node->total, want->total);
		CHECK_U64(node->self, want->self);
		CHECK(!node->next_sibling || t->nodes.items[node->next_sibling].total <= node->total);
	}
}

static void check_tree(const struct view *v, const struct call_tree_options *options, bool is_of_heap)
{
	static struct oracle o;
	struct frame_vec frames = {0};
	struct call_tree t;
	struct error *err = call_tree_create(v, options, &t);

	o.count = 0;
	for (size_t i = 0; i < v->matching_rows; i++) {
		CHECK_OK(view_frames(v->profile, v->rows[i].node, &frames));
		add_context(&o, &frames, v->rows[i].value, options, is_of_heap && !options->functions->count);
	}
	frame_vec_deinit(&frames);
	if (!o.count && options->functions->count) {
		CHECK_ERROR(err, ERROR_NOT_FOUND, "no context has a function of this name");
	} else if (CHECK_OK(err)) {
		compare(&o, &t, options->min * (double)v->profile->metrics.items[v->metric].total / 100);
		call_tree_deinit(&t);
	}
}

static void check_profile(bool is_of_heap)
{
	struct pattern_vec none = {0}, some = {0};
	struct profile p;
	struct view v;

	CHECK_OK(patterns_add(&some, "--callers", pick(2) ? "f" : "/^m.*[cn]$/"));
	CHECK_OK(profile_init(&p));
	build_profile(&p, is_of_heap);
	profile_finish(&p);
	if (CHECK_OK(view_create(&p, &(struct view_options){0}, "test", &v))) {
		for (unsigned int kind = 0; kind < 8; kind++)
			check_tree(&v,
				   &(struct call_tree_options){.is_up = kind & 1,
							       .functions = kind & 2 ? &some : &none,
							       .min = kind & 4 ? 7.5 : 0},
				   is_of_heap);
		view_deinit(&v);
	}
	profile_deinit(&p);
	patterns_deinit(&some);
}

/* A context far deeper than trees are: it is cut, and says so. */
static void check_cut(void)
{
	const struct metric metric = {.name = "n", .unit = UNIT_COUNT};
	struct pattern_vec none = {0};
	struct profile p;
	struct view v;
	uint32_t node = 0, metrics;

	CHECK_OK(profile_init(&p));
	CHECK_OK(profile_add_metrics(&p, &metric, 1, &metrics));
	for (int i = 0; i < 100000; i++)
		CHECK_OK(profile_add_frame(&p, node, &(struct frame){.name = "f"}, &node));
	CHECK_OK(profile_add_value(&p, node, metrics, 1));
	CHECK_OK(view_create(&p, &(struct view_options){0}, "test", &v));
	for (int is_up = 0; is_up < 2; is_up++) {
		struct call_tree t;

		CHECK_OK(call_tree_create(&v, &(struct call_tree_options){.is_up = is_up, .functions = &none}, &t));
		CHECK(t.is_cut);
		CHECK_U64(t.nodes.count, TREE_LEVELS_MAX + 1);
		call_tree_deinit(&t);
	}
	view_deinit(&v);
	profile_deinit(&p);
}

int main(int argc, char **argv)
{
	take_seed(argc, argv);
	for (uint32_t i = 0; i < PROFILES; i++)
		check_profile(i % 2);
	check_cut();
	return check_status();
}

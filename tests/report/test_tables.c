/*
 * test_tables.c - tables of random profiles against sums that are made context by context: every row, its self and its total.
 *
 *     test_tables [SEED]
 */
#include <stdlib.h>

#include "check.h"
#include "model/tables/table.h"

enum {
	PROFILES = 300,
	NAMES = 6,
	ROWS_MAX = 512,
};

static uint64_t state;

static uint32_t pick(uint32_t below)
{
	state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(state >> 33) % below;
}

/* Few names, so that contexts recurse; of some frames no line, no file or no image is known. */
static struct frame random_frame(void)
{
	static const char *const names[NAMES] = {"main",           "f",      "p.Class.g",
						 "std::sort<a;b>", "malloc", "operator new(unsigned long)"};
	static const char *const link_names[NAMES] = {"main", "f", "p.Class.g()V", "_Zsort", "malloc", "_Znwm"};
	static const char *const files[] = {"a.c", "b.c"}, *const images[] = {"/bin/a", "/lib/a.so", NULL};
	uint32_t name = pick(NAMES), place = pick(6);
	struct frame f = {.name = names[name], .link_name = link_names[name], .image = images[pick(3)]};

	if (name == 2)
		f.flags = FRAME_METHOD;
	if (place < 4) {
		f.file = files[place / 2];
		f.line = place % 2 ? 10 : 0;
		f.column = f.line ? pick(2) : 0;
	}
	return f;
}

static void build_profile(struct profile *p, bool is_of_heap)
{
	const struct metric metric = {.name = "n", .unit = UNIT_COUNT, .is_of_heap = is_of_heap};
	uint32_t contexts = 1 + pick(40), metrics;

	CHECK_OK(profile_add_metrics(p, &metric, 1, &metrics));
	for (uint32_t i = 0; i < contexts; i++) {
		uint32_t node = p->nodes.count > 1 ? pick((uint32_t)p->nodes.count) : 0, depth = 1 + pick(6);

		for (uint32_t d = 0; d < depth; d++) {
			struct frame f = random_frame();

			if (!node && pick(2))
				f = (struct frame){.name = pick(2) ? "[thread 7]" : "[thread]", .flags = FRAME_ROOT};
			CHECK_OK(profile_add_frame(p, node, &f, &node));
		}
		CHECK_OK(profile_add_value(p, node, metrics, pick(5) ? pick(1000) : 0));
	}
}

/* ---- the oracle: each context for itself ---- */

enum {
	LABEL_MAX = 128,
};

struct expected {
	char label[LABEL_MAX];
	uint64_t self, total;
};

struct oracle {
	struct expected rows[ROWS_MAX];
	size_t count;
};

/* What the i-th frame of a context counts for, written out. */
static void label_of(const struct frame_vec *frames, size_t i, enum frame_key kind, char ret[LABEL_MAX])
{
	const struct frame *f = &frames->items[i], *root = &frames->items[0];
	bool has_thread = strncmp(root->name, "[thread 7", 9) == 0;

	switch (kind) {
	case KEY_FUNCTION:
		snprintf(ret, LABEL_MAX, "%s", f->name);
		break;
	case KEY_LINE:
		snprintf(ret, LABEL_MAX, "%s %s:%u", f->name, f->line ? f->file : "", f->line);
		break;
	case KEY_MODULE:
		snprintf(ret, LABEL_MAX, "%s",
			 strcmp(f->name, "p.Class.g") == 0 ? "p.Class"
			 : f->file                         ? f->file
			 : !f->image                       ? "[no image]"
			 : strcmp(f->image, "/bin/a") == 0 ? "a"
							   : "a.so");
		break;
	case KEY_IMAGE:
		snprintf(ret, LABEL_MAX, "%s", f->image ? f->image : "[no image]");
		break;
	case KEY_THREAD:
		snprintf(ret, LABEL_MAX, "%s", has_thread ? root->name : "[no thread]");
		break;
	}
}

static struct expected *row_of(struct oracle *o, const char *label)
{
	for (size_t i = 0; i < o->count; i++)
		if (strcmp(o->rows[i].label, label) == 0)
			return &o->rows[i];
	o->rows[o->count] = (struct expected){0};
	snprintf(o->rows[o->count].label, LABEL_MAX, "%s", label);
	return &o->rows[o->count++];
}

static bool allocates(const struct frame *f)
{
	return strcmp(f->link_name, "malloc") == 0 || strcmp(f->link_name, "_Znwm") == 0;
}

static void add_context(struct oracle *o, const struct frame_vec *frames, uint64_t value, enum frame_key kind,
			bool is_of_heap)
{
	size_t leaf = frames->count - 1;
	char label[LABEL_MAX], other[LABEL_MAX];

	for (size_t i = 0; i < frames->count; i++) {
		bool is_again = false;

		label_of(frames, i, kind, label);
		for (size_t j = 0; j < i; j++) {
			label_of(frames, j, kind, other);
			is_again |= strcmp(label, other) == 0;
		}
		if (!is_again)
			row_of(o, label)->total += value;
	}
	while (is_of_heap && leaf && allocates(&frames->items[leaf]))
		leaf--;
	label_of(frames, leaf, kind, label);
	row_of(o, label)->self += value;
}

static void compare(struct oracle *o, const struct table *t, enum frame_key kind)
{
	size_t with_value = 0;

	for (size_t i = 0; i < o->count; i++)
		with_value += o->rows[i].total != 0;
	CHECK_U64(t->row_count, with_value);
	CHECK_U64(t->all_rows, with_value);
	for (size_t i = 0; i < t->row_count; i++) {
		const struct table_row *row = &t->rows[i];
		struct frame frame = *row->frame;
		char label[LABEL_MAX];

		label_of(&(struct frame_vec){.items = &frame, .count = 1}, 0, kind, label);
		CHECK_U64(row->self, row_of(o, label)->self);
		CHECK_U64(row->total, row_of(o, label)->total);
		if (kind != KEY_LINE)
			CHECK_TEXT(row->name, label);
		if (i)
			CHECK(t->rows[i - 1].self >= row->self);
	}
}

static void check_view(const struct view *v, const struct table_kind *kind, bool is_of_heap)
{
	static struct oracle o;
	struct table_options options = {.kind = kind};
	struct frame_vec frames = {0};
	struct table t;

	o.count = 0;
	for (size_t i = 0; i < v->matching_rows; i++) {
		CHECK_OK(view_frames(v->profile, v->rows[i].node, &frames));
		add_context(&o, &frames, v->rows[i].value, kind->key, is_of_heap);
	}
	frame_vec_deinit(&frames);
	if (CHECK_OK(table_create(v, &options, &t))) {
		compare(&o, &t, kind->key);
		table_deinit(&t);
	}
	options.top = 2;
	if (CHECK_OK(table_create(v, &options, &t))) {
		CHECK(t.row_count <= 2 && t.row_count <= t.all_rows);
		table_deinit(&t);
	}
}

static void check_profile(bool is_of_heap, bool is_filtered)
{
	static const char *const globs[] = {"f", "ma*"};
	const struct view_options options = {.functions = globs, .function_count = is_filtered ? 2 : 0, .top = 3};
	struct profile p;
	struct view v;
	struct error *err;

	CHECK_OK(profile_init(&p));
	build_profile(&p, is_of_heap);
	profile_finish(&p);
	err = view_create(&p, &options, "test", &v);
	if (err && err->code == ERROR_NOT_FOUND) {
		error_destroy(err);
	} else if (CHECK_OK(err)) {
		const struct table_kind *kind;

		for (size_t i = 0; (kind = (const struct table_kind *)word_table_at(&table_kinds, i)); i++)
			check_view(&v, kind, is_of_heap);
		view_deinit(&v);
	}
	profile_deinit(&p);
}

int main(int argc, char **argv)
{
	state = argc > 1 ? strtoull(argv[1], NULL, 0) : 20261128;
	printf("seed %llu\n", (unsigned long long)state);
	for (uint32_t i = 0; i < PROFILES; i++)
		check_profile(i % 2, i % 3 == 0);
	return check_status();
}

/*
 * test_tables.c - tables of random profiles against sums that are made context by context: every row, its self and its total.
 *
 *     test_tables [SEED]
 */
#include "model/tables/table.h"
#include "random_profile.h"

enum {
	PROFILES = 300,
	ROWS_MAX = 512,
};

/* ---- the oracle: each context for itself ---- */

enum {
	LABEL_MAX = 2048,
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
	case KEY_CONTEXT:
		*ret = '\0';
		for (size_t n = 0, len = 0; n <= i; n++, len = strlen(ret))
			snprintf(ret + len, LABEL_MAX - len, "%s%s", n ? ";" : "",
				 strcmp(frames->items[n].name, "std::sort<a;b>") ? frames->items[n].name
										 : "std::sort<a:b>");
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

		if (kind == KEY_CONTEXT)
			snprintf(label, LABEL_MAX, "%s", row->name);
		else
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
	struct pattern_vec patterns = {0};
	const struct view_options options = {.functions = &patterns, .top = 3};
	struct profile p;
	struct view v;
	struct error *err;

	if (is_filtered)
		CHECK_OK(patterns_add(&patterns, "--function", pick(2) ? "ma*" : "/^f$|g$/"));
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
	patterns_deinit(&patterns);
}

int main(int argc, char **argv)
{
	take_seed(argc, argv);
	for (uint32_t i = 0; i < PROFILES; i++)
		check_profile(i % 2, i % 3 == 0);
	return check_status();
}

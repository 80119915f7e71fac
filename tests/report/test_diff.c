/*
 * test_diff.c - differences of random profiles against sums by written contexts; plain names.
 *
 *     test_diff [SEED]
 */
#include "model/tables/profile_diff.h"
#include "random_profile.h"

enum {
	PAIRS = 200,
	ROWS_MAX = 1024,
	TEXT_MAX = 2048,
};

struct row {
	char text[TEXT_MAX];
	uint64_t self[DIFF_SIDES], total[DIFF_SIDES];
};

/* Contexts, or functions. */
struct rows {
	struct row rows[ROWS_MAX];
	size_t count;
};

static struct row *row_of(struct rows *rows, const char *text)
{
	for (size_t i = 0; i < rows->count; i++)
		if (strcmp(rows->rows[i].text, text) == 0)
			return &rows->rows[i];
	if (!CHECK(rows->count < ROWS_MAX))
		exit(1);
	rows->rows[rows->count] = (struct row){0};
	snprintf(rows->rows[rows->count].text, TEXT_MAX, "%s", text);
	return &rows->rows[rows->count++];
}

static void write_context(const struct frame_vec *frames, char ret[TEXT_MAX])
{
	size_t len = 0;

	*ret = '\0';
	for (size_t i = 0; i < frames->count; i++)
		len += (size_t)snprintf(ret + len, TEXT_MAX - len, "|%s", frames->items[i].name);
	CHECK(len < TEXT_MAX);
}

static void add_view(const struct view *v, enum diff_side side, struct rows *contexts, struct rows *functions)
{
	struct frame_vec frames = {0};
	char text[TEXT_MAX];

	for (size_t i = 0; i < v->matching_rows; i++) {
		uint64_t value = v->rows[i].value;

		CHECK_OK(view_frames(v->profile, v->rows[i].node, &frames));
		write_context(&frames, text);
		row_of(contexts, text)->self[side] += value;
		row_of(functions, frames.items[frames.count - 1].name)->self[side] += value;
		for (size_t j = 0; j < frames.count; j++) {
			bool is_again = false;

			for (size_t k = 0; k < j; k++)
				is_again |= strcmp(frames.items[k].name, frames.items[j].name) == 0;
			if (!is_again)
				row_of(functions, frames.items[j].name)->total[side] += value;
		}
	}
	frame_vec_deinit(&frames);
}

static size_t count_changed(const struct rows *rows)
{
	size_t count = 0;

	for (size_t i = 0; i < rows->count; i++)
		count += memcmp(&rows->rows[i].self[DIFF_OLD], &rows->rows[i].self[DIFF_NEW], sizeof(uint64_t)) != 0 ||
			 rows->rows[i].total[DIFF_OLD] != rows->rows[i].total[DIFF_NEW];
	return count;
}

static void compare(const struct profile_diff *d, struct rows *contexts, struct rows *functions)
{
	struct frame_vec frames = {0};
	char text[TEXT_MAX];

	CHECK_U64(d->context_count, count_changed(contexts));
	CHECK_U64(d->function_count, count_changed(functions));
	for (size_t i = 0; i < d->context_count; i++) {
		const struct diff_context *c = &d->contexts[i];

		CHECK_OK(view_frames(&d->both, c->node, &frames));
		write_context(&frames, text);
		for (int side = 0; side < DIFF_SIDES; side++)
			CHECK_U64(c->value[side], row_of(contexts, text)->self[side]);
		if (i)
			CHECK(diff_change(c[-1].value[0], c[-1].value[1]) >= diff_change(c->value[0], c->value[1]));
	}
	for (size_t i = 0; i < d->function_count; i++) {
		const struct diff_function *f = &d->functions[i];

		for (int side = 0; side < DIFF_SIDES; side++) {
			CHECK_U64(f->self[side], row_of(functions, f->name)->self[side]);
			CHECK_U64(f->total[side], row_of(functions, f->name)->total[side]);
		}
	}
	frame_vec_deinit(&frames);
}

static void check_pair(void)
{
	static struct rows contexts, functions;
	struct profile profiles[DIFF_SIDES];
	struct view views[DIFF_SIDES];
	struct profile_diff d;

	contexts.count = functions.count = 0;
	for (enum diff_side side = DIFF_OLD; side < DIFF_SIDES; side++) {
		CHECK_OK(profile_init(&profiles[side]));
		build_profile(&profiles[side], false);
		profile_finish(&profiles[side]);
		if (!CHECK_OK(view_create(&profiles[side], &(struct view_options){0}, "test", &views[side])))
			exit(1);
		add_view(&views[side], side, &contexts, &functions);
	}
	if (CHECK_OK(profile_diff_create(&views[DIFF_OLD], &views[DIFF_NEW], &d))) {
		compare(&d, &contexts, &functions);
		profile_diff_deinit(&d);
	}
	for (int side = 0; side < DIFF_SIDES; side++) {
		view_deinit(&views[side]);
		profile_deinit(&profiles[side]);
	}
}

static void check_names(void)
{
	static const struct {
		const char *name, *plain;
	} cases[] = {
		{"f", "f"},
		{"f.constprop.0", "f"},
		{"f.isra.0.cold", "f"},
		{"f.part.12.lto_priv.3", "f"},
		{"ns::f(int) [clone .isra.0]", "ns::f(int)"},
		{"f(int) [clone .part.1] [clone .cold]", "f(int)"},
		{"f.coldest", "f.coldest"},
		{"f.part_of", "f.part_of"},
		{"f.llvm.1234567", "f"},
		{"app.part.Class.method", "app.Class.method"}, /* a package of that name: on both sides */
		{"[clone]", "[clone]"},
		{"libc.so.6+0x12", "libc.so.6+0x12"},
		{"", ""},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char plain[64];

		diff_plain_name(cases[i].name, plain);
		CHECK_TEXT(plain, cases[i].plain);
	}
}

int main(int argc, char **argv)
{
	take_seed(argc, argv);
	check_names();
	for (uint32_t i = 0; i < PAIRS; i++)
		check_pair();
	return check_status();
}

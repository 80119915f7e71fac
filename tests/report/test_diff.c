/*
 * test_diff.c - differences of random profiles against sums by written contexts; plain names; call sites of random edits against what was
 * edited; renamed functions.
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

static size_t count_changed_functions(const struct rows *rows)
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

	CHECK_U64(d->function_count, count_changed_functions(functions));
	for (size_t i = 0; i < d->context_count; i++) {
		const struct diff_context *c = &d->contexts[i];

		CHECK_OK(view_frames(&d->both, c->node, &frames));
		write_context(&frames, text);
		for (int side = 0; side < DIFF_SIDES; side++) {
			CHECK(c->value[side] <= row_of(contexts, text)->self[side]);
			row_of(contexts, text)->total[side] += c->value[side]; /* over the sites */
		}
		if (i)
			CHECK(diff_change(c[-1].value[0], c[-1].value[1]) >= diff_change(c->value[0], c->value[1]));
	}
	for (size_t i = 0; i < contexts->count; i++) {
		const struct row *row = &contexts->rows[i];

		CHECK_U64(row->total[DIFF_NEW] - row->total[DIFF_OLD], row->self[DIFF_NEW] - row->self[DIFF_OLD]);
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
	if (CHECK_OK(profile_diff_create(&views[DIFF_OLD], &views[DIFF_NEW], &(struct diff_options){0}, &d))) {
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

/* ---- two builds ---- */

/* A function of each build calls others; all contexts of a build have the same value, so that each differs. */
struct build {
	struct profile profile;
	struct view view;
	uint32_t metric;
	uint64_t value;
};

static void begin_build(struct build *b, uint64_t value)
{
	const struct metric metric = {.name = "n", .unit = UNIT_COUNT};

	b->value = value;
	CHECK_OK(profile_init(&b->profile));
	CHECK_OK(profile_add_metrics(&b->profile, &metric, 1, &b->metric));
}

static void add_call(struct build *b, const char *caller, const char *file, uint32_t line, const char *callee)
{
	const struct frame from = {.name = caller, .file = file, .line = line}, to = {.name = callee, .file = file};
	uint32_t node;

	CHECK_OK(profile_add_frame(&b->profile, 0, &from, &node));
	CHECK_OK(profile_add_frame(&b->profile, node, &to, &node));
	CHECK_OK(profile_add_value(&b->profile, node, b->metric, b->value));
}

static void add_code(struct build *b, const char *link_name, uint64_t size_bytes)
{
	struct profile_function f = {.size_bytes = size_bytes};

	CHECK_OK(profile_copy_string(&b->profile, link_name, &f.link_name));
	CHECK_OK(profile_function_vec_append(&b->profile.functions, f));
}

static bool diff_builds(struct build builds[DIFF_SIDES], struct profile_diff *ret)
{
	for (int side = 0; side < DIFF_SIDES; side++) {
		profile_finish(&builds[side].profile);
		if (!CHECK_OK(
			    view_create(&builds[side].profile, &(struct view_options){0}, "test", &builds[side].view)))
			exit(1);
	}
	return CHECK_OK(
		profile_diff_create(&builds[DIFF_OLD].view, &builds[DIFF_NEW].view, &(struct diff_options){0}, ret));
}

static void end_builds(struct build builds[DIFF_SIDES])
{
	for (int side = 0; side < DIFF_SIDES; side++) {
		view_deinit(&builds[side].view);
		profile_deinit(&builds[side].profile);
	}
}

/* The site of the caller in a context; NULL: names alone. */
static const struct diff_site *caller_site(const struct profile_diff *d, const struct diff_context *c)
{
	return diff_site_of(d, d->both.nodes.items[c->node].parent);
}

/* Calls "10f 12g" of main. */
static void add_calls(struct build *b, const char *text)
{
	char callee[] = "?";
	unsigned int line;
	int len;

	for (; sscanf(text, " %u%1[a-z]%n", &line, callee, &len) == 2; text += len)
		add_call(b, "main", "a.c", line, callee);
}

static int compare_texts(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* "f 10>13|f 11>-|g": each context once, sorted. */
static void write_sites(const struct profile_diff *d, char ret[TEXT_MAX])
{
	char texts[64][32];
	size_t len = 0;

	for (size_t i = 0; i < d->context_count && CHECK(i < 64); i++) {
		const struct diff_site *site = caller_site(d, &d->contexts[i]);
		const char *name = d->both.frames.items[d->both.nodes.items[d->contexts[i].node].frame].name;

		if (site)
			snprintf(texts[i], sizeof texts[i], "%.8s %u>%u", name, site->line[DIFF_OLD],
				 site->line[DIFF_NEW]);
		else
			snprintf(texts[i], sizeof texts[i], "%.8s", name);
	}
	qsort(texts, d->context_count, sizeof *texts, compare_texts);
	*ret = '\0';
	for (size_t i = 0; i < d->context_count; i++)
		len += (size_t)snprintf(ret + len, TEXT_MAX - len, "%s%s", i ? "|" : "", texts[i]);
}

static void check_sites(void)
{
	static const struct {
		const char *old, *new, *sites;
	} cases[] = {
		{"10f", "20f", "f"},                                            /* one call: names are enough */
		{"10f 20f", "13f 23f", "f 10>13|f 20>23"},                      /* as many: by order */
		{"10f 20f", "13f 23f 30f", "f"},                                /* which one is new? */
		{"10f 20f 30g", "13f 23f 33g 40f", "f 0>40|f 10>13|f 20>23|g"}, /* g says it */
		{"10g 12f 14f 20h", "10g 12f 20h", "f 12>12|f 14>0|g|h"},       /* nothing moved: the second is gone */
		{"10g 12f 20h", "10g 14f 20h", "f|g|h"},                        /* one each */
		{"10g 12f 14f 20h", "10g 15f 17f 23h", "f 12>15|f 14>17|g|h"},  /* lines came in between */
		{"10g 12f 14f 20h", "10g 15f 16f 17f 23h", "f|g|h"},            /* and a call */
		{"10f 11f 20h 30g", "10f 11f 20g 30h", "f 10>10|f 11>11|g|h"},  /* g and h changed places */
		{"10f 20f", "", "f 10>0|f 20>0"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct build builds[DIFF_SIDES] = {0};
		struct profile_diff d;
		char text[TEXT_MAX];

		begin_build(&builds[DIFF_OLD], 1);
		begin_build(&builds[DIFF_NEW], 2);
		add_calls(&builds[DIFF_OLD], cases[i].old);
		add_calls(&builds[DIFF_NEW], cases[i].new);
		if (diff_builds(builds, &d)) {
			write_sites(&d, text);
			CHECK_TEXT(text, cases[i].sites);
			profile_diff_deinit(&d);
		}
		end_builds(builds);
	}
}

enum {
	CALLS_MAX = 40,
	EDITS = 300,
};

/* What is matched is what was edited: lines come in, calls go, and calls of functions that were not there come. */
static void check_edits(void)
{
	uint32_t new_line_of[CALLS_MAX * 4] = {0}, line = 1, new_line = 1, calls = 2 + pick(CALLS_MAX - 2),
					 names = 1 + pick(8);
	struct build builds[DIFF_SIDES] = {0};
	struct profile_diff d;

	begin_build(&builds[DIFF_OLD], 1);
	begin_build(&builds[DIFF_NEW], 2);
	for (uint32_t i = 0; i < calls; i++) {
		char callee[8], fresh[8];
		uint32_t lines = 1 + pick(3);

		snprintf(callee, sizeof callee, "f%u", pick(names));
		snprintf(fresh, sizeof fresh, "n%u", i);
		line += lines;
		new_line += lines + (pick(6) ? 0 : 1 + pick(3));
		add_call(&builds[DIFF_OLD], "main", "a.c", line, callee);
		if (!pick(8))
			continue;
		add_call(&builds[DIFF_NEW], "main", "a.c", new_line, callee);
		new_line_of[line] = new_line;
		if (!pick(8))
			add_call(&builds[DIFF_NEW], "main", "a.c", ++new_line, fresh);
	}
	if (diff_builds(builds, &d)) {
		for (size_t i = 0; i < d.context_count; i++) {
			const struct diff_site *site = caller_site(&d, &d.contexts[i]);

			if (site && site->line[DIFF_OLD] && site->line[DIFF_NEW])
				CHECK_U64(site->line[DIFF_NEW], new_line_of[site->line[DIFF_OLD]]);
		}
		profile_diff_deinit(&d);
	}
	end_builds(builds);
}

struct call {
	const char *caller, *callee, *file;
};

struct code {
	const char *name;
	uint64_t size_bytes;
};

/* Lists end with an empty entry. */
static void check_renames(void)
{
	static const struct {
		const char *renames; /* "old>new|..." */
		struct call calls[DIFF_SIDES][6];
		struct code code[DIFF_SIDES][6];
	} cases[] = {
		/* a leaf, by its caller, its file and its size */
		{"a>b",
		 {{{"main", "a", "x.c"}}, {{"main", "b", "x.c"}}},
		 {{{"main", 9}, {"a", 100}}, {{"main", 9}, {"b", 104}}}},
		/* the size differs */
		{"",
		 {{{"main", "a", "x.c"}}, {{"main", "b", "x.c"}}},
		 {{{"main", 9}, {"a", 100}}, {{"main", 9}, {"b", 300}}}},
		/* both builds have both: they only did not run */
		{"",
		 {{{"main", "a", "x.c"}}, {{"main", "b", "x.c"}}},
		 {{{"main", 9}, {"a", 100}, {"b", 100}}, {{"main", 9}, {"b", 100}, {"a", 100}}}},
		/* another caller */
		{"",
		 {{{"main", "a", "x.c"}, {"f", "g", "x.c"}}, {{"f", "b", "x.c"}, {"main", "g", "x.c"}}},
		 {{{"main", 9}, {"f", 9}, {"g", 9}, {"a", 100}}, {{"main", 9}, {"f", 9}, {"g", 9}, {"b", 100}}}},
		/* two that could be it, and nothing tells them apart */
		{"",
		 {{{"main", "a", "x.c"}}, {{"main", "b", "x.c"}, {"main", "c", "x.c"}}},
		 {{{"main", 9}, {"a", 100}}, {{"main", 9}, {"b", 100}, {"c", 100}}}},
		/* the size does */
		{"a>b|c>d",
		 {{{"main", "a", "x.c"}, {"main", "c", "x.c"}}, {{"main", "b", "x.c"}, {"main", "d", "x.c"}}},
		 {{{"main", 9}, {"a", 100}, {"c", 104}}, {{"main", 9}, {"d", 104}, {"b", 100}}}},
		/* a caller and its callee, one after the other */
		{"a>b|f>g",
		 {{{"main", "f", "x.c"}, {"f", "a", "x.c"}}, {{"main", "g", "x.c"}, {"g", "b", "x.c"}}},
		 {{{"main", 9}, {"f", 50}, {"a", 100}}, {{"main", 9}, {"g", 50}, {"b", 100}}}},
		/* renamed and moved: a callee in common instead of the file */
		{"a>b",
		 {{{"main", "a", "x.c"}, {"a", "g", "x.c"}}, {{"main", "b", "x.c"}, {"b", "g", "y.c"}}},
		 {{{"main", 9}, {"a", 100}, {"g", 9}}, {{"main", 9}, {"b", 100}, {"g", 9}}}},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct build builds[DIFF_SIDES] = {0};
		struct profile_diff d;
		char text[TEXT_MAX] = "";
		size_t len = 0;

		for (int side = 0; side < DIFF_SIDES; side++) {
			begin_build(&builds[side], (uint64_t)side + 1);
			for (const struct call *c = cases[i].calls[side]; c->caller; c++)
				add_call(&builds[side], c->caller, c->file, 5, c->callee);
			for (const struct code *c = cases[i].code[side]; c->name; c++)
				add_code(&builds[side], c->name, c->size_bytes);
		}
		if (diff_builds(builds, &d)) {
			for (size_t j = 0; j < d.renames.count; j++)
				len += (size_t)snprintf(text + len, TEXT_MAX - len, "%s%s>%s", j ? "|" : "",
							d.renames.items[j].names[DIFF_OLD],
							d.renames.items[j].names[DIFF_NEW]);
			CHECK_TEXT(text, cases[i].renames);
			profile_diff_deinit(&d);
		}
		end_builds(builds);
	}
}

int main(int argc, char **argv)
{
	take_seed(argc, argv);
	check_names();
	for (uint32_t i = 0; i < PAIRS; i++)
		check_pair();
	check_sites();
	for (uint32_t i = 0; i < EDITS; i++)
		check_edits();
	check_renames();
	return check_status();
}

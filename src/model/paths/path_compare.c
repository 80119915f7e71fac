/* path_compare.c - joins the counts of two profiles by (name_key, cfg_key, number) and sorts out what is on one side only. */
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/order.h"
#include "base/number_text.h"
#include "model/paths/path_compare.h"

/* The facts about one (name_key, cfg_key). */
struct known {
	const struct path_profile *profile;
	const struct path_function *function; /* with metadata, if possible */
	bool is_tested;                       /* the tested programs have it */
	bool has_run;                         /* in the tests */
	bool is_part;                         /* and may have run in others there */
	uint64_t field;                       /* counted */
	const struct path_function *in_field; /* ran there */
	bool is_fielded;                      /* the field's programs have it, run or not */
};
VEC_DECLARE(known_vec, struct known);
VEC_DECLARE(function_vec, const struct path_function *);

struct compare {
	const struct path_compare_options *options;
	struct path_comparison *c;
	struct hashmap function_map; /* name_key, cfg_key, path_count -> known */
	struct known_vec known;
	struct hashmap chosen;   /* name_key of the functions that the options name */
	struct hashmap name_map; /* name_key of the tested functions -> names */
	struct function_vec names;
	struct hashmap pair_map; /* known, number -> pairs */
	struct path_pair_vec pairs;
};

static uint64_t add_saturated(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static struct key function_key(const struct path_function *f)
{
	return (struct key){{f->name_key, f->cfg_key, f->path_count}};
}

static struct error *get_known(struct compare *m, const struct path_profile *p, const struct path_function *f,
			       uint32_t *ret)
{
	struct key key = function_key(f);
	struct known *known;
	struct error *err = hashmap_add(&m->function_map, &key, ret);

	if (!err && *ret == m->known.count)
		err = known_vec_append(&m->known, (struct known){0});
	if (err)
		return err;
	known = &m->known.items[*ret];
	if (!known->function || (!known->function->meta && f->meta)) {
		known->function = f;
		known->profile = p;
	}
	return NULL;
}

static struct error *add_entries(struct compare *m, uint32_t number, const struct path_function *f, bool is_field)
{
	struct error *err = NULL;

	for (uint32_t i = 0; i < f->entry_count && !err; i++) {
		struct key key = {{number, f->entries[i].number, 0}};
		uint64_t count = f->entries[i].count;
		struct path_pair *pair;
		uint32_t at;

		if (!count)
			continue;
		err = hashmap_add(&m->pair_map, &key, &at);
		if (!err && at == m->pairs.count)
			err = path_pair_vec_append(&m->pairs, (struct path_pair){.number = f->entries[i].number});
		if (err)
			return err;
		pair = &m->pairs.items[at];
		if (is_field)
			pair->field = add_saturated(pair->field, count);
		else
			pair->tested = add_saturated(pair->tested, count);
	}
	return err;
}

static struct error *add_tested(struct compare *m, const struct path_function *f)
{
	struct key name = {{f->name_key, 0, 0}};
	uint32_t number, at;
	struct error *err = get_known(m, m->c->tested, f, &number);

	if (err)
		return err;
	m->known.items[number].is_tested = true;
	m->known.items[number].has_run |= f->total || f->activations;
	m->known.items[number].is_part |= f->is_part;
	err = hashmap_add(&m->name_map, &name, &at);
	if (!err && at == m->names.count)
		err = function_vec_append(&m->names, f);
	if (!err)
		m->c->tested_total = add_saturated(m->c->tested_total, f->total);
	return err ? err : add_entries(m, number, f, false);
}

static struct error *add_field(struct compare *m, const struct path_function *f)
{
	uint32_t number;
	struct known *known;
	struct error *err;

	if (!f->total && !f->activations) {
		struct key key = function_key(f);

		if (hashmap_find(&m->function_map, &key, &number))
			m->known.items[number].is_fielded = true;
		return NULL;
	}
	err = get_known(m, m->c->field, f, &number);
	if (err)
		return err;
	known = &m->known.items[number];
	known->field = add_saturated(known->field, f->total);
	known->in_field = f;
	known->is_fielded = true;
	m->c->field_total = add_saturated(m->c->field_total, f->total);
	return add_entries(m, number, f, true);
}

/* By key and not by name: a side whose program is not there has keys only, the other side knows the names. */
static struct error *choose(struct compare *m, const struct path_profile *p)
{
	struct error *err = NULL;

	for (size_t i = 0; i < p->functions.count && !err; i++) {
		const struct path_function *f = &p->functions.items[i];
		struct key name = {{f->name_key, 0, 0}};
		uint32_t at;

		if (path_view_matches(&m->options->view, f))
			err = hashmap_add(&m->chosen, &name, &at);
	}
	return err;
}

static bool is_chosen(const struct compare *m, const struct path_function *f)
{
	struct key name = {{f->name_key, 0, 0}};
	uint32_t at;

	return m->options->view.function_count == 0 || hashmap_find(&m->chosen, &name, &at);
}

static struct error *add_all(struct compare *m)
{
	const struct path_profile *sides[] = {m->c->tested, m->c->field};
	struct error *err = NULL;

	for (int i = 0; i < 2 && m->options->view.function_count && !err; i++)
		err = choose(m, sides[i]);
	for (int is_field = 0; is_field < 2; is_field++) {
		for (size_t i = 0; i < sides[is_field]->functions.count && !err; i++) {
			const struct path_function *f = &sides[is_field]->functions.items[i];

			if (is_chosen(m, f))
				err = is_field ? add_field(m, f) : add_tested(m, f);
		}
	}
	return err;
}

/* The tested programs have the name, with other paths only. */
static bool is_changed(const struct compare *m, const struct known *known, uint32_t *ret_name)
{
	struct key name = {{known->function->name_key, 0, 0}};

	return !known->is_tested && hashmap_find(&m->name_map, &name, ret_name);
}

static struct error *find_changes(struct compare *m)
{
	struct error *err = NULL;

	for (size_t i = 0; i < m->known.count && !err; i++) {
		const struct known *known = &m->known.items[i];
		struct path_change change = {
			.profile = known->profile, .field = known->function, .count = known->field};
		uint32_t name;

		if (!known->in_field || !is_changed(m, known, &name))
			continue;
		change.tested = m->names.items[name];
		m->c->changes_total = add_saturated(m->c->changes_total, known->field);
		err = path_change_vec_append(&m->c->changes, change);
	}
	return err;
}

static struct error *find_news(struct compare *m)
{
	struct error *err = NULL;

	for (size_t i = 0; i < m->pairs.count && !err; i++) {
		struct path_pair pair = m->pairs.items[i];
		const struct known *known = &m->known.items[m->pair_map.keys[i].words[0]];
		uint32_t name;

		m->c->tested_paths += pair.tested != 0;
		m->c->field_paths += pair.field != 0;
		if (pair.tested || is_changed(m, known, &name))
			continue;
		pair.profile = known->profile;
		pair.function = known->function;
		pair.news = known->has_run                               ? PATH_NOVEL_PATH
			    : known->is_part                             ? PATH_NOVEL_BODY
			    : known->is_tested || !m->c->is_tested_known ? PATH_NOVEL_FUNCTION
									 : PATH_NOVEL_UNTESTED;
		m->c->news_total = add_saturated(m->c->news_total, pair.field);
		err = path_pair_vec_append(&m->c->news, pair);
	}
	return err;
}

static uint64_t choices_of(const struct path_function *f)
{
	return f->meta ? (uint64_t)f->meta->selects + f->meta->switch_tables : 0;
}

/* Finds what the field ran and paths do not distinguish. */
static struct error *find_blurs(struct compare *m)
{
	struct error *err = NULL;

	for (size_t i = 0; i < m->known.count && !err; i++) {
		const struct known *known = &m->known.items[i];

		if (!known->in_field)
			continue;
		path_choices_add(&m->c->choices, known->profile, known->function);
		if (choices_of(known->function))
			err = path_blur_vec_append(&m->c->blurs, (struct path_blur){known->profile, known->function});
	}
	for (size_t i = 0; i < m->c->field->recordings.count; i++) {
		const struct path_recording *r = &m->c->field->recordings.items[i];

		m->c->lost += r->header.dropped_path_tables || r->header.dropped_paths || r->header.lost_children ||
			      r->uncommitted || r->truncated;
	}
	return err;
}

static int compare_blurs(const void *a, const void *b)
{
	const struct path_blur *x = a, *y = b;

	return compare_u64(choices_of(y->function), choices_of(x->function)) ?:
	       compare_u64(x->function->name_key, y->function->name_key) ?:
	       compare_u64(x->function->cfg_key, y->function->cfg_key);
}

static int compare_identity(const struct path_pair *x, const struct path_pair *y)
{
	return compare_u64(x->function->name_key, y->function->name_key) ?:
	       compare_u64(x->function->cfg_key, y->function->cfg_key) ?: compare_u64(x->number, y->number);
}

static int compare_field(const void *a, const void *b)
{
	const struct path_pair *x = a, *y = b;

	return compare_u64(y->field, x->field) ?: compare_identity(x, y);
}

static int compare_tested(const void *a, const void *b)
{
	const struct path_pair *x = a, *y = b;

	return compare_u64(y->tested, x->tested) ?: compare_identity(x, y);
}

static int compare_changes(const void *a, const void *b)
{
	const struct path_change *x = a, *y = b;

	return compare_u64(y->count, x->count) ?: compare_u64(x->field->name_key, y->field->name_key);
}

/* Whether the metadata is complete: without it, it is not known what did not run. */
static bool knows_all(const struct path_profile *p)
{
	for (size_t i = 0; i < p->images.count; i++)
		if (!p->images.items[i]->has_meta)
			return false;
	return true;
}

/* Hot in the tests: the most frequent paths that together make up the wanted part. Cold: hardly any of it in the field. */
static struct error *find_cold(struct compare *m)
{
	struct path_comparison *c = m->c;
	double wanted = (double)c->tested_total * m->options->hot / 100;
	double sum = 0;
	struct error *err = NULL;

	for (size_t i = 0; i < m->pairs.count; i++) {
		const struct known *known = &m->known.items[m->pair_map.keys[i].words[0]];

		m->pairs.items[i].is_fielded = known->is_fielded || !c->is_field_known;
		m->pairs.items[i].function = known->function;
		m->pairs.items[i].profile = known->profile;
	}
	if (m->pairs.count) /* pair_map's numbers are not good from here on */
		qsort(m->pairs.items, m->pairs.count, sizeof *m->pairs.items, compare_tested);
	for (size_t i = 0; i < m->pairs.count && sum < wanted && !err; i++) {
		const struct path_pair *pair = &m->pairs.items[i];

		sum += (double)pair->tested;
		if (c->field_total && pair->is_fielded &&
		    digits_share(pair->field, c->field_total) * PATH_COLD <=
			    digits_share(pair->tested, c->tested_total))
			err = path_pair_vec_append(&c->cold, *pair);
	}
	return err;
}

static void compare_deinit(struct compare *m)
{
	hashmap_deinit(&m->function_map);
	known_vec_deinit(&m->known);
	hashmap_deinit(&m->chosen);
	hashmap_deinit(&m->name_map);
	function_vec_deinit(&m->names);
	hashmap_deinit(&m->pair_map);
	path_pair_vec_deinit(&m->pairs);
}

/* Fills m->c. */
static struct error *find_all(struct compare *m)
{
	struct path_comparison *c = m->c;
	struct error *err;

	err = add_all(m) ?: find_changes(m) ?: find_news(m) ?: find_blurs(m) ?: find_cold(m);
	if (err)
		return err;
	if (c->news.count)
		qsort(c->news.items, c->news.count, sizeof *c->news.items, compare_field);
	if (c->changes.count)
		qsort(c->changes.items, c->changes.count, sizeof *c->changes.items, compare_changes);
	if (c->blurs.count)
		qsort(c->blurs.items, c->blurs.count, sizeof *c->blurs.items, compare_blurs);
	return NULL;
}

struct error *path_compare(const struct path_profile *tested, const struct path_profile *field,
			   const struct path_compare_options *options, const char *producer,
			   struct path_comparison *ret)
{
	struct path_comparison c = {.tested = tested,
				    .field = field,
				    .is_tested_known = knows_all(tested),
				    .is_field_known = knows_all(field),
				    .producer = producer,
				    .top = options->view.top,
				    .hot = options->hot};
	CLEANUP(compare_deinit) struct compare m = {.options = options, .c = &c};
	struct error *err = find_all(&m);

	if (err)
		path_comparison_deinit(&c);
	else
		*ret = c;
	return err;
}

void path_comparison_deinit(struct path_comparison *c)
{
	path_pair_vec_deinit(&c->news);
	path_pair_vec_deinit(&c->cold);
	path_change_vec_deinit(&c->changes);
	path_blur_vec_deinit(&c->blurs);
	*c = (struct path_comparison){0};
}

/*
 * diff_sites.c - call sites of both sides as lists by file and line, matched between anchors, then by their order in a function.
 */
#include <stdlib.h>
#include <string.h>

#include "base/hashmap.h"
#include "base/order.h"
#include "model/tables/diff_sites.h"

/* A caller and what it calls; NULL: it records there. */
struct label {
	uint32_t count[DIFF_SIDES];
	bool has_unknown; /* no line is known of some of its calls */
	/* of the file that is looked at */
	uint32_t in_file[DIFF_SIDES];
	uint32_t last[DIFF_SIDES]; /* in the order */
	/* that nothing has matched */
	uint32_t open[DIFF_SIDES];
};
VEC_DECLARE(label_vec, struct label);

enum element_state {
	ELEMENT_OPEN,
	ELEMENT_MATCHED,
	ELEMENT_ALONE, /* the other side does not have it */
};

struct element {
	uint32_t label;
	uint32_t frame;     /* of the side's profile */
	const char *caller; /* names */
	const char *file;
	uint32_t line, column;
	enum element_state state;
	uint32_t site;
	uint32_t gap; /* how many matched elements its caller has before it */
};
VEC_DECLARE(element_vec, struct element);

/* An element of either side at the same place of the lists. */
struct anchor {
	uint32_t at[DIFF_SIDES];
	int64_t moved; /* lines */
};
VEC_DECLARE(anchor_vec, struct anchor);

struct matching {
	const struct diff_names *sides;
	struct profile *both;
	struct hashmap label_map;
	struct label_vec labels;
	struct element_vec elements[DIFF_SIDES]; /* by number */
	struct hashmap element_map[DIFF_SIDES];
	uint32_t *order[DIFF_SIDES]; /* numbers of elements, sorted */
	struct anchor_vec anchors;   /* of one file */
	struct diff_sites ret;
};

/* ---- the elements ---- */

static struct error *label_of(struct matching *m, const char *caller, const char *callee, uint32_t *ret)
{
	struct error *err = hashmap_add(&m->label_map, &(struct key){{(uintptr_t)caller, (uintptr_t)callee, 0}}, ret);

	return err || *ret < m->labels.count ? err : label_vec_append(&m->labels, (struct label){0});
}

/* The element of a call from that frame, + 1; 0: its line is not known. */
static struct error *add_element(struct matching *m, enum diff_side side, uint32_t frame, const char *callee,
				 uint32_t *ret)
{
	const struct diff_names *n = &m->sides[side];
	const struct frame *f = &n->view->profile->frames.items[frame];
	struct element_vec *to = &m->elements[side];
	struct element new = {.frame = frame,
			      .caller = n->names[frame],
			      .file = n->files[frame],
			      .line = f->line,
			      .column = f->column};
	uint32_t number;
	struct error *err = label_of(m, new.caller, callee, &new.label);

	*ret = 0;
	if (err)
		return err;
	if (!new.line || !new.file) {
		m->labels.items[new.label].has_unknown = true;
		return NULL;
	}
	err = hashmap_add(&m->element_map[side],
			  &(struct key){{(uint64_t)new.label << 32 | new.line, (uintptr_t)new.file, new.column}},
			  &number);
	if (!err && number == to->count) {
		err = element_vec_append(to, new);
		m->labels.items[new.label].count[side]++;
	}
	*ret = number + 1;
	return err;
}

static bool ends_at_calls(const struct view *v)
{
	const struct metric *metric = &v->profile->metrics.items[v->metric];

	return metric->is_of_heap || metric->is_of_calls;
}

/* Elements of a side, whose numbers are in ret.of_nodes and ret.of_leaves until they have sites. */
static struct error *add_elements(struct matching *m, enum diff_side side)
{
	const struct view *v = m->sides[side].view;
	const struct tree_node *nodes = v->profile->nodes.items;
	struct error *err = NULL;

	for (size_t n = 1; n < v->profile->nodes.count && !err; n++)
		if (nodes[n].parent)
			err = add_element(m, side, nodes[nodes[n].parent].frame, m->sides[side].names[nodes[n].frame],
					  &m->ret.of_nodes[side][n]);
	if (!ends_at_calls(m->sides[DIFF_OLD].view) || !ends_at_calls(m->sides[DIFF_NEW].view))
		return err;
	for (size_t i = 0; i < v->matching_rows && !err; i++)
		err = add_element(m, side, nodes[v->rows[i].node].frame, NULL,
				  &m->ret.of_leaves[side][v->rows[i].node]);
	return err;
}

static int compare_lines(const struct element *x, const struct element *y)
{
	return compare_u64((uintptr_t)x->file, (uintptr_t)y->file) ?:
	       compare_u64(x->line, y->line) ?:
	       compare_u64(x->column, y->column) ?:
	       compare_u64(x->label, y->label);
}

static int by_line(const void *a, const void *b, void *elements)
{
	const struct element *e = elements;

	return compare_lines(&e[*(const uint32_t *)a], &e[*(const uint32_t *)b]);
}

static int by_caller(const void *a, const void *b, void *elements)
{
	const struct element *e = elements, *x = &e[*(const uint32_t *)a], *y = &e[*(const uint32_t *)b];

	return compare_u64((uintptr_t)x->caller, (uintptr_t)y->caller) ?: compare_lines(x, y);
}

static int by_label(const void *a, const void *b, void *elements)
{
	const struct element *e = elements, *x = &e[*(const uint32_t *)a], *y = &e[*(const uint32_t *)b];

	return compare_u64(x->label, y->label) ?: compare_u64(x->gap, y->gap) ?: compare_lines(x, y);
}

static void sort_elements(struct matching *m, int (*compare)(const void *, const void *, void *))
{
	for (int side = 0; side < DIFF_SIDES; side++)
		qsort_r(m->order[side], m->elements[side].count, sizeof *m->order[side], compare,
			m->elements[side].items);
}

static struct element *element_at(const struct matching *m, enum diff_side side, uint32_t at)
{
	return &m->elements[side].items[m->order[side][at]];
}

/* ---- sites ---- */

static struct error *set_side(struct matching *m, enum diff_side side, const struct element *e, struct diff_site *site)
{
	site->line[side] = e->line;
	site->column[side] = e->column;
	return profile_copy_string(m->both, m->sides[side].view->profile->frames.items[e->frame].file,
				   &site->file[side]);
}

/* Either may be NULL. */
static struct error *add_site(struct matching *m, struct element *old, struct element *new)
{
	struct element *const of[DIFF_SIDES] = {old, new};
	struct diff_site site = {0};
	struct error *err = NULL;

	for (enum diff_side side = DIFF_OLD; side < DIFF_SIDES && !err; side++) {
		if (!of[side])
			continue;
		of[side]->state = old && new ? ELEMENT_MATCHED : ELEMENT_ALONE;
		of[side]->site = (uint32_t)m->ret.sites.count;
		err = set_side(m, side, of[side], &site);
	}
	return err ?: diff_site_vec_append(&m->ret.sites, site);
}

/* ---- by file ---- */

struct range {
	uint32_t begin[DIFF_SIDES], end[DIFF_SIDES]; /* in the orders */
};

static void count_labels(struct matching *m, const struct range *r)
{
	for (enum diff_side side = DIFF_OLD; side < DIFF_SIDES; side++)
		for (uint32_t i = r->begin[side]; i < r->end[side]; i++)
			for (int of = 0; of < DIFF_SIDES; of++)
				m->labels.items[element_at(m, side, i)->label].in_file[of] = 0;
	for (enum diff_side side = DIFF_OLD; side < DIFF_SIDES; side++) {
		for (uint32_t i = r->begin[side]; i < r->end[side]; i++) {
			struct label *l = &m->labels.items[element_at(m, side, i)->label];

			l->in_file[side]++;
			l->last[side] = i;
		}
	}
}

/* Those of pairs, which rise on the old side, that rise on the new side as well: as many as can be. */
static struct error *keep_longest(struct anchor_vec *pairs)
{
	uint32_t *ends = calloc(pairs->count + 1, sizeof *ends); /* by length, the pair with the smallest end */
	uint32_t *before = calloc(pairs->count + 1, sizeof *before);
	struct anchor *kept = calloc(pairs->count + 1, sizeof *kept);
	uint32_t longest = 0;
	struct error *err = ends && before && kept ? NULL : &error_no_memory;

	for (uint32_t i = 0; i < pairs->count && !err; i++) {
		uint32_t low = 0, high = longest;

		while (low < high) {
			uint32_t middle = low + (high - low) / 2;

			if (pairs->items[ends[middle]].at[DIFF_NEW] < pairs->items[i].at[DIFF_NEW])
				low = middle + 1;
			else
				high = middle;
		}
		before[i] = low ? ends[low - 1] : 0;
		ends[low] = i;
		longest += low == longest;
	}
	for (uint32_t i = longest, at = longest ? ends[longest - 1] : 0; i-- > 0 && !err; at = before[at])
		kept[i] = pairs->items[at];
	if (longest && !err)
		memcpy(pairs->items, kept, longest * sizeof *kept);
	pairs->count = longest;
	free(ends);
	free(before);
	free(kept);
	return err;
}

static struct error *find_anchors(struct matching *m, const struct range *r)
{
	struct error *err = NULL;

	count_labels(m, r);
	m->anchors.count = 0;
	for (uint32_t i = r->begin[DIFF_OLD]; i < r->end[DIFF_OLD] && !err; i++) {
		const struct element *old = element_at(m, DIFF_OLD, i);
		const struct label *l = &m->labels.items[old->label];

		if (l->in_file[DIFF_OLD] == 1 && l->in_file[DIFF_NEW] == 1) {
			uint32_t at = l->last[DIFF_NEW];

			err = anchor_vec_append(
				&m->anchors,
				(struct anchor){{i, at}, (int64_t)element_at(m, DIFF_NEW, at)->line - old->line});
		}
	}
	return err ?: keep_longest(&m->anchors);
}

/* Elements that moved by so many lines. */
static struct error *match_moved(struct matching *m, const struct range *r, int64_t moved)
{
	uint32_t first = r->begin[DIFF_NEW];
	struct error *err = NULL;

	for (uint32_t i = r->begin[DIFF_OLD]; i < r->end[DIFF_OLD] && !err; i++) {
		struct element *old = element_at(m, DIFF_OLD, i);
		int64_t line = old->line + moved;

		while (first < r->end[DIFF_NEW] && element_at(m, DIFF_NEW, first)->line < line)
			first++;
		for (uint32_t j = first; j < r->end[DIFF_NEW] && !err; j++) {
			struct element *new = element_at(m, DIFF_NEW, j);

			if (new->line > line)
				break;
			if (new->label == old->label &&new->state == ELEMENT_OPEN) {
				err = add_site(m, old, new);
				break;
			}
		}
	}
	return err;
}

static struct error *leave_alone(struct matching *m, const struct range *r)
{
	struct error *err = NULL;

	for (enum diff_side side = DIFF_OLD; side < DIFF_SIDES; side++) {
		for (uint32_t i = r->begin[side]; i < r->end[side] && !err; i++) {
			struct element *e = element_at(m, side, i);

			if (e->state == ELEMENT_OPEN)
				err = side == DIFF_OLD ? add_site(m, e, NULL) : add_site(m, NULL, e);
		}
	}
	return err;
}

/* Between two anchors. Where they moved differently, lines came or went between them, and say nothing. */
static struct error *match_gap(struct matching *m, const struct anchor *from, const struct anchor *to)
{
	struct range gap;

	if (from->moved != to->moved)
		return NULL;
	for (int side = 0; side < DIFF_SIDES; side++) {
		gap.begin[side] = from->at[side] + 1;
		gap.end[side] = to->at[side];
	}
	return match_moved(m, &gap, from->moved) ?: leave_alone(m, &gap);
}

static struct error *match_file(struct matching *m, const struct range *file)
{
	struct error *err = find_anchors(m, file);

	for (size_t i = 0; i < m->anchors.count && !err; i++) {
		const struct anchor *a = &m->anchors.items[i];

		err = i ? match_gap(m, a - 1, a) : NULL;
		err = err
			      ?: add_site(m, element_at(m, DIFF_OLD, a->at[DIFF_OLD]),
					  element_at(m, DIFF_NEW, a->at[DIFF_NEW]));
	}
	return err;
}

/* The elements of one file, from `begin` on. */
static uint32_t end_of_file(const struct matching *m, enum diff_side side, uint32_t begin, const char *file)
{
	uint32_t end = begin;

	while (end < m->elements[side].count && element_at(m, side, end)->file == file)
		end++;
	return end;
}

static struct error *match_files(struct matching *m)
{
	uint32_t at[DIFF_SIDES] = {0};
	struct error *err = NULL;

	sort_elements(m, by_line);
	while (at[DIFF_OLD] < m->elements[DIFF_OLD].count && !err) {
		const char *file = element_at(m, DIFF_OLD, at[DIFF_OLD])->file;
		struct range r;

		while (at[DIFF_NEW] < m->elements[DIFF_NEW].count &&
		       (uintptr_t)element_at(m, DIFF_NEW, at[DIFF_NEW])->file < (uintptr_t)file)
			at[DIFF_NEW]++;
		for (enum diff_side side = DIFF_OLD; side < DIFF_SIDES; side++) {
			r.begin[side] = at[side];
			r.end[side] = at[side] = end_of_file(m, side, at[side], file);
		}
		err = match_file(m, &r);
	}
	return err;
}

/* ---- by function ---- */

static void number_gaps(struct matching *m, enum diff_side side)
{
	uint32_t gap = 0;

	for (uint32_t i = 0; i < m->elements[side].count; i++) {
		struct element *e = element_at(m, side, i);

		if (i && element_at(m, side, i - 1)->caller != e->caller)
			gap = 0;
		e->gap = gap;
		gap += e->state == ELEMENT_MATCHED;
	}
}

/* Open elements of a label between the same matched ones, in the order by label. */
struct open_run {
	uint32_t at[DIFF_SIDES];
	uint32_t count[DIFF_SIDES];
};

/* Advances over what comes before. */
static void count_run(const struct matching *m, enum diff_side side, const struct element *of, struct open_run *run)
{
	uint32_t i = run->at[side];

	for (; i < m->elements[side].count; i++) {
		const struct element *e = element_at(m, side, i);

		if (e->label > of->label || (e->label == of->label && e->gap >= of->gap))
			break;
	}
	run->at[side] = i;
	run->count[side] = 0;
	for (; i < m->elements[side].count; i++) {
		const struct element *e = element_at(m, side, i);

		if (e->label != of->label || e->gap != of->gap)
			break;
		run->count[side] += e->state == ELEMENT_OPEN;
	}
}

static struct element *next_open(const struct matching *m, enum diff_side side, uint32_t *at)
{
	while (element_at(m, side, *at)->state != ELEMENT_OPEN)
		++*at;
	return element_at(m, side, (*at)++);
}

/* As many open sites of a callee on either side, between the same matched ones: they are matched in their order. */
static struct error *match_equal_runs(struct matching *m)
{
	struct open_run run = {0};
	struct error *err = NULL;

	for (uint32_t i = 0; i < m->elements[DIFF_OLD].count && !err; i++) {
		const struct element *e = element_at(m, DIFF_OLD, i);

		if (e->state != ELEMENT_OPEN)
			continue;
		for (enum diff_side side = DIFF_OLD; side < DIFF_SIDES; side++)
			count_run(m, side, e, &run);
		if (run.count[DIFF_OLD] != run.count[DIFF_NEW])
			continue;
		for (uint32_t left = run.count[DIFF_OLD], old = run.at[DIFF_OLD], new = run.at[DIFF_NEW]; left && !err;
		     left--) {
			struct element *from = next_open(m, DIFF_OLD, &old);

			err = add_site(m, from, next_open(m, DIFF_NEW, &new));
		}
	}
	return err;
}

/* What is open on one side alone is not on the other; what is open on both cannot be told apart. */
static struct error *close_rest(struct matching *m)
{
	struct error *err = NULL;

	for (enum diff_side side = DIFF_OLD; side < DIFF_SIDES; side++)
		for (uint32_t i = 0; i < m->elements[side].count; i++) {
			const struct element *e = &m->elements[side].items[i];

			m->labels.items[e->label].open[side] += e->state == ELEMENT_OPEN;
		}
	for (uint32_t i = 0; i < m->elements[DIFF_OLD].count && !err; i++) {
		struct element *e = &m->elements[DIFF_OLD].items[i];

		if (e->state == ELEMENT_OPEN && !m->labels.items[e->label].open[DIFF_NEW])
			err = add_site(m, e, NULL);
	}
	for (uint32_t i = 0; i < m->elements[DIFF_NEW].count && !err; i++) {
		struct element *e = &m->elements[DIFF_NEW].items[i];

		if (e->state == ELEMENT_OPEN && !m->labels.items[e->label].open[DIFF_OLD])
			err = add_site(m, NULL, e);
	}
	return err;
}

static struct error *match_functions(struct matching *m)
{
	struct error *err;

	sort_elements(m, by_caller);
	number_gaps(m, DIFF_OLD);
	number_gaps(m, DIFF_NEW);
	sort_elements(m, by_label);
	err = match_equal_runs(m);
	return err ?: close_rest(m);
}

/* ---- all of it ---- */

/* Elements become sites, of calls from several places on some side. */
static void number_sites(const struct matching *m, enum diff_side side, uint32_t *elements)
{
	for (size_t n = 0; n < m->sides[side].view->profile->nodes.count; n++) {
		const struct element *e;
		const struct label *l;

		if (!elements[n])
			continue;
		e = &m->elements[side].items[elements[n] - 1];
		l = &m->labels.items[e->label];
		elements[n] = l->has_unknown || (l->count[DIFF_OLD] < 2 && l->count[DIFF_NEW] < 2) ? 0 : e->site;
	}
}

static struct error *create(struct matching *m)
{
	struct error *err = diff_site_vec_append(&m->ret.sites, (struct diff_site){0});

	for (enum diff_side side = DIFF_OLD; side < DIFF_SIDES && !err; side++) {
		size_t count = m->sides[side].view->profile->nodes.count;

		m->ret.of_nodes[side] = calloc(count, sizeof *m->ret.of_nodes[side]);
		m->ret.of_leaves[side] = calloc(count, sizeof *m->ret.of_leaves[side]);
		err = m->ret.of_nodes[side] && m->ret.of_leaves[side] ? add_elements(m, side) : &error_no_memory;
	}
	for (enum diff_side side = DIFF_OLD; side < DIFF_SIDES && !err; side++) {
		m->order[side] = calloc(m->elements[side].count + 1, sizeof *m->order[side]);
		if (!m->order[side])
			return &error_no_memory;
		for (uint32_t i = 0; i < m->elements[side].count; i++)
			m->order[side][i] = i;
	}
	err = err ?: match_files(m) ?: match_functions(m);
	for (enum diff_side side = DIFF_OLD; side < DIFF_SIDES && !err; side++) {
		number_sites(m, side, m->ret.of_nodes[side]);
		number_sites(m, side, m->ret.of_leaves[side]);
	}
	return err;
}

struct error *diff_sites_create(const struct diff_names sides[DIFF_SIDES], struct profile *both, struct diff_sites *ret)
{
	struct matching m = {.sides = sides, .both = both};
	struct error *err = create(&m);

	for (int side = 0; side < DIFF_SIDES; side++) {
		element_vec_deinit(&m.elements[side]);
		hashmap_deinit(&m.element_map[side]);
		free(m.order[side]);
	}
	hashmap_deinit(&m.label_map);
	label_vec_deinit(&m.labels);
	anchor_vec_deinit(&m.anchors);
	if (err)
		diff_sites_deinit(&m.ret);
	else
		*ret = m.ret;
	return err;
}

void diff_sites_deinit(struct diff_sites *s)
{
	for (int side = 0; side < DIFF_SIDES; side++) {
		free(s->of_nodes[side]);
		free(s->of_leaves[side]);
	}
	diff_site_vec_deinit(&s->sites);
	*s = (struct diff_sites){0};
}

/*
 * path_coverage.c - collects (place, group, function, count) of every block, sorts, and folds: the largest in one function, the
 * sum over the functions of a group, the largest over groups. A group is the source of one function, named by where it is
 * defined.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/hash.h"
#include "base/order.h"
#include "model/paths/branch_coverage.h"
#include "model/paths/path_folded.h"
#include "model/paths/path_coverage.h"
#include "model/paths/path_steps.h"

struct piece {
	uint32_t file;
	uint32_t line;
	uint64_t group;
	uint32_t function; /* in the view; behind these, others */
	uint32_t node;
	uint64_t count;
	bool is_part;
};
VEC_DECLARE(piece_vec, struct piece);

struct way {
	struct branch_way at;
	uint64_t reached;
	uint64_t count;
	bool is_part;
	struct pathmeta_outcome outcome;
	uint32_t to_line;
};
VEC_DECLARE(way_vec, struct way);

struct collect {
	const struct path_view *v;
	struct path_lines *l;
	struct hashmap file_map;
	struct hashmap definitions; /* hash of a link name -> index in groups */
	struct piece_vec pieces;
	struct way_vec ways;
};

static uint64_t text_hash(uint64_t hash, const char *text)
{
	return hash_bytes(hash, text, strlen(text));
}

static struct key key_of_file(const char *name)
{
	return (struct key){{text_hash(HASH_START, name), text_hash(~HASH_START, name), strlen(name)}};
}

static bool has_file(const struct collect *c, const char *name)
{
	struct key key = key_of_file(name);
	uint32_t number;

	return hashmap_find(&c->file_map, &key, &number);
}

static struct error *find_file(struct collect *c, const char *name, uint32_t *ret)
{
	struct key key = key_of_file(name);
	struct error *err = hashmap_add(&c->file_map, &key, ret);

	if (!err && *ret == c->l->files.count)
		err = path_line_file_vec_append(&c->l->files, (struct path_line_file){.name = name});
	return err;
}

/* Groups of functions by link name: inlined code belongs to the group of its own function. */
static struct error *define(struct collect *c, uint64_t *groups)
{
	struct error *err = NULL;

	for (size_t i = 0; i < c->v->function_count && !err; i++) {
		const struct path_function *f = c->v->functions[i];
		struct key key;
		uint32_t number;

		if (!f->meta)
			continue;
		key = key_of_text(f->meta->name);
		err = hashmap_add(&c->definitions, &key, &number);
		if (!err)
			groups[number] = branch_group(f->meta);
	}
	return err;
}

static uint64_t group_of(const struct collect *c, const struct pathmeta_line *line, uint64_t own,
			 const uint64_t *groups)
{
	struct key key;
	uint32_t number;

	if (!line->function)
		return own;
	key = key_of_text(line->function);
	return hashmap_find(&c->definitions, &key, &number) ? groups[number] : key.words[0];
}

static struct error *add_pieces(struct collect *c, const struct path_function *f, uint32_t function,
				const uint64_t *groups)
{
	const struct pathmeta_function *m = f->meta;
	const bool is_in_view = function < c->v->function_count;
	uint64_t own_group = branch_group(m);
	struct error *err = NULL;

	for (uint32_t node = 0; node < m->cfg.node_count && !err; node++) {
		for (uint32_t i = m->first_line[node]; i < m->first_line[node + 1] && !err; i++) {
			const struct pathmeta_line *line = &m->lines[i];
			struct piece piece = {.line = line->line, .function = function, .node = node};

			if (!line->file || !line->line || (!is_in_view && !(line->function && has_file(c, line->file))))
				continue;
			piece.count = f->blocks[node];
			piece.is_part = path_folded_line(c->v->profile, f, i) || (!is_in_view && piece.count);
			piece.group = group_of(c, line, own_group, groups);
			err = find_file(c, line->file, &piece.file);
			if (!err)
				err = piece_vec_append(&c->pieces, piece);
		}
	}
	return err;
}

static uint32_t line_at(const struct pathmeta_function *m, uint32_t node)
{
	const struct pathmeta_line *line = path_node_place(m, node);

	return line ? line->line : 0;
}

static struct error *add_ways(struct collect *c, const struct path_function *f)
{
	const struct pathmeta_function *m = f->meta;
	bool is_part, is_final = path_function_unit(c->v->profile, f)->stage == PATHMETA_FINAL;
	struct error *err = NULL;

	for (uint32_t node = 0; node < m->cfg.node_count && !err; node++) {
		const struct pathmeta_line *line = branch_line(m, node);
		uint32_t first = m->cfg.first_edge[node], end = m->cfg.first_edge[node + 1];
		struct way way = {.at = {.group = branch_group(m), .cfg_key = m->cfg_key, .node = node}};

		if (!line)
			continue;
		is_part = path_folded_way(c->v->profile, f, (uint32_t)(line - m->lines));
		way.at.line = line->line;
		err = find_file(c, line->file, &way.at.file);
		for (uint32_t i = first; i < end; i++)
			way.reached += f->edges[i] == PATH_UNKNOWN ? 0 : f->edges[i];
		for (uint32_t i = first; i < end && !err; i++) {
			if (!branch_has_way(m, i) || f->edges[i] == PATH_UNKNOWN)
				continue;
			way.at.index = i - first;
			way.count = f->edges[i];
			way.is_part = is_part;
			way.outcome = m->outcomes[i];
			way.to_line = is_final ? line_at(m, m->cfg.edges[i].to) : 0;
			err = way_vec_append(&c->ways, way);
		}
	}
	return err;
}

static struct error *add_function(struct collect *c, const struct path_function *f)
{
	struct path_line_function function = {
		.line = f->meta->line, .calls = f->calls, .is_part = f->is_part, .function = f};
	struct error *err;

	if (!f->meta->file || !f->meta->line)
		return NULL;
	err = find_file(c, f->meta->file, &function.file);
	return err ? err : path_line_function_vec_append(&c->l->functions, function);
}

/* Adds the lines of chosen functions that others contain. */
static struct error *add_others(struct collect *c, const uint64_t *groups)
{
	const struct path_function_vec *all = &c->v->profile->functions;
	uint8_t *is_chosen = calloc(all->count + 1, 1);
	struct error *err = is_chosen ? NULL : &error_no_memory;

	for (size_t i = 0; i < c->v->function_count && !err; i++)
		is_chosen[c->v->functions[i] - all->items] = 1;
	for (size_t i = 0; i < all->count && !err; i++)
		if (!is_chosen[i] && all->items[i].meta && path_has_run(&all->items[i]))
			err = add_pieces(c, &all->items[i], (uint32_t)(c->v->function_count + i), groups);
	free(is_chosen);
	return err;
}

static struct error *collect(struct collect *c)
{
	uint64_t *groups = calloc(c->v->function_count + 1, sizeof *groups);
	struct error *err = groups ? define(c, groups) : &error_no_memory;

	for (size_t i = 0; i < c->v->function_count && !err; i++) {
		if (!c->v->functions[i]->meta)
			continue;
		err = add_pieces(c, c->v->functions[i], (uint32_t)i, groups) ?:
		      add_ways(c, c->v->functions[i]) ?:
		      add_function(c, c->v->functions[i]);
	}
	if (!err && c->v->is_filtered)
		err = add_others(c, groups);
	free(groups);
	return err;
}

static int compare_pieces(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;

	return compare_u64(x->file, y->file) ?: compare_u64(x->line, y->line) ?: compare_u64(x->group, y->group) ?:
	       compare_u64(x->function, y->function);
}

static int compare_ways(const void *a, const void *b)
{
	const struct way *x = a, *y = b;

	return branch_way_compare(&x->at, &y->at);
}

static int compare_functions(const void *a, const void *b)
{
	const struct path_line_function *x = a, *y = b;

	return compare_u64(x->file, y->file) ?: compare_u64(x->line, y->line) ?:
	       strcmp(x->function->link_name, y->function->link_name) ?:
	       compare_u64(x->function->name_key, y->function->name_key);
}

static uint64_t add_saturated(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - 1 - b ? UINT64_MAX - 1 : a + b;
}

/* The pieces of one function from items[i] on: the largest. Of optimized code several may be copies of one. */
static size_t fold_function(const struct collect *c, size_t i, uint64_t *ret_most, struct path_line *line)
{
	const struct piece *first = &c->pieces.items[i];
	const bool is_in_view = first->function < c->v->function_count;
	bool has_several = false;

	*ret_most = 0;
	for (; i < c->pieces.count && compare_pieces(first, &c->pieces.items[i]) == 0; i++) {
		const struct piece *piece = &c->pieces.items[i];

		line->is_part |= piece->is_part;
		has_several |= piece->node != first->node;
		if (is_in_view && piece->count > *ret_most)
			*ret_most = piece->count;
	}
	line->is_part |= *ret_most && has_several && c->v->functions[first->function]->meta->is_optimized;
	return i;
}

static struct error *fold_lines(struct collect *c)
{
	const struct piece_vec *v = &c->pieces;
	struct error *err = NULL;

	for (size_t i = 0; i < v->count && !err;) {
		struct path_line line = {.file = v->items[i].file, .line = v->items[i].line};
		bool is_in_view = false;

		while (i < v->count && v->items[i].file == line.file && v->items[i].line == line.line) {
			uint64_t group = v->items[i].group, sum = 0, most;

			while (i < v->count && v->items[i].file == line.file && v->items[i].line == line.line &&
			       v->items[i].group == group) {
				is_in_view |= v->items[i].function < c->v->function_count;
				i = fold_function(c, i, &most, &line);
				sum = add_saturated(sum, most);
			}
			line.count = sum > line.count ? sum : line.count;
		}
		if (is_in_view)
			err = path_line_vec_append(&c->l->lines, line);
	}
	return err;
}

static struct error *fold_branches(struct collect *c)
{
	const struct way_vec *v = &c->ways;
	const struct branch_way *before = NULL;
	struct path_branch branch = {0};
	struct error *err = NULL;

	for (size_t i = 0; i < v->count && !err;) {
		const struct way *first = &v->items[i];
		const struct branch_way *at = &first->at;
		bool is_same_line = before && before->file == at->file && before->line == at->line;

		if (before && branch_compare(before, at) == 0)
			branch.way++;
		else
			branch = (struct path_branch){
				.file = at->file, .line = at->line, .block = is_same_line ? branch.block + 1 : 0};
		branch.outcome = first->outcome;
		branch.to_line = first->to_line;
		branch.count = 0;
		branch.reached = 0;
		branch.is_part = false;
		for (; i < v->count && branch_way_compare(&first->at, &v->items[i].at) == 0; i++) {
			branch.count = add_saturated(branch.count, v->items[i].count);
			branch.reached = add_saturated(branch.reached, v->items[i].reached);
			branch.is_part |= v->items[i].is_part;
		}
		before = at;
		err = path_branch_vec_append(&c->l->branches, branch);
	}
	return err;
}

static void fold_functions(struct collect *c)
{
	struct path_line_function_vec *v = &c->l->functions;
	size_t kept = 0;

	for (size_t i = 0; i < v->count; i++) {
		struct path_line_function *last = kept ? &v->items[kept - 1] : NULL;

		if (last && last->file == v->items[i].file && last->line == v->items[i].line &&
		    strcmp(last->function->link_name, v->items[i].function->link_name) == 0) {
			last->calls = add_saturated(last->calls, v->items[i].calls);
			last->is_part |= v->items[i].is_part;
		} else {
			v->items[kept++] = v->items[i];
		}
	}
	v->count = kept;
}

struct file_rank {
	struct path_line_file file;
	uint32_t number;
};

static int compare_file_ranks(const void *a, const void *b)
{
	return strcmp(((const struct file_rank *)a)->file.name, ((const struct file_rank *)b)->file.name);
}

/* Files in order of their names; what was collected is renumbered to it. */
static struct error *sort_files(struct collect *c)
{
	struct path_line_file_vec *files = &c->l->files;
	CLEANUP(arena_deinit) struct arena scratch = {0};
	struct file_rank *order = arena_calloc(&scratch, files->count + 1, sizeof *order);
	uint32_t *rank = arena_calloc(&scratch, files->count + 1, sizeof *rank);

	if (!order || !rank)
		return &error_no_memory;
	for (uint32_t i = 0; i < files->count; i++)
		order[i] = (struct file_rank){.file = files->items[i], .number = i};
	qsort(order, files->count, sizeof *order, compare_file_ranks);
	for (uint32_t i = 0; i < files->count; i++) {
		files->items[i] = order[i].file;
		rank[order[i].number] = i;
	}
	for (size_t i = 0; i < c->pieces.count; i++)
		c->pieces.items[i].file = rank[c->pieces.items[i].file];
	for (size_t i = 0; i < c->ways.count; i++)
		c->ways.items[i].at.file = rank[c->ways.items[i].at.file];
	for (size_t i = 0; i < c->l->functions.count; i++)
		c->l->functions.items[i].file = rank[c->l->functions.items[i].file];
	return NULL;
}

static void assign_ranges(struct path_lines *l)
{
	size_t line = 0, branch = 0, function = 0;

	for (uint32_t i = 0; i < l->files.count; i++) {
		struct path_line_file *f = &l->files.items[i];

		f->first_line = line;
		for (; line < l->lines.count && l->lines.items[line].file == i; line++) {
			f->lines_hit += l->lines.items[line].count != 0;
			f->lines_known += path_count_is_known(l->lines.items[line].count, l->lines.items[line].is_part);
		}
		f->line_count = line - f->first_line;
		f->first_branch = branch;
		for (; branch < l->branches.count && l->branches.items[branch].file == i; branch++) {
			const struct path_branch *b = &l->branches.items[branch];

			f->branches_hit += b->count != 0;
			f->branches_known += path_count_is_known(b->count, b->is_part);
		}
		f->branch_count = branch - f->first_branch;
		f->first_function = function;
		for (; function < l->functions.count && l->functions.items[function].file == i; function++) {
			const struct path_line_function *of = &l->functions.items[function];

			f->functions_hit += of->calls != 0;
			f->functions_known += path_count_is_known(of->calls, of->is_part);
		}
		f->function_count = function - f->first_function;
	}
}

static void collect_deinit(struct collect *c)
{
	hashmap_deinit(&c->file_map);
	hashmap_deinit(&c->definitions);
	piece_vec_deinit(&c->pieces);
	way_vec_deinit(&c->ways);
}

/* Fills c->l. */
static struct error *make_lines(struct collect *c)
{
	struct path_line_function_vec *functions = &c->l->functions;
	struct error *err = collect(c);

	if (err)
		return err;
	err = sort_files(c);
	if (err)
		return err;
	if (c->pieces.count)
		qsort(c->pieces.items, c->pieces.count, sizeof *c->pieces.items, compare_pieces);
	if (c->ways.count)
		qsort(c->ways.items, c->ways.count, sizeof *c->ways.items, compare_ways);
	if (functions->count)
		qsort(functions->items, functions->count, sizeof *functions->items, compare_functions);
	err = fold_lines(c);
	if (err)
		return err;
	err = fold_branches(c);
	if (err)
		return err;
	fold_functions(c);
	assign_ranges(c->l);
	return NULL;
}

struct error *path_lines_create(const struct path_view *v, struct path_lines *ret)
{
	struct path_lines l = {0};
	CLEANUP(collect_deinit) struct collect c = {.v = v, .l = &l};
	struct error *err = make_lines(&c);

	if (err)
		path_lines_deinit(&l);
	else
		*ret = l;
	return err;
}

void path_lines_deinit(struct path_lines *l)
{
	path_line_file_vec_deinit(&l->files);
	path_line_vec_deinit(&l->lines);
	path_branch_vec_deinit(&l->branches);
	path_line_function_vec_deinit(&l->functions);
	*l = (struct path_lines){0};
}

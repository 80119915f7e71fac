/* slice_places.c - the lines of all instructions, each once, and sorted (slice_places.h). */
#include "model/slices/slice_places.h"

#include <stdlib.h>
#include <string.h>

#include "base/order.h"

enum {
	INLINED_MAX = 64, /* levels of inlining */
};

VEC_DECLARE(name_vec, const char *);

struct making {
	const struct code *code;
	struct slice_places *places;
	struct hashmap files; /* by name -> names */
	struct name_vec names;
	struct hashmap pairs; /* by addresses of folder and file */
	struct function_ids file_of_pair;
	struct hashmap numbers; /* by file and line, before they are sorted */
};

static bool is_slash(char c)
{
	return c == '/';
}

uint32_t slice_find_line(const struct code *c, const char *name, uint32_t line, uint32_t *ret)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < c->instruction_count; i++) {
		struct code_line lines[INLINED_MAX];
		uint32_t levels = code_lines(c, i, lines, INLINED_MAX);

		for (uint32_t k = 0; k < levels; k++)
			if (lines[k].line == line && code_file_ends_with(&lines[k], name)) {
				ret[count++] = i;
				break;
			}
	}
	return count;
}

struct slice_near slice_near_line(const struct code *c, const char *name, uint32_t line)
{
	struct slice_near near = {0};

	for (uint32_t i = 0; i < c->instruction_count; i++) {
		struct code_line lines[INLINED_MAX];
		uint32_t levels = code_lines(c, i, lines, INLINED_MAX);

		for (uint32_t k = 0; k < levels; k++) {
			uint32_t at = lines[k].line;

			if (!at || !code_file_ends_with(&lines[k], name))
				continue;
			near.has_file = true;
			if (at < line && at > near.before)
				near.before = at;
			if (at > line && (!near.after || at < near.after))
				near.after = at;
		}
	}
	return near;
}

static struct error *name_file(struct making *m, const struct code_line *line, uint32_t *ret)
{
	const char *name = is_slash(*line->file) || !line->folder || !*line->folder
				   ? line->file
				   : arena_printf(&m->places->arena, "%s/%s", line->folder, line->file);
	uint32_t count = m->files.count;
	struct key key;
	struct error *err;

	if (!name)
		return &error_no_memory;
	key = key_of_text(name);
	err = hashmap_add(&m->files, &key, ret);
	return !err && *ret == count ? name_vec_append(&m->names, name) : err;
}

/* A folder and a file are one text each in the bitcode, so that their addresses say which they are. */
static struct error *file_number(struct making *m, const struct code_line *line, uint32_t *ret)
{
	const struct key key = {{(uintptr_t)line->folder, (uintptr_t)line->file, 0}};
	uint32_t pair, count = m->pairs.count;
	struct error *err = hashmap_add(&m->pairs, &key, &pair);

	if (err)
		return err;
	if (pair == count) {
		err = name_file(m, line, ret);
		return err ? err : function_ids_append(&m->file_of_pair, *ret);
	}
	*ret = m->file_of_pair.items[pair];
	return NULL;
}

static struct error *number_of(struct making *m, const struct code_line *line, uint32_t *ret)
{
	uint32_t file;
	struct error *err;

	*ret = SLICE_NO_LINE;
	if (!line->file || !line->line)
		return NULL;
	err = file_number(m, line, &file);
	return err ? err : hashmap_add(&m->numbers, &(struct key){{file, line->line, 0}}, ret);
}

static struct error *number_all(struct making *m)
{
	struct slice_places *p = m->places;
	struct error *err = NULL;

	for (uint32_t i = 0; i < m->code->instruction_count && !err; i++) {
		struct code_line lines[INLINED_MAX];
		uint32_t levels = code_lines(m->code, i, lines, INLINED_MAX), number;

		p->first[i] = (uint32_t)p->of.count;
		for (uint32_t k = 0; k < levels && !err; k++) {
			err = number_of(m, &lines[k], &number);
			if (!err)
				err = function_ids_append(&p->of, number);
		}
	}
	p->first[m->code->instruction_count] = (uint32_t)p->of.count;
	return err;
}

static int compare_places(const void *a, const void *b, void *places)
{
	const struct code_place *x = &((struct code_place *)places)[*(const uint32_t *)a];
	const struct code_place *y = &((struct code_place *)places)[*(const uint32_t *)b];
	int order = x->file == y->file ? 0 : strcmp(x->file, y->file);

	return order ? order : compare_u64(x->line, y->line);
}

static struct error *sort(struct making *m)
{
	struct slice_places *p = m->places;
	uint32_t count = m->numbers.count;
	struct code_place *unsorted = arena_calloc(&p->arena, (size_t)count + 1, sizeof *unsorted);
	uint32_t *order = arena_calloc(&p->arena, (size_t)count + 1, sizeof *order);
	uint32_t *now = arena_calloc(&p->arena, (size_t)count + 1, sizeof *now);

	p->count = count;
	p->items = arena_calloc(&p->arena, (size_t)count + 1, sizeof *p->items);
	if (!unsorted || !order || !now || !p->items)
		return &error_no_memory;
	for (uint32_t i = 0; i < count; i++) {
		const uint64_t *words = m->numbers.keys[i].words;

		unsorted[i] = (struct code_place){m->names.items[words[0]], (uint32_t)words[1]};
		order[i] = i;
	}
	qsort_r(order, count, sizeof *order, compare_places, unsorted);
	for (uint32_t i = 0; i < count; i++) {
		p->items[i] = unsorted[order[i]];
		now[order[i]] = i;
	}
	for (size_t i = 0; i < p->of.count; i++)
		if (p->of.items[i] != SLICE_NO_LINE)
			p->of.items[i] = now[p->of.items[i]];
	return NULL;
}

struct error *slice_places_make(const struct code *c, struct slice_places *ret)
{
	struct making m = {.code = c, .places = ret};
	struct error *err;

	*ret = (struct slice_places){0};
	ret->first = arena_calloc(&ret->arena, (size_t)c->instruction_count + 1, sizeof *ret->first);
	err = ret->first ? number_all(&m) : &error_no_memory;
	if (!err)
		err = sort(&m);
	name_vec_deinit(&m.names);
	hashmap_deinit(&m.files);
	hashmap_deinit(&m.pairs);
	function_ids_deinit(&m.file_of_pair);
	hashmap_deinit(&m.numbers);
	if (err)
		slice_places_deinit(ret);
	return err;
}

struct error *slice_places_count(const struct slice_places *p, const struct code *c, const struct slice *s,
				 uint32_t *ret)
{
	bool *is_in = calloc((size_t)p->count + 1, sizeof *is_in);

	if (!is_in)
		return &error_no_memory;
	*ret = 0;
	for (uint32_t i = 0; i < c->instruction_count; i++)
		for (uint32_t k = p->first[i]; s->why[i].reason && k < p->first[i + 1]; k++) {
			uint32_t place = p->of.items[k];

			if (place == SLICE_NO_LINE || is_in[place])
				continue;
			is_in[place] = true;
			++*ret;
		}
	free(is_in);
	return NULL;
}

void slice_places_deinit(struct slice_places *p)
{
	arena_deinit(&p->arena);
	function_ids_deinit(&p->of);
	*p = (struct slice_places){0};
}

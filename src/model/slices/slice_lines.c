/* slice_lines.c - gathers the instructions of each line of source, and takes the line's reason from theirs (slice_lines.h). */
#include "model/slices/slice_lines.h"

#include <stdlib.h>
#include <string.h>

#include "base/order.h"

enum {
	INLINED_MAX = 64, /* levels of inlining */
	OWN_MAX = 16,     /* instructions without lines that lead to one with a line */
};

VEC_DECLARE(name_vec, const char *);

struct making {
	const struct code *code;
	const struct regions *regions;
	const struct slice *slice;
	struct slice_lines *lines;
	struct hashmap files; /* by name -> names */
	struct name_vec names;
	struct hashmap pairs; /* by addresses of folder and file */
	struct function_ids file_of_pair;
	struct hashmap places;        /* file and line -> number of a line, before they are sorted */
	uint32_t *first;              /* [instruction + 1] in lines_of */
	struct function_ids lines_of; /* numbers of lines, the innermost first */
	uint32_t *reader_of;          /* [region] an instruction of the slice that reads it */
	bool *is_set_read;            /* by set of regions */
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
				   : arena_printf(&m->lines->arena, "%s/%s", line->folder, line->file);
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

static struct error *place_number(struct making *m, const struct code_line *line, uint32_t *ret)
{
	uint32_t file;
	struct error *err;

	*ret = SLICE_NO_LINE;
	if (!line->file || !line->line)
		return NULL;
	err = file_number(m, line, &file);
	return err ? err : hashmap_add(&m->places, &(struct key){{file, line->line, 0}}, ret);
}

/* The reason of an instruction that is in for memory, or for what it may not do: who reads that. */
static uint32_t reader(const struct making *m, uint32_t i)
{
	const struct id_set *changes = region_set(m->regions, m->regions->changes[i]);
	const struct function_ids *callees = &m->regions->memory->callees[i];

	for (struct id_iterator k = id_set_begin(changes); id_set_next(changes, &k);)
		if (m->reader_of[k.id] != CODE_NONE)
			return m->reader_of[k.id];
	for (size_t f = 0; f < callees->count; f++) {
		changes = &m->regions->function_changes[callees->items[f]];
		for (struct id_iterator k = id_set_begin(changes); id_set_next(changes, &k);)
			if (k.id != REGION_CONTROL && m->reader_of[k.id] != CODE_NONE)
				return m->reader_of[k.id];
	}
	return CODE_NONE;
}

/* Many instructions read the same set: only the first of them can be the first reader of a region. */
static void find_readers(struct making *m)
{
	for (size_t i = 0; i < m->regions->items.count; i++)
		m->reader_of[i] = CODE_NONE;
	for (uint32_t i = 0; i < m->code->instruction_count; i++) {
		uint32_t set = m->regions->reads[i];
		const struct id_set *reads = region_set(m->regions, set);

		if (!m->slice->why[i].reason || m->is_set_read[set])
			continue;
		m->is_set_read[set] = true;
		for (struct id_iterator k = id_set_begin(reads); id_set_next(reads, &k);)
			if (m->reader_of[k.id] == CODE_NONE)
				m->reader_of[k.id] = i;
	}
}

/* The compiler's own instructions have no line, such as those that store arguments: then what they are in because of. */
static uint32_t with_line(const struct making *m, uint32_t of)
{
	for (int i = 0; i < OWN_MAX && of != CODE_NONE && m->lines->line_of[of] == SLICE_NO_LINE; i++)
		of = m->slice->why[of].of;
	return of;
}

/* The reasons of a line's instructions in the order in which they are taken: that it is asked about, then what another line explains. */
static void take_reason(struct making *m, uint32_t number, uint32_t i, bool is_outer)
{
	struct slice_line *line = &m->lines->items[number];
	struct slice_why why = m->slice->why[i];
	uint32_t of = why.of, of_line;

	if (!why.reason || line->reason == SLICE_CRITERION)
		return;
	if (of == CODE_NONE && why.reason != SLICE_CRITERION)
		of = reader(m, i);
	of = with_line(m, of);
	of_line = of == CODE_NONE ? SLICE_NO_LINE : m->lines->line_of[of];
	if (of_line == number)
		of_line = SLICE_NO_LINE;
	line->is_in = true;
	if (why.reason == SLICE_CRITERION && !is_outer) {
		line->reason = SLICE_CRITERION;
		line->of = SLICE_NO_LINE;
	} else if (!line->reason || (line->of == SLICE_NO_LINE && of_line != SLICE_NO_LINE)) {
		line->reason = is_outer && !m->slice->is_forward ? SLICE_CALL : why.reason;
		line->of = of_line;
	}
}

static struct error *number_lines(struct making *m)
{
	struct error *err = NULL;

	for (uint32_t i = 0; i < m->code->instruction_count && !err; i++) {
		struct code_line lines[INLINED_MAX];
		uint32_t levels = code_lines(m->code, i, lines, INLINED_MAX), number;

		m->lines->line_of[i] = SLICE_NO_LINE;
		m->first[i] = (uint32_t)m->lines_of.count;
		for (uint32_t k = 0; k < levels && !err; k++) {
			err = place_number(m, &lines[k], &number);
			if (!err)
				err = function_ids_append(&m->lines_of, number);
			if (!k)
				m->lines->line_of[i] = number;
		}
	}
	m->first[m->code->instruction_count] = (uint32_t)m->lines_of.count;
	return err;
}

static struct error *take_inlined(struct making *m, uint32_t i)
{
	struct slice_inlined_vec *v = &m->lines->inlined;
	struct error *err = NULL;

	for (uint32_t k = m->first[i]; k + 1 < m->first[i + 1] && !err; k++) {
		struct slice_inlined x = {m->lines_of.items[k], m->lines_of.items[k + 1]};
		const struct slice_inlined *last = v->count ? &v->items[v->count - 1] : NULL;

		if (x.line != SLICE_NO_LINE && x.at != SLICE_NO_LINE &&
		    (!last || last->line != x.line || last->at != x.at))
			err = slice_inlined_vec_append(v, x);
	}
	return err;
}

static struct error *fill(struct making *m)
{
	struct slice_lines *l = m->lines;
	struct error *err = NULL;

	l->count = m->places.count;
	l->items = arena_calloc(&l->arena, (size_t)l->count + 1, sizeof *l->items);
	if (!l->items)
		return &error_no_memory;
	for (uint32_t i = 0; i < l->count; i++)
		l->items[i] = (struct slice_line){.file = m->names.items[m->places.keys[i].words[0]],
						  .line = (uint32_t)m->places.keys[i].words[1],
						  .of = SLICE_NO_LINE};
	for (uint32_t i = 0; i < m->code->instruction_count && !err; i++) {
		l->instructions++;
		l->instructions_in += m->slice->why[i].reason != SLICE_OUT;
		if (m->slice->why[i].reason)
			err = take_inlined(m, i);
		for (uint32_t k = m->first[i]; k < m->first[i + 1]; k++)
			if (m->lines_of.items[k] != SLICE_NO_LINE)
				take_reason(m, m->lines_of.items[k], i, k > m->first[i]);
	}
	return err;
}

static int compare_places(const void *a, const void *b, void *lines)
{
	const struct slice_line *x = &((struct slice_line *)lines)[*(const uint32_t *)a];
	const struct slice_line *y = &((struct slice_line *)lines)[*(const uint32_t *)b];
	int order = x->file == y->file ? 0 : strcmp(x->file, y->file);

	return order ? order : compare_u64(x->line, y->line);
}

static struct error *sort(struct slice_lines *l, uint32_t instructions)
{
	uint32_t *order = arena_calloc(&l->arena, (size_t)l->count + 1, sizeof *order);
	uint32_t *place = arena_calloc(&l->arena, (size_t)l->count + 1, sizeof *place);
	struct slice_line *sorted = arena_calloc(&l->arena, (size_t)l->count + 1, sizeof *sorted);

	if (!order || !place || !sorted)
		return &error_no_memory;
	for (uint32_t i = 0; i < l->count; i++)
		order[i] = i;
	qsort_r(order, l->count, sizeof *order, compare_places, l->items);
	for (uint32_t i = 0; i < l->count; i++)
		place[order[i]] = i;
	for (uint32_t i = 0; i < l->count; i++) {
		sorted[i] = l->items[order[i]];
		if (sorted[i].of != SLICE_NO_LINE)
			sorted[i].of = place[sorted[i].of];
		l->count_in += sorted[i].is_in;
	}
	for (size_t i = 0; i < l->inlined.count; i++)
		l->inlined.items[i] =
			(struct slice_inlined){place[l->inlined.items[i].line], place[l->inlined.items[i].at]};
	for (uint32_t i = 0; i < instructions; i++)
		if (l->line_of[i] != SLICE_NO_LINE)
			l->line_of[i] = place[l->line_of[i]];
	l->items = sorted;
	return NULL;
}

static int compare_unknown(const void *a, const void *b)
{
	const struct slice_unknown *x = a, *y = b;

	return compare_u64(y->calls, x->calls) ?: strcmp(x->name ? x->name : "", y->name ? y->name : "");
}

/* Functions that may do what they like, which makes slices large. */
static struct error *find_unknown(struct making *m)
{
	struct slice_lines *l = m->lines;
	struct hashmap names = {0};
	struct error *err = NULL;

	l->unknown = arena_calloc(&l->arena, (size_t)m->code->function_count + 1, sizeof *l->unknown);
	if (!l->unknown)
		return &error_no_memory;
	for (uint32_t i = 0; i < m->code->instruction_count && !err; i++) {
		LLVMValueRef callee;
		uint32_t number;

		if (!m->slice->why[i].reason || !m->regions->memory->calls_foreign[i])
			continue;
		callee = code_callee(m->code->instructions[i].value);
		err = hashmap_add(&names, &(struct key){{(uintptr_t)callee, 0, 0}}, &number);
		if (err)
			break;
		l->unknown[number].name = callee ? arena_strdup(&l->arena, LLVMGetValueName(callee)) : NULL;
		l->unknown[number].calls++;
	}
	l->unknown_count = names.count;
	qsort(l->unknown, l->unknown_count, sizeof *l->unknown, compare_unknown);
	hashmap_deinit(&names);
	return err;
}

struct error *slice_lines_make(const struct regions *r, const struct slice *s, struct slice_lines *ret)
{
	struct slice_lines lines = {0};
	struct making m = {.code = r->memory->code, .regions = r, .slice = s, .lines = &lines};
	struct error *err;

	lines.line_of = arena_calloc(&lines.arena, (size_t)m.code->instruction_count + 1, sizeof *lines.line_of);
	m.first = calloc((size_t)m.code->instruction_count + 1, sizeof *m.first);
	m.reader_of = calloc(r->items.count + 1, sizeof *m.reader_of);
	m.is_set_read = calloc(r->sets.count, sizeof *m.is_set_read);
	err = lines.line_of && m.first && m.reader_of && m.is_set_read ? number_lines(&m) : &error_no_memory;
	if (!err) {
		find_readers(&m);
		err = fill(&m);
	}
	if (!err)
		err = sort(&lines, m.code->instruction_count);
	if (!err)
		err = find_unknown(&m);
	free(m.first);
	function_ids_deinit(&m.lines_of);
	free(m.reader_of);
	free(m.is_set_read);
	name_vec_deinit(&m.names);
	hashmap_deinit(&m.files);
	hashmap_deinit(&m.pairs);
	function_ids_deinit(&m.file_of_pair);
	hashmap_deinit(&m.places);
	if (err)
		slice_lines_deinit(&lines);
	else
		*ret = lines;
	return err;
}

void slice_lines_deinit(struct slice_lines *l)
{
	arena_deinit(&l->arena);
	slice_inlined_vec_deinit(&l->inlined);
	*l = (struct slice_lines){0};
}

/* slice_lines.c - gathers the instructions of each line of source, and takes the line's reason from theirs (slice_lines.h). */
#include "model/slices/slice_lines.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/library.h"
#include "base/order.h"

enum {
	OWN_MAX = 16, /* instructions without lines that lead to one with a line */
};

struct making {
	const struct code *code;
	const struct regions *regions;
	const struct slice *slice;
	const struct slice_places *places;
	struct slice_lines *lines;
	uint32_t *reader_of; /* [region] an instruction of the slice that reads it */
	bool *is_set_read;   /* by set of regions */
};

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

static struct error *take_inlined(struct making *m, uint32_t i)
{
	struct slice_inlined_vec *v = &m->lines->inlined;
	struct error *err = NULL;

	for (uint32_t k = m->places->first[i]; k + 1 < m->places->first[i + 1] && !err; k++) {
		struct slice_inlined x = {m->places->of.items[k], m->places->of.items[k + 1]};
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

	l->count = m->places->count;
	l->items = arena_calloc(&l->arena, (size_t)l->count + 1, sizeof *l->items);
	if (!l->items)
		return &error_no_memory;
	for (uint32_t i = 0; i < l->count; i++)
		l->items[i] = (struct slice_line){
			.file = m->places->items[i].file, .line = m->places->items[i].line, .of = SLICE_NO_LINE};
	for (uint32_t i = 0; i < m->code->instruction_count; i++)
		l->line_of[i] = slice_place_of(m->places, i);
	for (uint32_t i = 0; i < m->code->instruction_count && !err; i++) {
		l->instructions++;
		l->instructions_in += m->slice->why[i].reason != SLICE_OUT;
		if (m->slice->why[i].reason)
			err = take_inlined(m, i);
		for (uint32_t k = m->places->first[i]; k < m->places->first[i + 1]; k++)
			if (m->places->of.items[k] != SLICE_NO_LINE)
				take_reason(m, m->places->of.items[k], i, k > m->places->first[i]);
	}
	for (uint32_t i = 0; i < l->count; i++)
		l->count_in += l->items[i].is_in;
	return err;
}

static int compare_unknown(const void *a, const void *b)
{
	const struct slice_unknown *x = a, *y = b;

	return compare_u64(y->calls, x->calls) ?: strcmp(x->name ? x->name : "", y->name ? y->name : "");
}

/* NULL: through a pointer, or assembly. A function that is known makes a call unknown by what it was given to call. */
static const char *name_unknown(struct arena *arena, LLVMValueRef callee)
{
	const char *name = callee ? LLVMGetValueName(callee) : NULL;
	struct library_function known;

	if (!name)
		return NULL;
	return library_find(name, &known) ? arena_printf(arena, "what %s calls", name) : arena_strdup(arena, name);
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
		if (!l->unknown[number].calls)
			l->unknown[number].name = name_unknown(&l->arena, callee);
		l->unknown[number].calls++;
	}
	l->unknown_count = names.count;
	qsort(l->unknown, l->unknown_count, sizeof *l->unknown, compare_unknown);
	hashmap_deinit(&names);
	return err;
}

struct error *slice_lines_make(const struct slice_places *places, const struct regions *r, const struct slice *s,
			       struct slice_lines *ret)
{
	struct slice_lines lines = {0};
	struct making m = {.code = r->memory->code, .regions = r, .slice = s, .places = places, .lines = &lines};
	struct error *err;

	lines.line_of = arena_calloc(&lines.arena, (size_t)m.code->instruction_count + 1, sizeof *lines.line_of);
	m.reader_of = calloc(r->items.count + 1, sizeof *m.reader_of);
	m.is_set_read = calloc(r->sets.count, sizeof *m.is_set_read);
	err = lines.line_of && m.reader_of && m.is_set_read ? NULL : &error_no_memory;
	if (!err) {
		find_readers(&m);
		err = fill(&m);
	}
	if (!err)
		err = find_unknown(&m);
	free(m.reader_of);
	free(m.is_set_read);
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

/*
 * slice_overruns.c - pairs objects of the analysis with what lies in memory, by the names of variables, and blocks of the heap with the calls that
 * can have allocated them, by the pointers that lead there; then ranks the stores (slice_overruns.h).
 */
#include "model/slices/slice_overruns.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/variables.h"
#include "base/order.h"
#include "base/text.h"

#define NONE UINT32_MAX

enum {
	GAP_MAX = 64, /* bytes between an object and its neighbour */
	WORD_BYTES = 8,
	HEAD_BYTES = 8, /* of a block of the heap */
	BLOCK_BYTES = 16,
	BLOCK_MIN_BYTES = 24,
};

struct pairing {
	const struct slice_overruns_request *request;
	const struct memory *m;
	const struct crash_objects *there;
	const struct snapshot *s;
	struct arena arena;
	struct variables variables;
	const char **names;     /* [object] of variables; NULL */
	struct hashmap by_name; /* of statics without their last number -> first */
	uint32_t *first, *next; /* index in there->items */
	uint32_t *at;           /* [object] index in there->items; NONE */
	uint32_t *distances;    /* [object] of the nearest instruction of the slice that reads it */
	uint32_t kind_distances[MEMORY_INNER + 1];
	struct id_set evident;       /* objects that the evidence is of */
	struct id_set near;          /* that hold what was overwritten, or lie in front of that */
	struct slice_overrun *ranks; /* [object] as far as they are the object's */
	bool *is_ranked;             /* [object] */
	uint32_t *of_line;           /* [line] index in the items + 1 */
	struct slice_overruns *overruns;
};

/* ---- names ---- */

/* Names that were given twice have a number: buffer.12. */
static size_t stem_length(const char *name)
{
	size_t len = strlen(name), end = len;

	while (end && isdigit((unsigned char)name[end - 1]))
		end--;
	return end && end < len && name[end - 1] == '.' ? end - 1 : len;
}

static struct key stem_of(struct pairing *p, const char *name)
{
	const char *stem = arena_strndup(&p->arena, name, stem_length(name));

	return key_of_text(stem ? stem : name);
}

static struct error *name_statics(struct pairing *p)
{
	size_t count = p->there->items.count;
	struct error *err = NULL;

	p->first = arena_calloc(&p->arena, count + 1, sizeof *p->first);
	p->next = arena_calloc(&p->arena, count + 1, sizeof *p->next);
	if (!p->first || !p->next)
		return &error_no_memory;
	for (size_t i = 0; i < count && !err; i++) {
		struct key key;
		uint32_t number, before = p->by_name.count;

		if (p->there->frame_of[i] != NONE)
			continue;
		key = stem_of(p, p->there->items.items[i].name);
		err = hashmap_add(&p->by_name, &key, &number);
		if (err)
			return err;
		p->next[i] = number == before ? NONE : p->first[number];
		p->first[number] = (uint32_t)i;
	}
	return err;
}

/* Of several with the same stem the one of this very name; else none if there are several. */
static uint32_t find_static(struct pairing *p, const char *name)
{
	struct key key = stem_of(p, name);
	uint32_t number, only = NONE;

	if (!hashmap_find(&p->by_name, &key, &number))
		return NONE;
	for (uint32_t i = p->first[number]; i != NONE; i = p->next[i]) {
		if (text_equal(p->there->items.items[i].name, name))
			return i;
		only = only == NONE ? i : NONE;
	}
	return only;
}

static uint32_t function_of_frame(const struct pairing *p, uint32_t frame)
{
	const struct crash_thread *t = &p->request->code->crash->threads[p->request->thread];

	return frame < t->frame_count ? crash_code_function(p->request->code, &t->frames[frame]) : NONE;
}

/* In the innermost activation of its function. */
static uint32_t find_in_frames(const struct pairing *p, const struct memory_object *o, const char *name)
{
	uint32_t found = NONE;

	for (uint32_t i = 0; i < p->there->items.count; i++) {
		uint32_t frame = p->there->frame_of[i];

		if (frame != NONE && text_equal(p->there->items.items[i].name, name) &&
		    function_of_frame(p, frame) == o->function && (found == NONE || frame < p->there->frame_of[found]))
			found = i;
	}
	return found;
}

static bool is_on_stack(const struct pairing *p, uint32_t function)
{
	const struct crash_thread *t = &p->request->code->crash->threads[p->request->thread];

	for (uint32_t i = 0; i < t->frame_count; i++)
		if (function_of_frame(p, i) == function)
			return true;
	return false;
}

static struct error *pair_objects(struct pairing *p)
{
	size_t count = p->m->objects.count;
	struct error *err = variables_find(p->m->code, &p->variables);

	if (!err)
		err = name_statics(p);
	p->names = arena_calloc(&p->arena, count + 1, sizeof *p->names);
	p->at = arena_calloc(&p->arena, count + 1, sizeof *p->at);
	if (!err && (!p->names || !p->at))
		err = &error_no_memory;
	for (uint32_t i = 0; i < count && !err; i++) {
		const struct memory_object *o = &p->m->objects.items[i];

		p->at[i] = NONE;
		if (o->kind == MEMORY_VARIABLE || o->kind == MEMORY_FRAME)
			p->names[i] = variables_name(&p->variables, o->value);
		if (p->names[i] && o->kind == MEMORY_VARIABLE)
			p->at[i] = find_static(p, p->names[i]);
		else if (p->names[i] && is_on_stack(p, o->function))
			p->at[i] = find_in_frames(p, o, p->names[i]);
	}
	return err;
}

/* ---- blocks of the heap ---- */

/* A block of that many bytes can be what a call allocates that asks for `size`; 0: it is not known how much. */
static bool fits_block(uint64_t size, uint64_t block_bytes)
{
	uint64_t chunk = (size + HEAD_BYTES + BLOCK_BYTES - 1) / BLOCK_BYTES * BLOCK_BYTES;

	if (!size)
		return true;
	chunk = chunk - HEAD_BYTES < BLOCK_MIN_BYTES ? BLOCK_MIN_BYTES : chunk - HEAD_BYTES;
	/* What would be left is too small for a block of its own. */
	return block_bytes == chunk || block_bytes == chunk + BLOCK_BYTES;
}

static bool leads_into(const struct pairing *p, const struct crash_object *block, uint64_t address)
{
	uint64_t word;

	return snapshot_read(p->s, address, &word, sizeof word) && word >= block->address &&
	       word - block->address < block->len_bytes;
}

/* Calls that allocate, of all that a load of this very place of an object can have read. */
static struct error *sites_of_loads(const struct pairing *p, uint32_t object, uint64_t off, struct id_set *ret)
{
	const struct code *c = p->m->code;
	const struct locations *l = pointers_locations(p->m->pointers);
	struct error *err = NULL;

	for (uint32_t i = 0; i < c->instruction_count && !err; i++) {
		const struct id_set *from, *to;
		struct id_iterator only;

		if (c->instructions[i].opcode != LLVMLoad || !p->request->runs[c->instructions[i].block])
			continue;
		from = memory_of(p->m, LLVMGetOperand(c->instructions[i].value, 0));
		to = memory_of(p->m, c->instructions[i].value);
		if (!from || !to || id_set_size(from) != 1)
			continue;
		only = id_set_begin(from);
		id_set_next(from, &only);
		if (l->items.items[only.id].object != object || l->items.items[only.id].stride ||
		    l->items.items[only.id].first != (int64_t)off)
			continue;
		for (struct id_iterator k = id_set_begin(to); !err && id_set_next(to, &k);)
			if (p->m->objects.items[l->items.items[k.id].object].kind == MEMORY_HEAP)
				err = id_set_add(ret, l->items.items[k.id].object, NULL);
	}
	return err;
}

/* Narrows the set by each pointer in a variable that leads into the block. */
static struct error *narrow_by_pointers(const struct pairing *p, const struct crash_object *block, struct id_set *sites)
{
	struct error *err = NULL;

	for (uint32_t i = 0; i < p->m->objects.count && !err; i++) {
		const struct snapshot_object *o = p->at[i] == NONE ? NULL : &p->there->items.items[p->at[i]];

		for (uint64_t off = 0; o && off + WORD_BYTES <= o->len_bytes && !err; off += WORD_BYTES) {
			struct id_set those = {0}, both = {0};

			if (!leads_into(p, block, o->address + off))
				continue;
			err = sites_of_loads(p, i, off, &those);
			if (!err)
				err = id_set_intersect(sites, &those, &both);
			if (!err && both.count) {
				struct id_set wider = *sites;

				*sites = both;
				both = wider;
			}
			id_set_deinit(&those);
			id_set_deinit(&both);
		}
	}
	return err;
}

static struct error *add_sites(const struct pairing *p, const struct crash_object *block, struct id_set *ret)
{
	struct id_set sites = {0};
	struct error *err = NULL;

	for (uint32_t i = 0; i < p->m->objects.count && !err; i++)
		if (p->m->objects.items[i].kind == MEMORY_HEAP && fits_block(overruns_size(p->m, i), block->len_bytes))
			err = id_set_add(&sites, i, NULL);
	if (!err)
		err = narrow_by_pointers(p, block, &sites);
	if (!err)
		err = id_set_add_all(ret, &sites, NULL, NULL);
	id_set_deinit(&sites);
	return err;
}

/* ---- evidence ---- */

static bool is_there(const struct pairing *p, uint32_t object, const struct crash_object *x)
{
	const struct memory_object *o = &p->m->objects.items[object];

	switch (x->kind) {
	case CRASH_OBJECT_STATIC:
		return o->kind == MEMORY_VARIABLE && p->at[object] != NONE &&
		       p->there->items.items[p->at[object]].address == x->address;
	case CRASH_OBJECT_FRAME:
		return o->kind == MEMORY_FRAME && o->function == function_of_frame(p, x->frame) &&
		       (!x->name || text_equal(x->name, p->names[object]));
	case CRASH_OBJECT_STACK:
		return o->kind == MEMORY_FRAME || o->kind == MEMORY_BYVAL;
	default:
		return false;
	}
}

static struct error *add_objects(const struct pairing *p, const struct crash_object *x, struct id_set *ret)
{
	struct error *err = x->kind == CRASH_OBJECT_HEAP ? add_sites(p, x, ret) : NULL;

	for (uint32_t i = 0; i < p->m->objects.count && !err; i++)
		if (is_there(p, i, x))
			err = id_set_add(ret, i, NULL);
	return err;
}

static struct error *find_evident(struct pairing *p, const struct crash_evidence_vec *evidence)
{
	struct error *err = NULL;

	for (size_t i = 0; i < evidence->count && !err; i++) {
		const struct crash_evidence *x = &evidence->items[i];

		if (x->kind != CRASH_EVIDENCE_NEIGHBOUR) {
			err = add_objects(p, &x->from, &p->evident);
			continue;
		}
		err = add_objects(p, &x->from, &p->near);
		/* Other members of the same object lie in front of it. */
		if (!err && x->address > x->in.address)
			err = add_objects(p, &x->in, &p->near);
	}
	return err;
}

/* ---- ranks ---- */

static struct error *find_distances(struct pairing *p)
{
	const struct regions *r = p->request->regions;
	const struct locations *l = pointers_locations(p->m->pointers);

	p->distances = arena_alloc(&p->arena, (p->m->objects.count + 1) * sizeof *p->distances);
	if (!p->distances)
		return &error_no_memory;
	memset(p->distances, 0xff, (p->m->objects.count + 1) * sizeof *p->distances);
	memset(p->kind_distances, 0xff, sizeof p->kind_distances);
	for (uint32_t i = 0; i < p->m->code->instruction_count; i++) {
		const struct id_set *reads = region_set(r, r->reads[i]);

		if (!p->request->slice->why[i].reason)
			continue;
		for (struct id_iterator k = id_set_begin(reads); id_set_next(reads, &k);) {
			uint32_t object =
				k.id == REGION_CONTROL ? NONE : l->items.items[r->items.items[k.id].location].object;
			uint32_t *nearest;

			if (object == NONE)
				continue;
			nearest = &p->kind_distances[p->m->objects.items[object].kind];
			if (p->request->distances[i] < p->distances[object])
				p->distances[object] = p->request->distances[i];
			if (p->request->distances[i] < *nearest)
				*nearest = p->request->distances[i];
		}
	}
	return NULL;
}

/* Of objects that the slice reads and that lie behind this one in memory: the nearest to the criterion. */
static uint32_t distance_behind(const struct pairing *p, uint32_t object)
{
	const struct snapshot_object *o = p->at[object] == NONE ? NULL : &p->there->items.items[p->at[object]];
	uint32_t nearest = NONE;

	for (uint32_t i = 0; o && i < p->m->objects.count; i++) {
		const struct snapshot_object *x;

		if (p->at[i] == NONE || i == object || p->m->objects.items[i].kind != p->m->objects.items[object].kind)
			continue;
		x = &p->there->items.items[p->at[i]];
		if (x->address >= o->address + o->len_bytes && x->address - (o->address + o->len_bytes) <= GAP_MAX &&
		    p->distances[i] < nearest)
			nearest = p->distances[i];
	}
	return nearest;
}

static const struct slice_overrun *rank_of(const struct pairing *p, uint32_t object)
{
	struct slice_overrun *x = &p->ranks[object];
	uint32_t behind;

	if (p->is_ranked[object])
		return x;
	p->is_ranked[object] = true;
	behind = distance_behind(p, object);
	x->distance = p->kind_distances[p->m->objects.items[object].kind];
	x->rank = x->distance == NONE ? SLICE_OVERRUN_OTHER : SLICE_OVERRUN_SAME_MEMORY;
	if (behind != NONE) {
		x->rank = SLICE_OVERRUN_NEIGHBOUR;
		x->distance = behind;
	}
	if (id_set_has(&p->near, object)) {
		x->rank = SLICE_OVERRUN_NEIGHBOUR;
		x->distance = 0;
	}
	if (id_set_has(&p->evident, object)) {
		x->rank = SLICE_OVERRUN_EVIDENT;
		x->distance = 0;
	}
	return x;
}

/* ---- lines ---- */

static int compare_near(const void *a, const void *b)
{
	const struct slice_overrun *x = a, *y = b;

	return compare_u64(x->rank, y->rank) ?: compare_u64(x->how, y->how)
	       ?: compare_u64(x->distance, y->distance) ?: compare_u64(x->line, y->line)
	       ?: compare_u64(x->object, y->object);
}

/* Of each line the first one is kept. */
static struct error *keep(void *data, const struct overrun *x)
{
	struct pairing *p = data;
	const struct slice_lines *l = p->request->lines;
	struct slice_overrun item = *rank_of(p, x->object), *known;
	struct error *err;

	item.line = l->line_of[x->instruction];
	item.how = x->how;
	item.object = x->object;
	item.allocation = SLICE_NO_LINE;
	if (item.line == SLICE_NO_LINE)
		return NULL;
	item.is_in = l->items[item.line].is_in;
	known = p->of_line[item.line] ? &p->overruns->items.items[p->of_line[item.line] - 1] : NULL;
	if (known) {
		if (compare_near(&item, known) < 0)
			*known = item;
		return NULL;
	}
	err = slice_overrun_vec_append(&p->overruns->items, item);
	p->of_line[item.line] = (uint32_t)p->overruns->items.count;
	return err;
}

/* What each writes to. */
static struct error *name_objects(const struct pairing *p, struct slice_overruns *o)
{
	for (size_t i = 0; i < o->items.count; i++) {
		struct slice_overrun *x = &o->items.items[i];
		const struct memory_object *object = &p->m->objects.items[x->object];
		const char *name = p->names[x->object];
		uint32_t call = object->kind == MEMORY_HEAP ? code_number(p->m->code, object->value) : CODE_NONE;

		o->counts[x->rank]++;
		if (call != CODE_NONE)
			x->allocation = p->request->lines->line_of[call];
		x->name = name ? arena_strndup(&o->arena, name, stem_length(name)) : NULL;
		if (name && !x->name)
			return &error_no_memory;
	}
	return NULL;
}

static struct error *list(struct pairing *p, struct slice_overruns *o)
{
	size_t objects = p->m->objects.count;
	struct error *err;

	p->overruns = o;
	p->ranks = arena_calloc(&p->arena, objects + 1, sizeof *p->ranks);
	p->is_ranked = arena_calloc(&p->arena, objects + 1, sizeof *p->is_ranked);
	p->of_line = arena_calloc(&p->arena, (size_t)p->request->lines->count + 1, sizeof *p->of_line);
	if (!p->ranks || !p->is_ranked || !p->of_line)
		return &error_no_memory;
	err = overruns_each(p->m, p->request->runs, keep, p);
	if (!err && o->items.count)
		qsort(o->items.items, o->items.count, sizeof *o->items.items, compare_near);
	return err ? err : name_objects(p, o);
}

static struct error *name_frames(const struct pairing *p, struct slice_overruns *o)
{
	const struct crash_thread *t = &p->request->code->crash->threads[p->request->thread];

	o->frame_names = arena_calloc(&o->arena, o->evidence.count + 1, sizeof *o->frame_names);
	if (!o->frame_names)
		return &error_no_memory;
	for (size_t i = 0; i < o->evidence.count; i++) {
		const struct crash_object *from = &o->evidence.items[i].from;

		if (from->kind == CRASH_OBJECT_FRAME && from->frame < t->frame_count)
			o->frame_names[i] = t->frames[from->frame].name;
	}
	return NULL;
}

static struct error *make(struct pairing *p, const struct crash_objects *there, struct slice_overruns *o)
{
	const struct crash_evidence_request evidence = {.values = p->request->values,
							.objects = there,
							.thread = p->request->thread,
							.frame = p->request->frame,
							.shows_text = p->request->shows_text,
							.arena = &o->arena};
	struct error *err = p->request->frame == NONE ? NULL : crash_evidence_find(&evidence, &o->evidence);

	if (!err)
		err = pair_objects(p);
	if (!err)
		err = find_evident(p, &o->evidence);
	if (!err)
		err = find_distances(p);
	if (!err)
		err = name_frames(p, o);
	return err ? err : list(p, o);
}

struct error *slice_overruns_make(const struct slice_overruns_request *request, struct slice_overruns *ret)
{
	struct slice_overruns o = {.is_known = true, .is_of_line = request->frame == NONE};
	struct crash_objects there = {0};
	struct pairing p = {
		.request = request, .m = request->regions->memory, .there = &there, .s = request->values->c->stopped};
	struct error *err = crash_objects_create(request->values, request->thread, &there);

	if (!err)
		err = make(&p, &there, &o);
	id_set_deinit(&p.evident);
	id_set_deinit(&p.near);
	variables_deinit(&p.variables);
	hashmap_deinit(&p.by_name);
	arena_deinit(&p.arena);
	crash_objects_deinit(&there);
	if (err)
		slice_overruns_deinit(&o);
	else
		*ret = o;
	return err;
}

void slice_overruns_deinit(struct slice_overruns *o)
{
	slice_overrun_vec_deinit(&o->items);
	crash_evidence_vec_deinit(&o->evidence);
	arena_deinit(&o->arena);
	*o = (struct slice_overruns){0};
}

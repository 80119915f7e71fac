/* crash_evidence.c - follows what was overwritten back to where the bytes begin that it consists of (crash_evidence.h). */
#include "model/slices/crash_evidence.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "base/text.h"
#include "snapshot/image/code.h"

#define NONE UINT32_MAX

enum {
	FRAMES_MAX = 64,     /* machine frames whose variables are listed */
	RUN_MAX = 1 << 20,   /* bytes that a text is followed back */
	RUN_MIN = 4,         /* bytes in front of a value that make a text of it */
	GAP_MAX = 64,        /* bytes between an object and its neighbour */
	SHOWN_MAX = 32,      /* bytes of a text */
	WORDS_MAX = 16,      /* of memory that have an address */
	NEAR_BYTES = 4096,   /* a member is that far behind a pointer, at most */
	FIRST_BYTES = 65536, /* nothing is mapped there */
	WORD_BYTES = 8,
	RSP = 7,
	CHECK_FRAMES_MAX = 32, /* that are looked at for the check of the stack */
};

/* ---- objects ---- */

struct placed {
	struct snapshot_object object;
	uint32_t frame;
};
VEC_DECLARE(placed_vec, struct placed);

static struct error *add_objects(const struct snapshot_object_vec *found, uint32_t frame, struct placed_vec *ret)
{
	struct error *err = NULL;

	for (size_t i = 0; i < found->count && !err; i++)
		err = placed_vec_append(ret, (struct placed){found->items[i], frame});
	return err;
}

static struct error *list_frame(const struct crash_values *v, const struct crash_thread *t, uint32_t frame,
				struct arena *arena, struct placed_vec *ret)
{
	const struct crash_frame *f = &t->frames[frame];
	struct snapshot_place place = {.frame = f->machine, .thread_pointer = t->machine->thread_pointer};
	struct snapshot_object_vec found = {0};
	struct error *err;

	if (f->machine + 1 < t->machine->frames + t->machine->frame_count)
		place.caller = f->machine + 1;
	err = snapshot_frame_objects(v->c->stopped, &place, arena, &found);
	if (!err)
		err = add_objects(&found, frame, ret);
	snapshot_object_vec_deinit(&found);
	return err;
}

static struct error *list_frames(const struct crash_values *v, const struct crash_thread *t, struct arena *arena,
				 struct placed_vec *ret)
{
	struct error *err = NULL;
	uint32_t listed = 0;

	for (uint32_t i = 0; i < t->frame_count && !err && listed < FRAMES_MAX; i++) {
		bool is_outermost = i + 1 == t->frame_count || t->frames[i + 1].machine != t->frames[i].machine;

		if (!is_outermost || t->frames[i].machine->is_trampoline || !t->frames[i].machine->has_cfa)
			continue;
		err = list_frame(v, t, i, arena, ret);
		listed++;
	}
	return err;
}

static int compare_objects(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;

	return compare_u64(x->object.address, y->object.address) ?: compare_u64(x->object.len_bytes, y->object.len_bytes)
	       ?: compare_u64(x->frame, y->frame);
}

static struct error *take_objects(struct placed_vec *found, struct crash_objects *o)
{
	struct error *err = NULL;

	if (found->count)
		qsort(found->items, found->count, sizeof *found->items, compare_objects);
	o->frame_of = arena_calloc(&o->arena, found->count + 1, sizeof *o->frame_of);
	if (!o->frame_of)
		return &error_no_memory;
	for (size_t i = 0; i < found->count && !err; i++) {
		o->frame_of[i] = found->items[i].frame;
		err = snapshot_object_vec_append(&o->items, found->items[i].object);
	}
	return err;
}

struct error *crash_objects_create(const struct crash_values *v, uint32_t thread, struct crash_objects *ret)
{
	struct snapshot *s = v->c->stopped;
	struct crash_objects o = {0};
	struct snapshot_object_vec statics = {0};
	struct placed_vec found = {0};
	struct error *err = list_frames(v, &v->c->threads[thread], &o.arena, &found);

	if (!err && s->main_module < s->module_count)
		err = snapshot_static_objects(s, s->main_module, &statics);
	if (!err)
		err = add_objects(&statics, NONE, &found);
	if (!err)
		err = take_objects(&found, &o);
	if (!err)
		err = snapshot_heap_walk(s, &o.heap);
	snapshot_object_vec_deinit(&statics);
	placed_vec_deinit(&found);
	if (err)
		crash_objects_deinit(&o);
	else
		*ret = o;
	return err;
}

void crash_objects_deinit(struct crash_objects *o)
{
	snapshot_object_vec_deinit(&o->items);
	snapshot_heap_deinit(&o->heap);
	arena_deinit(&o->arena);
	*o = (struct crash_objects){0};
}

/* ---- places ---- */

struct search {
	const struct crash_evidence_request *request;
	const struct crash_objects *objects;
	const struct crash_thread *thread;
	struct snapshot *s;
	struct crash_evidence_vec *found;
};

static bool holds(const struct snapshot_object *o, uint64_t address)
{
	return address >= o->address && address - o->address < o->len_bytes;
}

static struct crash_object variable_at(const struct search *q, size_t i)
{
	const struct snapshot_object *o = &q->objects->items.items[i];
	uint32_t frame = q->objects->frame_of[i];

	return (struct crash_object){frame == NONE ? CRASH_OBJECT_STATIC : CRASH_OBJECT_FRAME, o->name, frame,
				     o->address, o->len_bytes};
}

/* The part of the stack from the thread's stack pointer down is of no activation any more. */
static bool is_stack(const struct search *q, uint64_t address)
{
	const struct snapshot_thread *m = q->thread->machine;
	struct snapshot_region region;

	if (!m->frame_count || !(m->frames[0].known & 1u << RSP) ||
	    !snapshot_region_at(q->s, m->frames[0].registers[RSP], &region))
		return false;
	return address >= region.start && address < region.end;
}

static struct crash_object object_at(const struct search *q, uint64_t address)
{
	const struct snapshot_object_vec *blocks = &q->objects->heap.blocks;
	struct crash_object found = {0};
	size_t at;

	for (size_t i = 0; i < q->objects->items.count && q->objects->items.items[i].address <= address; i++)
		if (holds(&q->objects->items.items[i], address) &&
		    (!found.kind || q->objects->items.items[i].len_bytes <= found.len_bytes))
			found = variable_at(q, i);
	if (found.kind)
		return found;
	at = COUNT_UP_TO(blocks->items, blocks->count, address, address);
	if (at && holds(&blocks->items[at - 1], address))
		return (struct crash_object){CRASH_OBJECT_HEAP, NULL, NONE, blocks->items[at - 1].address,
					     blocks->items[at - 1].len_bytes};
	if (is_stack(q, address))
		return (struct crash_object){CRASH_OBJECT_STACK, NULL, NONE, address, 0};
	return found;
}

/* What lies in front of an object, and is of the same kind; of a frame's variable in the same frame. */
static struct crash_object neighbour_of(const struct search *q, const struct crash_object *o)
{
	const struct snapshot_object_vec *blocks = &q->objects->heap.blocks;
	struct crash_object found = {0};

	if (o->kind == CRASH_OBJECT_HEAP) {
		size_t at = COUNT_BELOW(blocks->items, blocks->count, address, o->address);

		return at ? object_at(q, blocks->items[at - 1].address) : found;
	}
	for (size_t i = 0; i < q->objects->items.count && q->objects->items.items[i].address < o->address; i++) {
		struct crash_object x = variable_at(q, i);

		if (x.kind == o->kind && (x.kind == CRASH_OBJECT_STATIC || x.frame == o->frame) &&
		    x.address + x.len_bytes <= o->address && o->address - (x.address + x.len_bytes) <= GAP_MAX &&
		    (!found.kind || x.address + x.len_bytes >= found.address + found.len_bytes))
			found = x;
	}
	return found;
}

/* ---- bytes ---- */

static bool is_text(uint8_t byte)
{
	return (byte >= 0x20 && byte < 0x7f) || byte == '\t' || byte == '\n' || byte == '\r';
}

static bool byte_at(const struct search *q, uint64_t address, uint8_t *ret)
{
	return snapshot_read(q->s, address, ret, 1);
}

/* The address where the text, or the row of `fill`, that ends in front of `end` begins. */
static uint64_t run_before(const struct search *q, uint64_t end, int fill)
{
	uint64_t at = end;
	uint8_t byte;

	while (end - at < RUN_MAX && byte_at(q, at - 1, &byte) && (fill < 0 ? is_text(byte) : byte == fill))
		at--;
	return at;
}

static const char *shown_text(const struct search *q, uint64_t address, uint64_t end)
{
	char text[SHOWN_MAX + 1];
	size_t len = 0;

	while (len < SHOWN_MAX && address + len < end && byte_at(q, address + len, (uint8_t *)&text[len]))
		len++;
	text[len] = '\0';
	for (size_t i = 0; i < len; i++)
		if (!is_text((uint8_t)text[i]) || text[i] < 0x20)
			text[i] = ' ';
	return arena_printf(q->request->arena, "%s%s", text, address + len < end ? "..." : "");
}

/* ---- what was overwritten ---- */

/* How the bytes of a value go on from what is in front of it: a text (-1), a row of a byte, or not (-2). */
static int continued(const struct search *q, uint64_t address, uint64_t value, uint64_t len_bytes)
{
	uint8_t first;

	if (!byte_at(q, address, &first))
		return -2;
	if (is_text(first) || (!first && value))
		return -1;
	for (uint64_t i = 1; i < len_bytes && i < WORD_BYTES; i++) {
		uint8_t byte;

		if (!byte_at(q, address + i, &byte) || byte != first)
			return -2;
	}
	return first ? first : -2;
}

/* Names become the arena's. */
static struct error *add(struct search *q, struct crash_evidence x)
{
	struct crash_object *const objects[] = {&x.in, &x.from};

	for (int i = 0; i < 2; i++) {
		if (!objects[i]->name)
			continue;
		objects[i]->name = arena_strdup(q->request->arena, objects[i]->name);
		if (!objects[i]->name)
			return &error_no_memory;
	}
	return crash_evidence_vec_append(q->found, x);
}

static struct error *add_neighbour(struct search *q, struct crash_evidence *x)
{
	x->kind = CRASH_EVIDENCE_NEIGHBOUR;
	x->from = neighbour_of(q, &x->in);
	return x->in.kind ? add(q, *x) : NULL;
}

/* A value that is suspected; what: its expression. */
static struct error *look_at(struct search *q, const char *what, uint64_t address, uint64_t value, uint64_t len_bytes)
{
	struct crash_evidence x = {.what = what, .value = value, .address = address, .in = object_at(q, address)};
	int how = continued(q, address, value, len_bytes);
	uint64_t start = how == -2 ? address : run_before(q, address, how);

	for (size_t i = 0; i < q->found->count; i++)
		if (q->found->items[i].address == address)
			return NULL;
	x.kind = how == -1 ? CRASH_EVIDENCE_TEXT : CRASH_EVIDENCE_FILL;
	x.from = object_at(q, start);
	if (address - start < RUN_MIN || !x.from.kind)
		return add_neighbour(q, &x);
	if (q->request->shows_text && how == -1) {
		x.text = shown_text(q, start, address + 1);
		if (!x.text)
			return &error_no_memory;
	}
	return add(q, x);
}

/* Nothing is where the pointer leads, or it leads to what is no code. */
static bool is_bad_pointer(const struct search *q, const struct snapshot_value *v)
{
	struct snapshot_region region;

	if (!snapshot_region_at(q->s, v->number, &region))
		return true;
	return v->is_code && region.is_told && !region.is_executable;
}

static bool is_all_text(const struct snapshot_value *v)
{
	if (v->len_bytes < 4)
		return false;
	for (uint64_t i = 0; i < v->len_bytes && i < WORD_BYTES; i++)
		if (!is_text((uint8_t)(v->number >> 8 * i)))
			return false;
	return true;
}

static struct error *look_at_values(struct search *q, const struct snapshot_value_vec *values)
{
	struct error *err = NULL;

	for (size_t i = 0; i < values->count && !err; i++) {
		const struct snapshot_value *v = &values->items[i];

		if (v->is_known && v->has_number && v->has_address &&
		    (v->is_pointer ? is_bad_pointer(q, v) : is_all_text(v)))
			err = look_at(q, v->name, v->address, v->number, v->len_bytes);
	}
	return err;
}

/* All levels of the frame's machine frame. */
static struct error *look_at_frame(struct search *q, uint32_t frame)
{
	const struct crash_frame *frames = q->thread->frames;
	struct error *err = NULL;
	uint32_t i = frame;

	while (i && frames[i - 1].machine == frames[frame].machine)
		i--;
	for (; i < q->thread->frame_count && frames[i].machine == frames[frame].machine && !err; i++) {
		struct crash_frame_values values;

		err = crash_values_of(q->request->values, q->thread, &frames[i], q->request->arena, &values);
		if (err)
			return err;
		err = look_at_values(q, &values.values);
		if (!err)
			err = look_at_values(q, &values.arguments);
		crash_frame_values_deinit(&values);
	}
	return err;
}

/* The address that the fault is about; false: none. */
static bool fault_address(const struct search *q, uint64_t *ret)
{
	const struct snapshot_frame *frame = &q->thread->machine->frames[0];
	struct instruction i;

	if (q->s->has_fault_address && q->s->fault_address) {
		*ret = q->s->fault_address;
		return true;
	}
	return snapshot_instruction_at(q->s, frame->pc, &i) && snapshot_operand_address(frame, &i, frame->pc, ret);
}

/* Words of objects that are there, and have the address or one that is a little less. */
static struct error *look_at_words(struct search *q)
{
	uint64_t address, words[WORDS_MAX];
	struct snapshot_region region;
	struct error *err = NULL;
	uint32_t count;

	if (!fault_address(q, &address) || address < FIRST_BYTES + NEAR_BYTES ||
	    snapshot_region_at(q->s, address, &region))
		return NULL;
	count = snapshot_find_words(q->s, address - NEAR_BYTES, address, words, WORDS_MAX);
	for (uint32_t i = 0; i < count && !err; i++) {
		struct crash_object in = object_at(q, words[i]);
		uint64_t value;

		if (in.kind && in.kind != CRASH_OBJECT_STACK && snapshot_read(q->s, words[i], &value, sizeof value))
			err = look_at(q, NULL, words[i], value, sizeof value);
	}
	return err;
}

/* A return that leads nowhere: what it takes off the stack was overwritten. */
static struct error *look_at_return(struct search *q)
{
	const struct snapshot_frame *frame = &q->thread->machine->frames[0];
	uint64_t address = frame->registers[RSP], target;
	struct snapshot_region region;
	struct instruction i;

	if (!(frame->known & 1u << RSP) || !snapshot_instruction_at(q->s, frame->pc, &i) ||
	    i.kind != INSTRUCTION_RETURN || !snapshot_read(q->s, address, &target, sizeof target) ||
	    snapshot_region_at(q->s, target, &region))
		return NULL;
	return look_at(q, "the return address", address, target, sizeof target);
}

static struct error *look_at_fault(struct search *q)
{
	struct error *err = look_at_return(q);

	if (!err)
		err = look_at_frame(q, q->request->frame);
	return err || q->found->count ? err : look_at_words(q);
}

/* ---- checks ---- */

static struct error *look_at_heap(struct search *q)
{
	const struct snapshot_heap *heap = &q->objects->heap;
	const struct snapshot_object *last = heap->blocks.count ? &heap->blocks.items[heap->blocks.count - 1] : NULL;
	struct crash_evidence x = {.kind = CRASH_EVIDENCE_HEAP, .address = heap->broken};
	uint64_t start;

	for (size_t i = 0; i < q->found->count; i++)
		if (last && q->found->items[i].from.address == last->address)
			return NULL;
	if (!heap->broken || !last || !snapshot_read(q->s, heap->broken, &x.value, sizeof x.value))
		return NULL;
	x.from = (struct crash_object){CRASH_OBJECT_HEAP, NULL, NONE, last->address, last->len_bytes};
	start = run_before(q, heap->broken, -1);
	if (q->request->shows_text && heap->broken - start >= RUN_MIN) {
		x.text = shown_text(q, start, heap->broken + 1);
		if (!x.text)
			return &error_no_memory;
	}
	return add(q, x);
}

static struct error *look_at_canary(struct search *q)
{
	const struct crash_frame *frames = q->thread->frames;

	for (uint32_t i = 0; i + 1 < q->thread->frame_count && i < CHECK_FRAMES_MAX; i++) {
		struct crash_evidence x = {.kind = CRASH_EVIDENCE_CANARY};

		if (!text_equal(frames[i].function, "__stack_chk_fail") &&
		    !text_equal(frames[i].function, "__stack_chk_fail_local"))
			continue;
		x.from = (struct crash_object){.kind = CRASH_OBJECT_FRAME, .frame = i + 1};
		return add(q, x);
	}
	return NULL;
}

static int compare_evidence(const void *a, const void *b)
{
	const struct crash_evidence *x = a, *y = b;

	return compare_u64(x->kind, y->kind);
}

struct error *crash_evidence_find(const struct crash_evidence_request *request, struct crash_evidence_vec *ret)
{
	const struct crash *c = request->values->c;
	struct crash_evidence_vec found = {0};
	struct search q = {.request = request,
			   .objects = request->objects,
			   .thread = &c->threads[request->thread],
			   .s = c->stopped,
			   .found = &found};
	struct error *err = NULL;

	if (!q.thread->machine->is_first || !q.s->signal || q.s->is_live || !q.thread->machine->frame_count) {
		*ret = found;
		return NULL;
	}
	if (q.s->signal == SIGSEGV || q.s->signal == SIGBUS)
		err = look_at_fault(&q);
	if (!err && q.s->signal == SIGABRT)
		err = look_at_canary(&q);
	if (!err)
		err = look_at_heap(&q);
	/* The order in which they were found stays within a kind: there are few. */
	for (size_t i = 1; i < found.count; i++)
		for (size_t k = i; k && compare_evidence(&found.items[k - 1], &found.items[k]) > 0; k--) {
			struct crash_evidence x = found.items[k];

			found.items[k] = found.items[k - 1];
			found.items[k - 1] = x;
		}
	if (err)
		crash_evidence_vec_deinit(&found);
	else
		*ret = found;
	return err;
}

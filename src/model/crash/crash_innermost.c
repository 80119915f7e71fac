/*
 * crash_innermost.c - decodes the id of the innermost function that takes part.
 *
 * The id is not the function's own everywhere in it: around a call it is that of the callee, and between two calls of a block
 * it stays what the first call left when the second one stores its own anyway (instrument/contexts/emit.c). So all numbers that may be
 * the function's are decoded, and those are taken that agree with the stack:
 *
 *      id                              nothing in between
 *      id - addend of a call in it     at that call
 *      id of the entry above the top   behind a push: what was pushed is still there
 *
 *      decoded     main -> work -> tailer -> inner         each frame has its function, from the inside out;
 *      frames      main    work              inner         what has none was left by a tail call
 *
 * Where calls of one function by another differ, their lines decide. What is left and reads differently is not known.
 */
#include "model/crash/crash_innermost.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "snapshot/image/elf.h"

static const uint32_t none = UINT32_MAX;
static const uint32_t several = UINT32_MAX - 1;

/* A machine frame of a function that takes part. */
struct part {
	uint32_t function;                /* `several`: any */
	const struct crash_frame *levels; /* innermost first */
	uint32_t level_count;
};
VEC_DECLARE(part_vec, struct part);
VEC_DECLARE(id_vec, uint64_t);

/* The frames since the last push. */
struct stack {
	struct part_vec parts;
	bool is_cut; /* there are more, which are not known */
};

/* ---- which function a frame is of ---- */

/* The symbol's function; bodies of other schemes are called f.wm... (instrument/trace/trace_variants.c). */
static uint32_t find_symbol(const struct meta *m, const char *symbol)
{
	const char *variant = strstr(symbol, ".wm");
	size_t len = variant ? (size_t)(variant - symbol) : strlen(symbol);

	for (uint32_t i = 0; i < m->function_count; i++)
		if (strncmp(m->functions[i].link_name, symbol, len) == 0 && !m->functions[i].link_name[len])
			return i;
	for (uint32_t i = 0; i < m->alias_count; i++)
		if (strcmp(m->aliases[i].link_name, symbol) == 0)
			return m->aliases[i].function;
	return none;
}

/* By the name in the source, which static functions of several files may have. */
static uint32_t find_name(const struct meta *m, const struct crash_frame *frame)
{
	uint32_t found = none, in_file = none, count = 0, file_count = 0;

	for (uint32_t i = 0; frame->function && i < m->function_count; i++) {
		const struct meta_function *f = &m->functions[i];

		if (strcmp(f->link_name, frame->function) != 0 && strcmp(f->name, frame->function) != 0)
			continue;
		found = i;
		count++;
		if (f->file && frame->file && strcmp(text_base_name(f->file), text_base_name(frame->file)) == 0) {
			in_file = i;
			file_count++;
		}
	}
	if (count > 1)
		return file_count == 1 ? in_file : several;
	return found;
}

static uint32_t find_function(const struct snapshot *s, struct image *const *images, const struct crash_frame *frame)
{
	const struct snapshot_frame *machine = frame->machine;
	const char *symbol;
	uint64_t off;
	uint32_t found = none;

	if (frame->image >= s->module_count || !images[frame->image])
		return none;
	symbol = snapshot_symbol_at(s, machine->pc - !machine->is_activation, &off);
	if (symbol)
		found = find_symbol(&images[frame->image]->meta, symbol);
	return found != none ? found : find_name(&images[frame->image]->meta, frame);
}

static bool is_way_in(const struct crash_frame *f)
{
	return f->function && f->machine->is_activation && strncmp(f->function, WM1_CALL, strlen(WM1_CALL)) == 0;
}

bool crash_innermost_find(const struct crash *c, struct image *const *images, const struct crash_thread *t,
			  struct crash_innermost *ret)
{
	for (uint32_t i = 0; i < t->frame_count; i++) {
		struct crash_frame *f = &t->frames[i];
		uint32_t function = f->is_inlined ? none : find_function(c->stopped, images, f);
		bool is_entered = is_way_in(f) && images[f->image];

		if (is_entered)
			function = find_symbol(&images[f->image]->meta, f->function + strlen(WM1_CALL));
		if (function == none)
			continue;
		*ret = (struct crash_innermost){f, i, images[f->image], function == several ? UINT32_MAX : function,
						is_entered};
		return true;
	}
	return false;
}

/* ---- pushes ---- */

/* Before a tail call: sp is the place of the return address (WM1_TAIL_ORDINALS). */
static bool is_tail_push(const struct wm1_entry *e)
{
	return e->sp & 8;
}

static bool is_pushed_by(const struct crash_innermost *f, const struct process *process, const struct wm1_entry *e)
{
	struct image *image;
	uint32_t local;
	struct error *err = process_find_site(process, e->site & ~WM1_SITE_ELIDED, &image, &local);

	if (err) {
		error_destroy(err);
		return false;
	}
	return image == f->image && image->meta.sites[local].caller == f->function;
}

/* By code of ours that a function has called. */
static bool is_bound_push(const struct process *process, const struct wm1_entry *e)
{
	struct image *image;
	uint32_t local;
	struct error *err = process_find_site(process, e->site & ~WM1_SITE_ELIDED, &image, &local);

	if (!err)
		return image->meta.sites[local].kind == META_SITE_BOUND;
	error_destroy(err);
	return false;
}

static bool is_in_frame(const struct snapshot_frame *m, uint64_t sp)
{
	return m->has_cfa && m->known & 1u << 7 && sp >= m->registers[7] && sp < m->cfa;
}

bool crash_innermost_has_pushed(const struct crash_innermost *f, const struct process *process,
				const struct wm1_entry *last)
{
	if (last && is_bound_push(process, last))
		return is_in_frame(f->frame->machine, last->sp + WM1_CALL_BOUND_BYTES);
	/* A function that was reached by a tail call has the frame of the one that pushed for it. */
	return last && is_in_frame(f->frame->machine, last->sp) &&
	       (!is_tail_push(last) || is_pushed_by(f, process, last));
}

/* ---- the stack ---- */

/* The frame is not that of the last push, nor below it. */
static bool is_above(const struct snapshot_frame *m, const struct wm1_entry *last)
{
	uint64_t end;

	if (!last)
		return true;
	end = is_tail_push(last) ? (last->sp & ~(uint64_t)WM1_TAIL_ORDINALS) + 8 : last->sp;
	return m->cfa <= end;
}

static struct error *read_stack(const struct crash *c, struct image *const *images, const struct crash_thread *t,
				const struct crash_innermost *f, const struct wm1_entry *last, struct stack *ret)
{
	struct error *err = part_vec_append(&ret->parts, (struct part){.function = f->function});
	uint32_t first = f->index + 1;

	ret->is_cut = t->machine->cut;
	for (uint32_t i = first; i < t->frame_count && !err; i++) {
		const struct crash_frame *frame = &t->frames[i];
		struct part part = {.levels = &t->frames[first], .level_count = i + 1 - first};

		if (frame->is_inlined)
			continue;
		first = i + 1;
		ret->is_cut = !frame->machine->has_cfa;
		if (ret->is_cut || frame->machine->is_trampoline || !is_above(frame->machine, last))
			return NULL;
		part.function = find_function(c->stopped, images, frame);
		if (part.function == none || images[frame->image] != f->image)
			return NULL; /* what it calls begins anew */
		err = part_vec_append(&ret->parts, part);
		ret->is_cut = t->machine->cut;
	}
	return err;
}

/* The call in progress in the frame is the site's. */
static bool is_at_site(const struct meta *m, const struct part *part, const struct meta_site *site)
{
	uint32_t location = site->location;

	for (uint32_t i = 0; i < part->level_count; i++) {
		const struct crash_frame *level = &part->levels[i];
		const struct meta_location *l = &m->locations[location - 1];

		if (!location || l->line != level->line || l->column != level->column)
			return false;
		location = l->inlined_at;
	}
	return !location;
}

/* Edges are outermost first. *ret: in how many frames the call in progress is that of the edge. */
static bool fits(const struct stack *stack, const struct image *image, const struct context_piece *piece, uint32_t *ret)
{
	const struct meta *m = &image->meta;
	size_t at = 1;

	*ret = 0;
	for (uint32_t i = piece->edge_count; i-- > 0;) {
		const struct meta_site *site = &m->sites[context_piece_site(piece, i)];
		const struct part *part = at < stack->parts.count ? &stack->parts.items[at] : NULL;

		if (part && (part->function == site->caller || part->function == several)) {
			*ret += is_at_site(m, part, site);
			at++;
		} else if (!(site->flags & META_SITE_TAIL) && (part || !stack->is_cut)) {
			return false;
		}
	}
	return at == stack->parts.count;
}

/* ---- what the id may be ---- */

static struct error *find_ids(const struct crash_innermost *f, const struct process *process,
			      const struct crash_state *state, struct id_vec *ret)
{
	const struct meta *m = &f->image->meta;
	struct error *err = id_vec_append(ret, state->id);

	for (uint32_t i = 1; i < m->site_count && !err; i++) {
		const struct meta_site *site = &m->sites[i];

		if (site->caller == f->function && site->kind == META_SITE_CALL && site->addend &&
		    state->id >= site->addend)
			err = id_vec_append(ret, state->id - site->addend);
	}
	if (!err && state->dropped && is_in_frame(f->frame->machine, state->dropped->sp) &&
	    is_pushed_by(f, process, state->dropped))
		err = id_vec_append(ret, state->dropped->id);
	return err;
}

/* No call leaves the id to a second one. */
static bool is_put_back(const struct crash_innermost *f)
{
	const struct meta *m = &f->image->meta;
	uint32_t count = 0;

	for (uint32_t i = 1; i < m->site_count; i++) {
		const struct meta_site *site = &m->sites[i];

		if (site->caller == f->function && site->kind != META_SITE_CAPTURE)
			count += site->kind != META_SITE_CALL || site->addend;
	}
	return count < 2;
}

static bool reads_alike(const struct frame_vec *a, const struct frame_vec *b)
{
	if (a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++)
		if (!text_equal(a->items[i].name, b->items[i].name))
			return false;
	return true;
}

struct choice {
	bool is_found;
	bool is_sure; /* nothing else that reads differently fits as well */
	uint32_t score;
	struct frame_vec frames;
};

static void choose(struct choice *best, uint32_t score, struct frame_vec *frames)
{
	struct frame_vec old = best->frames;

	if (best->is_found && score < best->score)
		return;
	if (best->is_found && score == best->score) {
		best->is_sure &= reads_alike(&best->frames, frames);
		return;
	}
	*best = (struct choice){.is_found = true, .is_sure = true, .score = score, .frames = *frames};
	*frames = old;
}

/* Only want of memory is an error: other numbers mean nothing. */
static struct error *try_id(const struct process *process, const struct crash_innermost *f, const struct stack *stack,
			    const struct context_below *below, uint64_t id, struct choice *best)
{
	struct frame_vec frames = {0};
	struct context_piece piece;
	uint32_t score;
	struct error *err = image_decode_piece(f->image, WM_EPOCH_COMPILED, f->function, id, &piece);

	if (!err && fits(stack, f->image, &piece, &score)) {
		err = context_append_callers(process, below, f->image, f->function, id, &frames);
		if (!err)
			choose(best, score, &frames);
	}
	frame_vec_deinit(&frames);
	if (err && err->code != ERROR_NO_MEMORY) {
		error_destroy(err);
		err = NULL;
	}
	return err;
}

static struct error *append_best(const struct process *process, const struct crash_innermost *f,
				 const struct stack *stack, const struct context_below *below, const struct id_vec *ids,
				 struct frame_vec *frames)
{
	const char *name = f->frame->name ? f->frame->name : "a function";
	struct choice best = {0};
	struct error *err = NULL;

	for (size_t i = 0; i < ids->count && !err; i++)
		err = try_id(process, f, stack, below, ids->items[i], &best);
	if (!err && !best.is_found)
		err = error_create(ERROR_NOT_FOUND,
				   "%s was between two calls, and none that it makes leads to the stack", name);
	if (!err && !best.is_sure)
		err = error_create(
			ERROR_NOT_FOUND,
			"%s may have been between two calls, and the stack does not tell which way led to it", name);
	for (size_t i = 0; i < best.frames.count && !err; i++)
		err = frame_vec_append(frames, best.frames.items[i]);
	frame_vec_deinit(&best.frames);
	return err;
}

/* ---- roots ---- */

static bool begins_with(const uint8_t *code, const char *bytes, size_t len_bytes)
{
	return memcmp(code, bytes, len_bytes) == 0;
}

/* Bytes ahead of a root's own code, which set its id (instrument/contexts/entry.c); 0: none. */
static unsigned entry_length(const uint8_t *code)
{
	const unsigned start = begins_with(code, "\xf3\x0f\x1e\xfa", 4) ? 4 : 0;

	code += start;
	if (begins_with(code, "\x64\x48\x83\x3c\x25", 5))
		return start + 17 + (begins_with(code + 17, "\x64\x48\xc7\x04\x25", 5) ? 13 : 24);
	if (!begins_with(code, "\x4c\x8b\x1d", 3))
		return 0;
	return start + 20 + (begins_with(code + 20, "\x64\x49\xc7\x03", 4) ? 8 : 17);
}

/* The root is about to set its id, or calls a helper before. */
static bool is_at_entry(const struct snapshot *s, const struct snapshot_frame *m)
{
	uint8_t code[32];
	uint64_t off;

	return snapshot_symbol_at(s, m->pc, &off) && off < 2 * sizeof code &&
	       snapshot_read(s, m->pc - off, code, sizeof code) && off < entry_length(code);
}

struct error *crash_innermost_append(const struct crash *c, struct image *const *images, const struct process *process,
				     const struct crash_thread *t, const struct crash_innermost *f,
				     const struct crash_state *state, struct frame_vec *frames)
{
	const struct meta_function *meta = &f->image->meta.functions[f->function];
	const bool is_root = meta->flags & META_FUNCTION_ROOT;
	struct stack stack = {0};
	struct id_vec ids = {0};
	struct error *err;

	if (f->frame->calls_bound)
		return error_create(ERROR_NOT_FOUND, "it was just calling another image's function");
	if (f->is_entered)
		return context_append_callers(process, &state->below, f->image, f->function, state->id, frames);
	/* A root of one context sets its id behind its prologue. */
	if (is_root && (meta->contexts == 1 || is_at_entry(c->stopped, f->frame->machine)))
		return context_append_callers(process, &state->below, f->image, f->function, meta->restart, frames);
	err = find_ids(f, process, state, &ids);
	if (!err && ids.count == 1)
		err = context_append_callers(process, &state->below, f->image, f->function, state->id, frames);
	else if (!err)
		err = read_stack(c, images, t, f, state->last, &stack);
	if (!err && stack.is_cut && stack.parts.count == 1 && is_put_back(f)) /* smashed: nothing to compare with */
		ids.count = 1;
	if (!err && ids.count > 1)
		err = append_best(process, f, &stack, &state->below, &ids, frames);
	part_vec_deinit(&stack.parts);
	id_vec_deinit(&ids);
	return err;
}

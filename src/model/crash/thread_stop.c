/*
 * thread_stop.c - finds the innermost function that takes part, and its own id (thread_stop.h).
 *
 *      stack pointer ->  | frame of the function     |      an entry whose stack pointer is in here is the function's:
 *                        |                           |      it is in a call, and the entry has its id and the site
 *      at its entry  ->  | return address            |
 *                        | frames of its callers     |      all others are its callers'
 *
 * Where its frame ends the code tells, too: how far the stack pointer, or another register, is from where it was at the entry.
 */
#include "model/crash/thread_stop.h"

#include <stdlib.h>
#include <string.h>

#include "base/hashmap.h"
#include "base/text.h"

static const uint32_t none = UINT32_MAX;

/* A function of the process. */
struct known_function {
	struct image *image; /* NULL: of none */
	uint32_t function;   /* `none`: it takes no part */
	bool is_helper;
	bool is_way_in;         /* WM1_CALL f: `function` is f */
	struct word_flow *flow; /* NULL until needed */
	struct word_function code;
};
VEC_DECLARE(known_vec, struct known_function);

struct stop_flows {
	struct hashmap by_start;
	struct known_vec items;
};

/* A function as it stands when the thread is stopped. */
struct place {
	struct known_function f;
	const struct snapshot_frame *frame; /* whose registers they are */
	bool is_changing;                   /* it is of the runtime, and in the middle of changing the words */
	struct word_state state;
	bool is_reached;
	bool is_binding; /* it has called WM1_CALL_BOUND, which pushes for a function that has jumped there, and pops */
	bool is_pushing_tail; /* in the helper that pushes before a tail call */
	bool is_at_stop;      /* the state is that of the next instruction, not of a call in progress */
	bool has_entry_sp;
	uint64_t entry_sp;
};

struct error *stop_flows_create(struct stop_flows **ret)
{
	*ret = calloc(1, sizeof **ret);
	return *ret ? NULL : &error_no_memory;
}

void stop_flows_destroy(struct stop_flows *flows)
{
	if (!flows)
		return;
	for (size_t i = 0; i < flows->items.count; i++)
		word_flow_destroy(flows->items.items[i].flow);
	known_vec_deinit(&flows->items);
	hashmap_deinit(&flows->by_start);
	free(flows);
}

/* ---- functions ---- */

/* Bodies of other schemes are called f.wm... (instrument/trace/trace_variants.c). */
static uint32_t find_in_meta(const struct meta *m, const char *symbol)
{
	const char *variant = strstr(symbol, ".wm");
	const size_t len = variant ? (size_t)(variant - symbol) : strlen(symbol);

	for (uint32_t i = 0; i < m->function_count; i++)
		if (strncmp(m->functions[i].link_name, symbol, len) == 0 && !m->functions[i].link_name[len])
			return i;
	for (uint32_t i = 0; i < m->alias_count; i++)
		if (strcmp(m->aliases[i].link_name, symbol) == 0)
			return m->aliases[i].function;
	return none;
}

static void know(const struct thread_reader *x, struct known_function *f)
{
	static const size_t prefix = sizeof WM1_CALL - 1;
	const char *name = f->code.name;

	f->function = none;
	f->image = x->image_of(x->code.data, f->code.start);
	if (!f->image)
		return;
	f->is_helper = word_is_helper(name);
	f->is_way_in = text_begins(name, WM1_CALL);
	if (!f->is_helper)
		f->function = find_in_meta(&f->image->meta, f->is_way_in ? name + prefix : name);
}

/* *ret: index in flows->items; ret_found is false where no function is known at the address. */
static struct error *find_known(const struct thread_reader *x, struct stop_flows *flows, uint64_t address,
				uint32_t *ret, bool *ret_found)
{
	struct known_function f = {.flow = NULL};
	struct error *err;

	*ret_found = x->code.find(x->code.data, address, &f.code);
	if (!*ret_found)
		return NULL;
	err = hashmap_add(&flows->by_start, &(struct key){{f.code.start}}, ret);
	if (err || *ret < flows->items.count)
		return err;
	know(x, &f);
	return known_vec_append(&flows->items, f);
}

static const struct meta_function *meta_of(const struct known_function *f)
{
	return &f->image->meta.functions[f->function];
}

/* One id, which it has whenever it runs. */
static bool has_one_id(const struct known_function *f)
{
	return meta_of(f)->contexts == 1;
}

static struct error *follow(const struct thread_reader *x, struct known_function *f)
{
	const bool is_root = f->function != none && meta_of(f)->flags & META_FUNCTION_ROOT && !has_one_id(f);
	const struct word_state begin = word_state_begin(is_root);

	return f->flow ? NULL : word_flow_create(&x->code, &f->code, &begin, &f->flow);
}

/* ---- where it stands ---- */

static bool state_at(const struct word_flow *flow, uint64_t pc, bool is_at_stop, struct word_state *ret)
{
	return is_at_stop ? word_flow_at(flow, pc, ret) : word_flow_at_call(flow, pc, ret);
}

/* Some register tells where the stack pointer was. */
static void find_entry_sp(struct place *p)
{
	for (unsigned i = 0; i < WORD_REGISTERS && !p->has_entry_sp; i++) {
		const unsigned r = (i + WORD_RSP) % WORD_REGISTERS;
		const struct word_value *v = &p->state.registers[r];

		if (v->kind == WORD_STACK && !v->region && p->frame->known & 1u << r) {
			p->entry_sp = p->frame->registers[r] - (uint64_t)v->n;
			p->has_entry_sp = true;
		}
	}
	if (!p->has_entry_sp && !p->f.is_helper && p->frame->has_cfa) {
		p->entry_sp = p->frame->cfa - 8;
		p->has_entry_sp = true;
	}
}

/* Stands in a helper: *p becomes the function that has called it, with the state in the middle of the helper. */
static struct error *leave_helper(const struct thread_reader *x, struct stop_flows *flows, uint32_t helper,
				  struct place *p, bool *ret)
{
	struct known_function *h = &flows->items.items[helper];
	struct word_flow *inner = NULL;
	struct word_state state;
	uint64_t address;
	uint32_t caller;
	struct error *err = follow(x, h);

	*ret = false;
	p->is_reached = !err && state_at(h->flow, p->frame->pc, p->is_at_stop, &p->state);
	if (err || !p->is_reached)
		return err;
	find_entry_sp(p);
	if (!p->has_entry_sp || !x->code.read(x->code.data, p->entry_sp, &address, sizeof address))
		return NULL;
	err = find_known(x, flows, address - 1, &caller, ret);
	if (err || !*ret)
		return err;
	p->f = flows->items.items[caller];
	*ret = p->f.function != none && !p->f.is_way_in;
	err = *ret ? follow(x, &flows->items.items[caller]) : NULL;
	if (err || !*ret)
		return err;
	p->f = flows->items.items[caller];
	p->is_reached = word_flow_at_call(p->f.flow, address, &state);
	if (!p->is_reached)
		return NULL;
	state.registers[WORD_RSP].n -= 8;
	err = word_flow_create(&x->code, &flows->items.items[helper].code, &state, &inner);
	if (err)
		return err;
	p->is_pushing_tail = strcmp(flows->items.items[helper].code.name, "wm1.push_tail") == 0;
	p->is_reached = state_at(inner, p->frame->pc, p->is_at_stop, &p->state);
	p->has_entry_sp = false;
	if (p->is_reached)
		find_entry_sp(p);
	word_flow_destroy(inner);
	return NULL;
}

/* They change both words, one after the other; helpers that call others are followed. */
static bool is_changer(const char *name)
{
	static const char *const names[] = {"wmrt_longjmp", "wmrt_handle", "own_swapcontext", "wm1_drop_tails"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

/* *ret: the function of a frame takes part, or has called the helper that does. */
static struct error *look_at(const struct thread_reader *x, struct stop_flows *flows,
			     const struct snapshot_frame *frame, struct place *p, bool *ret)
{
	uint32_t i;
	struct error *err;

	*p = (struct place){.frame = frame, .is_at_stop = frame->is_activation, .is_binding = p->is_binding};
	err = find_known(x, flows, frame->pc - !frame->is_activation, &i, ret);
	if (err || !*ret)
		return err;
	p->f = flows->items.items[i];
	p->is_binding |= strcmp(p->f.code.name, WM1_CALL_BOUND) == 0;
	if (p->f.is_helper)
		return leave_helper(x, flows, i, p, ret);
	p->is_changing = p->f.image && p->f.function == none && is_changer(p->f.code.name);
	*ret = p->is_changing || (p->f.function != none && (!p->f.is_way_in || frame->is_activation));
	if (!*ret || p->is_changing || p->f.is_way_in)
		return NULL;
	err = follow(x, &flows->items.items[i]);
	if (err)
		return err;
	p->f = flows->items.items[i];
	p->is_reached = state_at(p->f.flow, frame->pc, p->is_at_stop, &p->state);
	find_entry_sp(p);
	return NULL;
}

/* ---- pushes ---- */

/* Before a tail call: sp is the place of the return address (WM1_TAIL_ORDINALS). */
static bool is_tail_push(const struct wm1_entry *e)
{
	return e->sp & 8;
}

/* The site that has pushed. false: no image has it. */
static bool find_site(const struct process *process, const struct wm1_entry *e, const struct image **ret_image,
		      const struct meta_site **ret)
{
	struct image *image;
	uint32_t local;
	struct error *err = process_find_site(process, e->site & ~WM1_SITE_ELIDED, &image, &local);

	if (err) {
		error_destroy(err);
		return false;
	}
	*ret_image = image;
	*ret = &image->meta.sites[local];
	return true;
}

static bool is_own_tail_push(const struct place *p, const struct wm1_entry *e)
{
	return is_tail_push(e) && (e->sp & ~(uint64_t)WM1_TAIL_ORDINALS) == p->entry_sp;
}

/* The entry may be the one that the function is just writing, or that of one like it. */
static bool is_half_pushed(const struct thread_reader *x, const struct place *p, const struct wm1_entry *last)
{
	const struct image *image;
	const struct meta_site *site;

	if (!p->is_pushing_tail || !is_own_tail_push(p, last))
		return false;
	return (last->sp & WM1_TAIL_ORDINALS) == WM1_TAIL_ORDINALS ||
	       (find_site(&x->process, last, &image, &site) && image == p->f.image && site->caller == p->f.function);
}

static bool has_pushed(const struct thread_reader *x, const struct place *p, const struct wm1_entry *last)
{
	const struct image *image;
	const struct meta_site *site;
	uint64_t sp = last->sp;

	if (is_tail_push(last))
		return is_own_tail_push(p, last) && p->is_reached && p->state.has_jumped_on;
	/* Code of ours that the function has called pushes where another image's function is bound. */
	if (find_site(&x->process, last, &image, &site) && site->kind == META_SITE_BOUND)
		sp += WM1_CALL_BOUND_BYTES;
	return sp >= p->frame->registers[WORD_RSP] && sp < p->entry_sp;
}

/* ---- the id ---- */

static bool is_own(const struct place *p, struct word_value v, uint64_t value, uint64_t *ret)
{
	const uint64_t own = value - (uint64_t)v.n;

	if (v.kind != WORD_ID || own >= meta_of(&p->f)->contexts)
		return false;
	*ret = own;
	return true;
}

/* A register of the function, or a place of its frame, that has it. */
static bool find_kept(const struct thread_reader *x, const struct place *p, uint64_t *ret)
{
	const struct word_state *s = &p->state;
	const struct word_value sp = s->registers[WORD_RSP];

	for (unsigned r = 0; r < WORD_REGISTERS; r++)
		if (p->frame->known & 1u << r && is_own(p, s->registers[r], p->frame->registers[r], ret))
			return true;
	for (uint32_t i = 0; i < s->slot_count; i++) {
		const struct word_slot *slot = &s->slots[i];
		uint64_t base = p->entry_sp, value;

		if (slot->value.kind != WORD_ID || (slot->place.region && slot->place.region != sp.region))
			continue;
		if (slot->place.region)
			base = p->frame->registers[WORD_RSP] - (uint64_t)sp.n;
		if (x->code.read(x->code.data, base + (uint64_t)slot->place.n, &value, sizeof value) &&
		    is_own(p, slot->value, value, ret))
			return true;
	}
	return false;
}

/* A call of the function by itself has, which is about to be made or has just come back. */
static bool has_appended(const struct word_state *s)
{
	return s->history != WORD_HISTORY_OWN && s->history <= WORD_HISTORY_BITS_MAX;
}

static bool find_id(const struct thread_reader *x, const struct place *p, uint64_t id, uint64_t *ret)
{
	static const struct word_value own = {.kind = WORD_ID};
	const bool is_doubtful = p->is_at_stop && p->state.is_after_call;

	/* A call by itself leaves the id as it is, if it has not pushed. */
	if (has_appended(&p->state))
		return is_own(p, own, id, ret);
	if (p->state.is_outside) {
		*ret = meta_of(&p->f)->restart;
		return true;
	}
	return (!is_doubtful && is_own(p, p->state.id, id, ret)) || find_kept(x, p, ret) ||
	       is_own(p, p->state.id, id, ret);
}

/* By calls that change the history. */
static bool calls_itself(const struct known_function *f)
{
	const struct meta *m = &f->image->meta;

	for (uint32_t i = 1; i < m->site_count; i++)
		if (m->sites[i].kind == META_SITE_SELF_CALL && m->sites[i].caller == f->function)
			return true;
	return false;
}

/* *words becomes as the function found them, which has not pushed. */
static bool takes_off_history(const struct place *p, struct thread_words *words)
{
	const bool is_told = p->state.history == WORD_HISTORY_OWN || has_appended(&p->state);

	if (!p->is_reached || word_flow_recovers(p->f.flow) || !is_told)
		return false;
	words->state.history >>= p->state.history;
	return words->state.history != 0;
}

static void decide(const struct thread_reader *x, const struct place *p, struct thread_words *words,
		   struct thread_stop *ret)
{
	const char *why = p->f.flow ? word_flow_why(p->f.flow) : NULL;

	ret->is_on_way_in = p->f.is_way_in;
	ret->id = words->state.id;
	ret->is_known = ret->is_on_way_in;
	if (ret->is_on_way_in)
		return;
	ret->why = why ? why : "stands where its code tells nothing";
	if (!p->has_entry_sp || (!p->is_reached && !has_one_id(&p->f)))
		return;
	if (p->is_reached && p->is_at_stop && p->state.is_after_call)
		thread_words_drop_below(words, p->frame->registers[WORD_RSP]);
	ret->why = "is just pushing a call";
	if (words->entries.count && is_half_pushed(x, p, &words->entries.items[0]))
		return;
	ret->is_in_call = words->entries.count && has_pushed(x, p, &words->entries.items[0]);
	if (p->is_binding && !ret->is_in_call)
		return;
	ret->is_known = true;
	if (ret->is_in_call) {
		ret->is_spilled = (words->entries.items[0].sp & WM1_SP_MARKS) == WM1_SP_SPILLS;
		return;
	}
	if (calls_itself(&p->f) && !takes_off_history(p, words)) {
		ret->why = "calls itself, and is about to or has just come back: the history does not tell";
		ret->is_known = false;
		return;
	}
	ret->why = "has taken off what was pushed on the way to it";
	ret->is_known = !p->is_reached || !p->state.has_cleaned;
	if (has_one_id(&p->f)) {
		ret->id = meta_of(&p->f)->restart;
	} else if (ret->is_known) {
		ret->why = "stands where its code tells nothing of its id";
		ret->is_known = find_id(x, p, words->state.id, &ret->id);
	}
}

struct error *thread_stop_find(const struct thread_reader *x, struct stop_flows *flows,
			       const struct snapshot_frame *frames, uint32_t frame_count, struct thread_words *words,
			       struct thread_stop *ret, bool *ret_found)
{
	struct error *err = NULL;
	struct place p = {.frame = NULL};

	*ret_found = false;
	for (uint32_t i = 0; i < frame_count && !err && !*ret_found; i++) {
		/* What a handler has interrupted: the words are the handler's, whose root is on the stack. */
		if (frames[i].is_trampoline && words->root == WM_PREFIX_SIGNAL)
			return NULL;
		err = look_at(x, flows, &frames[i], &p, ret_found);
		if (err || !*ret_found)
			continue;
		*ret = (struct thread_stop){.frame = i, .image = p.f.image, .function = p.f.function};
		if (p.is_changing)
			*ret = (struct thread_stop){.frame = i, .name = p.f.code.name, .why = "is changing it"};
		else
			decide(x, &p, words, ret);
	}
	return err;
}

struct error *thread_stop_decode(const struct thread_reader *x, const struct thread_stop *stop,
				 const struct thread_words *words, struct frame_vec *frames)
{
	const char *name = stop->image ? image_function_name(stop->image, stop->function) : stop->name;
	struct context_below below;
	struct error *err;

	if (!name)
		return &error_no_memory;
	if (!stop->is_known)
		return error_create(ERROR_NOT_FOUND, "%s %s", name, stop->why);
	err = thread_words_decode(x, words, &below, frames);
	if (err || (stop->is_in_call && !stop->is_spilled))
		return err;
	if (!stop->is_spilled)
		err = context_append_callers(&x->process, &below, stop->image, stop->function, stop->id, frames);
	return err || stop->is_on_way_in
		       ? err
		       : frame_vec_append(
				 frames,
				 (struct frame){.name = name,
						.link_name = stop->image->meta.functions[stop->function].link_name});
}

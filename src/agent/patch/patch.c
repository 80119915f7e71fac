/*
 * patch.c - sites: from the calls that were seen to bytes.
 *
 * The bytes of a site are those of its instructions before it (lead), of itself, and behind it (room):
 *
 *      direct call          call before                   room: jmp after (if anything is to be undone)
 *      indirect call        nops over the lead; call choose     the same
 *      direct tail call     jmp before
 *      indirect tail call   jmp choose; nops
 *      no room              jmp detour; the detour makes the call itself
 *
 * `choose` does what the lead did, and compares the target with those seen. A stub `before` belongs to one call and does what the
 * encoding says: add, push, or nothing (then there is no stub). Old stubs stay where they are: a thread may be in one.
 */
#include "agent/patch/patch.h"

#include <string.h>

#include "agent/epoch/addends.h"
#include "agent/patch/batch.h"
#include "agent/code/cells.h"
#include "agent/code/choice.h"
#include "agent/os/memory.h"
#include "agent/os/options.h"
#include "agent/patch/shape.h"
#include "agent/threads/stop.h"
#include "agent/code/stub.h"

enum {
	REGION_MAX = CODE_PATCH_MAX,
	CALL_BYTES = STUB_BRANCH_BYTES,
	JUMP = 0xe9,
	MAX_COMPARED = 12,
};
static const uintptr_t REACH_BYTES = (uintptr_t)1 << 30;

/* ---- stubs ---- */

static bool stub_begin_at_site(struct stub *s, const struct agent_site *site, enum code_stub_kind kind)
{
	return stub_begin(s, agent_program.functions[site->function].image, kind,
			  (uint32_t)(site - agent_program.sites));
}

static uint32_t site_number(const struct agent_site *site)
{
	return (uint32_t)(site - agent_program.sites);
}

/* To the agent, which finds a return address on the stack: a call that a cell is to make has put none there. */
static void emit_to_discover(struct stub *s, const struct agent_site *site)
{
	if (site->is_at_cell)
		emit_push_address(&s->e, shape_return_address(site));
	emit_thunk(&s->e, site_number(site) | (agent_site_is_call(site) ? 0 : PATCH_TAIL), s->area->places.discover);
}

static const struct callgraph_edge *edge_of(const struct agent_call *call)
{
	return call->edge == AGENT_NONE ? NULL : &agent_program.encoder.graph.edges[call->edge];
}

bool patch_call_pushes(const struct agent_call *call)
{
	const struct callgraph_edge *edge = edge_of(call);

	return edge ? edge->kind != EDGE_ENCODED : !call->is_quiet;
}

static uint64_t addend_of(const struct agent_call *call)
{
	return patch_call_pushes(call) ? 0 : addends_of_site(&agent_program.sites[call->site]);
}

static bool leaves_tails(const struct agent_call *call)
{
	return call->callee != AGENT_NONE && agent_program.functions[call->callee].leaves_tails;
}

uint32_t patch_pushed_site(const struct agent_call *call)
{
	return call->edge == AGENT_NONE ? call->foreign : agent_program.sites[call->site].record;
}

/* What the call does to the context before the callee begins. */
static void emit_before(struct stub *s, const struct agent_site *site, struct agent_call *call)
{
	const struct emit_places *p = &s->area->places;
	uint32_t pushed, done;
	struct emit_start start = {.is_foreign = call->edge == AGENT_NONE};

	if (!patch_call_pushes(call)) {
		done = emit_add(&s->e, p, addend_of(call));
		stub_done(s, done, done);
		return;
	}
	if (call->edge != AGENT_NONE)
		start.restart = agent_program.encoder.graph.nodes[agent_program.functions[call->callee].node].restart;
	if (!call->counter && (call->edge != AGENT_NONE || agent_options.is_verbose))
		call->counter = code_add_counter(s->area);
	if (agent_site_is_call(site)) {
		emit_push(&s->e, p, patch_pushed_site(call), addends_of_site(site), &start, call->counter, &pushed,
			  &done);
	} else {
		emit_push_tail(&s->e, p, patch_pushed_site(call), &start, call->counter, &pushed, &done);
		s->head.kind = CODE_STUB_TAIL;
	}
	stub_done(s, pushed, done);
}

/* The call is made from a cell, where there is no room behind it: entered by a jump, without a return address. */
static void emit_before_detour(struct stub *s, const struct agent_site *site, struct agent_call *call)
{
	static const uint8_t make_room[] = {0x48, 0x8d, 0x64, 0x24, 0xf8}; /* lea -8(%rsp), %rsp */
	static const uint8_t take_back[] = {0x48, 0x8d, 0x64, 0x24, 0x08};
	static const uint8_t load_r11[] = {0x49, 0xbb}; /* movabs $, %r11 */

	if (patch_call_pushes(call) || addend_of(call)) {
		emit_bytes(&s->e, make_room, sizeof make_room);
		emit_before(s, site, call);
		emit_bytes(&s->e, take_back, sizeof take_back);
	}
	if (!agent_site_is_direct(site)) { /* where the target was looked up, %r11 has this stub's address by now */
		emit_bytes(&s->e, load_r11, sizeof load_r11);
		emit_bytes(&s->e, &call->target, sizeof call->target);
	}
	emit_jump(&s->e, site->cell);
}

/* Stubs of the site's image can branch there. */
static bool is_in_reach(const struct agent_site *site, uintptr_t target)
{
	const struct agent_image *image = agent_program.functions[site->function].image;

	return image->area && target - image->area->low + REACH_BYTES < 2 * REACH_BYTES;
}

static void emit_whole_before(struct stub *s, const struct agent_site *site, struct agent_call *call)
{
	s->head.number = (uint32_t)(call - agent_program.calls);
	if (site->is_at_cell)
		emit_before_detour(s, site, call);
	else if (patch_call_pushes(call) || addend_of(call))
		emit_before(s, site, call);
	if (!site->is_at_cell)
		emit_jump(&s->e, call->target);
}

/* Where the site's branch goes for this call: the callee itself when nothing is to be done. 0: no room. */
static uintptr_t write_before(const struct agent_site *site, struct agent_call *call)
{
	uintptr_t old = call->before;
	struct stub s;

	call->before = site->is_at_cell || !is_in_reach(site, call->target) ? 0 : call->target;
	if (call->before && !patch_call_pushes(call) && addend_of(call) == 0)
		return call->before;
	call->before = 0;
	if (stub_begin_old(&s, agent_program.functions[site->function].image, old, CODE_STUB_BEFORE,
			   site_number(site))) {
		emit_whole_before(&s, site, call);
		call->before = stub_is_old(&s) ? old : 0;
	}
	if (!call->before && stub_begin_at_site(&s, site, CODE_STUB_BEFORE)) {
		emit_whole_before(&s, site, call);
		call->before = stub_end(&s);
	}
	return call->before;
}

/* In front of a direct call or tail call that is not known. 0: no room. */
static uintptr_t write_thunk(const struct agent_site *site)
{
	struct stub s;

	if (site->kind == SCAN_CALL)
		return stub_unknown(agent_program.functions[site->function].image);
	if (!stub_begin_at_site(&s, site, CODE_STUB_CHOOSE))
		return 0;
	emit_to_discover(&s, site);
	return stub_end(&s);
}

/* The lead, and on to `to`. 0: no room. */
static uintptr_t write_lead(const struct agent_site *site, const uint8_t *bytes, uintptr_t to)
{
	struct stub s;

	if (!stub_begin_at_site(&s, site, CODE_STUB_CHOOSE) ||
	    !stub_move(&s.e, bytes, shape_start(site), site->lead_bytes))
		return 0;
	stub_done(&s, 0, s.e.len);
	emit_jump(&s.e, to);
	return stub_end(&s);
}

/* mov target, %r11, the target being what the instruction at the site branches to. depth: how much was pushed since. */
static bool emit_load_target(struct emit *e, const uint8_t *bytes, const struct agent_site *site, int32_t depth)
{
	struct insn insn;
	uint8_t rex = 0x4c, out[12];
	uint32_t len = 0;
	int32_t disp;

	if (!insn_decode_cached(&agent_insns, bytes, site->len_bytes, site->address, &insn))
		return false;
	if (!insn.has_memory) { /* mov %reg, %r11 */
		uint8_t mov[] = {(uint8_t)(0x49 | (insn.reg >> 3) << 2), 0x89, (uint8_t)(0xc3 | (insn.reg & 7) << 3)};

		if (insn.reg == INSN_NO_REG)
			return false;
		emit_bytes(e, mov, sizeof mov);
		return true;
	}
	if (insn.is_rip_relative) {
		int64_t distance = (int64_t)(insn.rip_target - (emit_here(e) + 7));
		uint8_t mov[] = {0x4c, 0x8b, 0x1d};
		int32_t distance32 = (int32_t)distance;

		if (distance != distance32)
			e->is_far = true;
		emit_bytes(e, mov, sizeof mov);
		emit_bytes(e, &distance32, sizeof distance32);
		return true;
	}
	disp = (int32_t)insn.disp + (insn.base == INSN_REG_SP ? depth : 0);
	if (insn.has_segment)
		return false;
	if (insn.base != INSN_NO_REG && insn.base > 7)
		rex |= 1;
	if (insn.index != INSN_NO_REG && insn.index > 7)
		rex |= 2;
	out[len++] = rex;
	out[len++] = 0x8b;
	if (insn.base == INSN_NO_REG) { /* [index * scale + disp32] or [disp32] */
		out[len++] = 0x1c;
		out[len++] = (uint8_t)(((insn.index == INSN_NO_REG ? 4 : insn.index & 7) << 3) | 5 |
				       (insn.index == INSN_NO_REG ? 0 : __builtin_ctz(insn.scale) << 6));
	} else { /* [base + index * scale + disp32], always with a SIB byte */
		out[len++] = 0x9c;
		out[len++] = (uint8_t)((insn.base & 7) | (insn.index == INSN_NO_REG ? 4 : insn.index & 7) << 3 |
				       (insn.index == INSN_NO_REG ? 0 : __builtin_ctz(insn.scale) << 6));
	}
	emit_bytes(e, out, len);
	emit_bytes(e, &disp, sizeof disp);
	return true;
}

/* ---- choosing among the calls of an indirect site ---- */

struct choices {
	struct choice *list;
	uint32_t count;
	const struct choice_table *table; /* NULL: they are compared one after the other */
};

/* All calls of a site with where they go. False: no room; the list is the caller's to free in any case. */
static bool list_choices(const struct agent_site *site, struct choices *ret)
{
	uint32_t count = 0;

	for (uint32_t c = site->first_call; c != AGENT_NONE && !agent_program.calls[c].is_gone;
	     c = agent_program.calls[c].next)
		count++;
	ret->list = allocator_alloc(&agent_allocator, (size_t)count + 1, sizeof *ret->list);
	if (!ret->list)
		return false;
	for (uint32_t c = site->first_call; c != AGENT_NONE && !agent_program.calls[c].is_gone;
	     c = agent_program.calls[c].next) {
		struct agent_call *call = &agent_program.calls[c];
		struct choice *choice = &ret->list[ret->count];

		*choice = (struct choice){call->target, write_before(site, call)};
		if (!choice->to)
			return false;
		ret->count++;
	}
	if (ret->count > MAX_COMPARED)
		ret->table = choice_table_of(site_number(site), ret->list, ret->count);
	return ret->count <= MAX_COMPARED || ret->table;
}

static void emit_compares(struct emit *e, const struct choice *choices, uint32_t count, uint64_t literals)
{
	for (uint32_t i = 0; i < count; i++)
		emit_if_target(e, literals + i * sizeof(uint64_t), choices[i].to);
}

/* The code of `choose`; *ret: where it is entered. False: the instruction is not understood. */
static bool emit_choose(struct stub *s, const struct agent_site *site, const uint8_t *bytes, const struct choices *c,
			uintptr_t *ret)
{
	uint32_t compared = c->table ? 0 : c->count;

	for (uint32_t i = 0; i < compared; i++)
		emit_bytes(&s->e, &c->list[i].target, sizeof c->list[i].target);
	*ret = emit_here(&s->e);
	if (!stub_move(&s->e, bytes, shape_start(site), site->lead_bytes))
		return false;
	stub_done(s, (uint32_t)(*ret - s->head.start), s->e.len);
	if (!emit_load_target(&s->e, bytes + site->lead_bytes, site,
			      agent_site_is_call(site) && !site->is_at_cell ? 8 : 0))
		return false;
	if (c->table)
		choice_emit(&s->e, c->table);
	else
		emit_compares(&s->e, c->list, compared, s->head.start);
	emit_to_discover(s, site);
	return true;
}

/* `choose` of an indirect site; bytes: the program's own at the lead. 0: no room. */
static uintptr_t write_choose(const struct agent_site *site, const uint8_t *bytes, const struct choices *c)
{
	uintptr_t old = site->choose, ret;
	struct stub s;

	/* Compares are what comes first in the stub, and where it is entered behind them. */
	if (stub_begin_old(&s, agent_program.functions[site->function].image,
			   old - (c->table ? 0 : c->count * sizeof c->list->target), CODE_STUB_CHOOSE,
			   site_number(site)) &&
	    emit_choose(&s, site, bytes, c, &ret) && stub_is_old(&s))
		return ret;
	return stub_begin_at_site(&s, site, CODE_STUB_CHOOSE) && emit_choose(&s, site, bytes, c, &ret) && stub_end(&s)
		       ? ret
		       : 0;
}

/* All that is needed for that, and the stub. 0: no room. */
static uintptr_t write_choices(struct agent_site *site, const uint8_t *bytes)
{
	struct choices c = {.list = NULL};
	uintptr_t to = list_choices(site, &c) ? write_choose(site, bytes, &c) : 0;

	agent_free(c.list);
	if (to)
		site->choose = to;
	return to;
}

/* ---- behind the call ---- */

struct undo {
	bool is_needed;
	bool may_push;  /* some call pushes */
	bool must_push; /* and no other does not */
	bool leaves_tails;
	uint64_t addend; /* of every call: also those that push have added it */
};

/* The site behind this one's room, when it is chained and has its stub. */
static const struct agent_site *next_chained(const struct agent_site *site)
{
	const struct agent_site *next = site + 1;

	return next < agent_program.sites + agent_program.site_count && next->is_chained && next->choose ? next : NULL;
}

static struct undo undo_of(const struct agent_site *site)
{
	struct undo u = {.must_push = true, .addend = addends_of_site(site)};

	for (uint32_t c = site->first_call; c != AGENT_NONE; c = agent_program.calls[c].next) {
		const struct agent_call *call = &agent_program.calls[c];
		bool pushes = patch_call_pushes(call);

		/* There may be many of these: whatever one has done is taken off. */
		if (call->is_gone) {
			u.may_push = u.leaves_tails = true;
			u.must_push = false;
			break;
		}
		u.may_push |= pushes;
		u.must_push &= pushes;
		u.leaves_tails |= leaves_tails(call);
	}
	/* An indirect call may have one more callee, which its thunk has pushed for by then. */
	u.must_push &= agent_site_is_direct(site) && u.may_push;
	u.is_needed = agent_site_is_call(site) && !site->is_last &&
		      (u.may_push || u.leaves_tails || u.addend || next_chained(site));
	return u;
}

static bool emit_after(struct stub *s, const struct agent_site *site, const struct undo *u, const uint8_t *bytes,
		       uint32_t moved)
{
	bool is_entered = site->is_entered && !site->is_detour;
	const struct emit_places *p = &s->area->places;
	uint32_t done = 0;

	if (u->must_push && !is_entered && !site->keeps_flags)
		emit_pop(&s->e, p, site->address + site->len_bytes, &done);
	else if (site->keeps_flags)
		emit_undo_kept(&s->e, p, u->may_push || u->leaves_tails, u->addend, &done);
	else
		emit_undo(&s->e, p, u->may_push || u->leaves_tails, u->addend, &done);
	stub_done(s, s->e.len, done);
	if (!stub_move(&s->e, bytes, shape_return_address(site), moved))
		return false;
	emit_jump(&s->e, moved && next_chained(site) ? next_chained(site)->choose : shape_return_address(site) + moved);
	return true;
}

/* What the site has there now, if anything. */
static uintptr_t present_after(const struct agent_site *site)
{
	const uint8_t *room = (const uint8_t *)shape_return_address(site); /* NOLINT(performance-no-int-to-ptr) */
	int32_t distance;

	if (site->cell)
		return cells_after(site->cell);
	if (!site->has_room || room[0] != JUMP)
		return 0;
	memcpy(&distance, room + 1, sizeof distance);
	return shape_return_address(site) + CALL_BYTES + (uintptr_t)distance;
}

/* bytes: the program's own at the room. moved: how many of them. */
static uintptr_t write_after(const struct agent_site *site, const struct undo *u, const uint8_t *bytes, uint32_t moved)
{
	uintptr_t old = present_after(site);
	struct stub s;

	if (stub_begin_old(&s, agent_program.functions[site->function].image, old, CODE_STUB_AFTER,
			   site_number(site)) &&
	    emit_after(&s, site, u, bytes, moved) && stub_is_old(&s))
		return old;
	return stub_begin_at_site(&s, site, CODE_STUB_AFTER) && emit_after(&s, site, u, bytes, moved) ? stub_end(&s)
												      : 0;
}

/* ---- the site's bytes ---- */

static bool is_short_tail(const struct agent_site *site)
{
	return site->kind == SCAN_TAIL && site->len_bytes < CALL_BYTES;
}

/* What comes before a short tail call makes room for the jump that replaces it, and is done in a stub. */
static bool is_led(const struct agent_site *site)
{
	return is_short_tail(site) && (uint32_t)site->len_bytes + site->room_bytes < CALL_BYTES;
}

/* The site's branch to `to`. */
static void put_site(const struct agent_site *site, uint8_t *region, uintptr_t to)
{
	uint32_t lead = site->lead_bytes, end = lead + site->len_bytes;
	uintptr_t start = shape_start(site);

	switch (site->kind) {
	case SCAN_CALL: /* the opcode, with prefixes, stays */
		stub_put_distance(region + end, start + end, to);
		break;
	case SCAN_CALL_INDIRECT:
		stub_put_branch(region, 0, end, 0xe8, start, to);
		break;
	case SCAN_TAIL:
		if (!is_short_tail(site))
			stub_put_distance(region + end, start + end, to);
		else if (is_led(site))
			stub_put_branch(region, 0, CALL_BYTES, 0xe9, start, to);
		else
			stub_put_branch(region, lead, lead + CALL_BYTES, 0xe9, start, to);
		break;
	default:
		stub_put_branch(region, 0, CALL_BYTES, 0xe9, start, to);
		if (end > CALL_BYTES)
			stub_put_nops(region + CALL_BYTES, end - CALL_BYTES);
	}
}

static void put_after(const struct agent_site *site, uint8_t *region, uintptr_t after)
{
	uint32_t at = (uint32_t)site->lead_bytes + site->len_bytes;

	stub_put_branch(region, at, at + CALL_BYTES, 0xe9, shape_start(site), after);
	stub_put_nops(region + at + CALL_BYTES, site->room_bytes - CALL_BYTES);
}

static bool keep_bytes(struct agent_site *site)
{
	struct agent_program *p = &agent_program;
	uint32_t len = shape_bytes(site);

	if (len > REGION_MAX || !agent_reserve((void **)&p->bytes, &p->byte_capacity, p->byte_count + len, 1))
		return false;
	site->original = (uint32_t)p->byte_count;
	memcpy(p->bytes + p->byte_count, (const void *)shape_start(site), len); /* NOLINT(performance-no-int-to-ptr) */
	p->byte_count += len;
	return true;
}

bool patch_is_inside(uint32_t function, uintptr_t pc)
{
	const struct agent_function *f = &agent_program.functions[function];

	if (f->is_hooked && pc > f->entry_address && pc < f->entry_address + f->entry_bytes)
		return true;
	for (uint32_t i = 0; i < f->site_count; i++) {
		const struct agent_site *site = &agent_program.sites[f->first_site + i];

		if (pc > shape_start(site) && pc < shape_start(site) + shape_bytes(site))
			return true;
	}
	return false;
}

bool patch_is_undone_at_return(uint32_t site)
{
	return agent_program.sites[site].has_room && !agent_program.sites[site].is_detour &&
	       undo_of(&agent_program.sites[site]).is_needed;
}

/* Makes or aims the site's cell. */
static bool put_at_cell(struct agent_site *site, const struct undo *undo)
{
	uintptr_t callee = agent_site_is_direct(site) ? agent_program.calls[site->first_call].target : 0;
	const uint8_t *room = agent_program.bytes + site->original + site->lead_bytes + site->len_bytes;
	uintptr_t after = write_after(site, undo, room, site->is_over_room ? site->room_bytes : 0);

	if (!after)
		return false;
	if (!site->cell)
		site->cell = cells_add(site_number(site), callee, after, shape_return_address(site));
	else if (!cells_aim(site->cell, callee, after))
		return false;
	site->is_at_cell = site->cell != 0;
	return site->is_at_cell;
}

/* The bytes of the site; what is behind it is as the program has it. */
static bool plan_site(struct agent_site *site, const struct undo *undo, const uint8_t *original, uint8_t *region)
{
	struct agent_call *call = site->first_call == AGENT_NONE ? NULL : &agent_program.calls[site->first_call];
	uint32_t lead = site->lead_bytes, end = lead + site->len_bytes;
	uintptr_t before;

	site->is_at_cell = false;
	if (agent_site_is_direct(site) && call && !patch_call_pushes(call) && addend_of(call) == 0 &&
	    !(site->is_detour && undo->is_needed)) {
		call->before = call->target; /* the program's own call */
		return true;
	}
	if (site->is_detour && (undo->is_needed || !agent_site_is_direct(site)) &&
	    (call || !agent_site_is_direct(site)) && !put_at_cell(site, undo))
		return false;
	before = !agent_site_is_direct(site) ? write_choices(site, original)
		 : call                      ? write_before(site, call)
					     : write_thunk(site);
	if (before && is_led(site))
		before = write_lead(site, original, before);
	if (!before)
		return false;
	if (site->is_chained) {
		return patch_site(site_number(site) - 1);
	}
	if (site->is_at_cell && agent_site_is_direct(site)) {
		stub_put_branch(region, lead, lead + CALL_BYTES, 0xe9, shape_start(site), before);
		stub_put_nops(region + lead + CALL_BYTES, site->len_bytes - CALL_BYTES);
	} else if (site->is_at_cell) {
		if (site->is_over_room)
			end += site->room_bytes;
		stub_put_branch(region, 0, CALL_BYTES, 0xe9, shape_start(site), before);
		stub_put_nops(region + CALL_BYTES, end - CALL_BYTES);
	} else {
		put_site(site, region, before);
	}
	return true;
}

bool patch_is_there(uint32_t function)
{
	const struct agent_function *f = &agent_program.functions[function];

	return f->state != AGENT_FUNCTION_GONE && stop_others() && agent_image_is_there(f->image);
}

bool patch_site(uint32_t number)
{
	struct agent_site *site = &agent_program.sites[number];
	const uint8_t *original = agent_program.bytes + site->original;
	struct undo undo = undo_of(site);
	uint8_t region[REGION_MAX];
	uint32_t len = shape_bytes(site);
	uintptr_t after;

	site->is_written = false;
	if (!patch_is_there(site->function))
		return false;
	memcpy(region, original, len);
	if (!plan_site(site, &undo, original, region))
		return false;
	if (undo.is_needed && site->has_room && !site->is_detour) {
		after = write_after(site, &undo, original + site->lead_bytes + site->len_bytes, site->room_bytes);
		if (!after)
			return false;
		put_after(site, region, after);
	}
	site->is_written =
		batch_has(shape_start(site), region, len) || batch_write(number, shape_start(site), region, len);
	return site->is_written;
}

static void restore_sites(uint32_t function)
{
	const struct agent_function *f = &agent_program.functions[function];

	for (uint32_t i = 0; i < f->site_count; i++) {
		const struct agent_site *site = &agent_program.sites[f->first_site + i];

		code_change(shape_start(site), agent_program.bytes + site->original, shape_bytes(site));
	}
}

bool patch_begin(uint32_t function)
{
	const struct agent_function *f = &agent_program.functions[function];
	bool ok = true;

	for (uint32_t i = 0; i < f->site_count; i++)
		if (!keep_bytes(&agent_program.sites[f->first_site + i]))
			return false;
	batch_begin();
	for (uint32_t i = 0; i < f->site_count && ok; i++)
		ok = patch_site(f->first_site + i);
	ok &= batch_end();
	if (!ok)
		restore_sites(function);
	return ok;
}

/* plan.c - sites: from calls and an encoding to bytes. */
#include "agent/patch/plan.h"

#include <string.h>

#include "agent/patch/patch.h"
#include "agent/patch/shape.h"

enum {
	CALL_BYTES = STUB_BRANCH_BYTES,
	OTHER_STUBS = 3, /* of a site, beside one for each call */
	ADD_BYTES = 64,  /* most of a stub in front of a call that does not push */
};
static const uintptr_t REACH_BYTES = (uintptr_t)1 << 30;

/* To the agent, which finds a return address on the stack: a call that a trampoline is to make has put none there. */
static void emit_to_discover(struct plan *p, const struct plan_site *in)
{
	struct emit *e = &p->stubs.e;

	if (p->is_at_trampoline)
		emit_push_address(e, shape_return_address(in->site));
	emit_thunk(e, in->number | (agent_site_is_call(in->site) ? 0 : PATCH_TAIL), in->area->places.discover);
}

/* ---- in front of the call ---- */

/* Nothing is done in front of it. */
static bool is_bare(const struct plan_site *in, const struct plan_call *call)
{
	return !call->pushes && in->addend == 0;
}

/* What the call does to the context before the callee begins. */
static void emit_before(struct stub_plan *s, const struct plan_site *in, const struct plan_call *call,
			uintptr_t counter)
{
	const struct emit_places *places = &in->area->places;
	const struct emit_start start = {.is_foreign = call->is_foreign, .restart = call->restart};
	uint32_t pushed, done;

	if (!call->pushes) {
		done = emit_add(&s->e, places, in->addend);
		stub_done(s, done, done);
		return;
	}
	if (agent_site_is_call(in->site)) {
		emit_push(&s->e, places, call->pushed_site, in->addend, &start, counter, &pushed, &done);
	} else {
		emit_push_tail(&s->e, places, call->pushed_site, &start, counter, &pushed, &done);
		s->head.kind = CODE_STUB_TAIL;
	}
	stub_done(s, pushed, done);
}

/* The call is made from a trampoline, where there is no room behind it: entered by a jump, without a return address. */
static void emit_before_trampoline(struct stub_plan *s, const struct plan_site *in, const struct plan_call *call,
				   uintptr_t counter)
{
	static const uint8_t make_room[] = {0x48, 0x8d, 0x64, 0x24, 0xf8}; /* lea -8(%rsp), %rsp */
	static const uint8_t take_back[] = {0x48, 0x8d, 0x64, 0x24, 0x08};
	static const uint8_t load_r11[] = {0x49, 0xbb}; /* movabs $, %r11 */

	if (!is_bare(in, call)) {
		emit_bytes(&s->e, make_room, sizeof make_room);
		emit_before(s, in, call, counter);
		emit_bytes(&s->e, take_back, sizeof take_back);
	}
	if (!agent_site_is_direct(in->site)) { /* where the target was looked up, %r11 has this stub's address by now */
		emit_bytes(&s->e, load_r11, sizeof load_r11);
		emit_bytes(&s->e, &call->target, sizeof call->target);
	}
	emit_jump(&s->e, in->trampoline);
}

static void emit_whole_before(struct plan *p, const struct plan_site *in, const struct plan_call *call,
			      uintptr_t counter)
{
	struct stub_plan *s = &p->stubs;

	s->head.number = call->number;
	if (p->is_at_trampoline) {
		emit_before_trampoline(s, in, call, counter);
		return;
	}
	if (!is_bare(in, call))
		emit_before(s, in, call, counter);
	emit_jump(&s->e, call->target);
}

/* Stubs of the area can branch there, and branches of its images. */
static bool is_in_reach(const struct code_area *area, uintptr_t target)
{
	return area && target - area->low + REACH_BYTES < 2 * REACH_BYTES;
}

/* Where the site's branch goes for this call: the callee itself when nothing is to be done. 0: no room. */
static uintptr_t plan_before(struct plan *p, const struct plan_site *in, const struct plan_call *call)
{
	struct plan_placed *placed = &p->placed[p->placed_count++];

	*placed = (struct plan_placed){0, call->counter};
	if (is_bare(in, call) && !p->is_at_trampoline && is_in_reach(in->area, call->target))
		return placed->before = call->target;
	if (!in->area)
		return 0;
	if (call->pushes && call->is_counted && !placed->counter)
		placed->counter = stub_counter(&p->stubs);
	if (stub_begin_old(&p->stubs, call->before, CODE_STUB_BEFORE, call->number)) {
		emit_whole_before(p, in, call, placed->counter);
		if (stub_is_old(&p->stubs))
			return placed->before = call->before;
	}
	if (stub_begin(&p->stubs, CODE_STUB_BEFORE, call->number)) {
		emit_whole_before(p, in, call, placed->counter);
		placed->before = stub_end(&p->stubs);
	}
	return placed->before;
}

/* In front of a direct call or tail call that is not known. 0: no room. */
static uintptr_t plan_thunk(struct plan *p, const struct plan_site *in)
{
	if (in->site->kind == SCAN_CALL)
		return in->area ? in->area->places.unknown : 0;
	if (!stub_begin(&p->stubs, CODE_STUB_DISPATCH, in->number))
		return 0;
	emit_to_discover(p, in);
	return stub_end(&p->stubs);
}

/* The prefix, and on to `to`. 0: no room. */
static uintptr_t plan_prefix(struct plan *p, const struct plan_site *in, uintptr_t to)
{
	struct stub_plan *s = &p->stubs;

	if (!stub_begin(s, CODE_STUB_DISPATCH, in->number) ||
	    !stub_move(&s->e, in->original, shape_start(in->site), in->site->prefix_bytes))
		return 0;
	stub_done(s, 0, s->e.len);
	emit_jump(&s->e, to);
	return stub_end(s);
}

/* ---- choosing among the calls of an indirect site ---- */

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

/* Where each call goes. False: no room. */
static bool plan_cases(struct plan *p, const struct plan_site *in)
{
	for (uint32_t i = 0; i < in->call_count && !in->calls[i].is_gone; i++) {
		p->cases[i] = (struct dispatch_case){in->calls[i].target, plan_before(p, in, &in->calls[i])};
		if (!p->cases[i].to)
			return false;
	}
	return p->placed_count <= PLAN_MAX_COMPARED || in->table;
}

/* The code of `dispatch`; *ret: where it is entered. False: the instruction is not understood. */
static bool emit_dispatch(struct plan *p, const struct plan_site *in, uintptr_t *ret)
{
	uint32_t compared = p->placed_count > PLAN_MAX_COMPARED ? 0 : p->placed_count;
	const struct agent_site *site = in->site;
	struct stub_plan *s = &p->stubs;

	for (uint32_t i = 0; i < compared; i++)
		emit_bytes(&s->e, &p->cases[i].target, sizeof p->cases[i].target);
	*ret = emit_here(&s->e);
	if (!stub_move(&s->e, in->original, shape_start(site), site->prefix_bytes))
		return false;
	stub_done(s, (uint32_t)(*ret - s->head.start), s->e.len);
	if (!emit_load_target(&s->e, in->original + site->prefix_bytes, site,
			      agent_site_is_call(site) && !p->is_at_trampoline ? 8 : 0))
		return false;
	if (p->placed_count > PLAN_MAX_COMPARED)
		dispatch_table_emit(&s->e, in->table);
	for (uint32_t i = 0; i < compared; i++)
		emit_if_target(&s->e, s->head.start + i * sizeof(uint64_t), p->cases[i].to);
	emit_to_discover(p, in);
	return true;
}

/* `dispatch` of an indirect site, and what it leads to. 0: no room. */
static uintptr_t plan_dispatch(struct plan *p, const struct plan_site *in)
{
	uint32_t literals;
	uintptr_t ret;

	if (!plan_cases(p, in))
		return 0;
	/* Compares are what comes first in the stub, and where it is entered behind them. */
	literals = p->placed_count > PLAN_MAX_COMPARED ? 0 : p->placed_count * (uint32_t)sizeof(uint64_t);
	if (stub_begin_old(&p->stubs, in->site->dispatch - literals, CODE_STUB_DISPATCH, in->number) &&
	    emit_dispatch(p, in, &ret) && stub_is_old(&p->stubs))
		return ret;
	return stub_begin(&p->stubs, CODE_STUB_DISPATCH, in->number) && emit_dispatch(p, in, &ret) &&
			       stub_end(&p->stubs)
		       ? ret
		       : 0;
}

/* ---- behind the call ---- */

void plan_undo_begin(struct plan_undo *u, uint64_t addend)
{
	*u = (struct plan_undo){.must_push = true, .addend = addend};
}

void plan_undo_add(struct plan_undo *u, const struct plan_call *call)
{
	/* There may be many of those that are gone: whatever one has done is taken off. */
	u->may_push |= call->pushes || call->is_gone;
	u->must_push &= call->pushes && !call->is_gone;
	u->leaves_tails |= call->leaves_tails || call->is_gone;
}

void plan_undo_end(struct plan_undo *u, const struct agent_site *site, uintptr_t next_dispatch)
{
	/* An indirect call may have one more callee, which its thunk has pushed for by then. */
	u->must_push &= agent_site_is_direct(site) && u->may_push;
	u->is_needed = agent_site_is_call(site) && !site->is_last &&
		       (u->may_push || u->leaves_tails || u->addend || next_dispatch);
}

static struct plan_undo undo_of(const struct plan_site *in)
{
	struct plan_undo u;

	plan_undo_begin(&u, in->addend);
	for (uint32_t i = 0; i < in->call_count; i++)
		plan_undo_add(&u, &in->calls[i]);
	plan_undo_end(&u, in->site, in->next_dispatch);
	return u;
}

/* moved: how many bytes of the suffix it does. */
static bool emit_after(struct stub_plan *s, const struct plan_site *in, const struct plan_undo *u, uint32_t moved)
{
	const struct agent_site *site = in->site;
	const uint8_t *suffix = in->original + site->prefix_bytes + site->len_bytes;
	bool is_entered = site->is_entered && !site->needs_trampoline;
	const struct emit_places *places = &in->area->places;
	uintptr_t back = shape_return_address(site);
	uint32_t done = 0;

	if (u->must_push && !is_entered && !site->keeps_flags)
		emit_pop(&s->e, places, back, &done);
	else if (site->keeps_flags)
		emit_undo_kept(&s->e, places, u->may_push || u->leaves_tails, u->addend, &done);
	else
		emit_undo(&s->e, places, u->may_push || u->leaves_tails, u->addend, &done);
	stub_done(s, s->e.len, done);
	if (!stub_move(&s->e, suffix, back, moved))
		return false;
	emit_jump(&s->e, moved && in->next_dispatch ? in->next_dispatch : back + moved);
	return true;
}

/* The stub behind the call. 0: no room. */
static uintptr_t plan_after(struct plan *p, const struct plan_site *in, const struct plan_undo *u, uint32_t moved)
{
	if (stub_begin_old(&p->stubs, in->after, CODE_STUB_AFTER, in->number) && emit_after(&p->stubs, in, u, moved) &&
	    stub_is_old(&p->stubs))
		return in->after;
	return stub_begin(&p->stubs, CODE_STUB_AFTER, in->number) && emit_after(&p->stubs, in, u, moved)
		       ? stub_end(&p->stubs)
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
	return is_short_tail(site) && (uint32_t)site->len_bytes + site->suffix_bytes < CALL_BYTES;
}

/* The site's branch to `to`. */
static void put_site(const struct agent_site *site, uint8_t *region, uintptr_t to)
{
	uint32_t prefix = site->prefix_bytes, end = prefix + site->len_bytes;
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
			stub_put_branch(region, prefix, prefix + CALL_BYTES, 0xe9, start, to);
		break;
	default:
		stub_put_branch(region, 0, CALL_BYTES, 0xe9, start, to);
		if (end > CALL_BYTES)
			stub_put_nops(region + CALL_BYTES, end - CALL_BYTES);
	}
}

static void put_after(const struct agent_site *site, uint8_t *region, uintptr_t after)
{
	uint32_t at = (uint32_t)site->prefix_bytes + site->len_bytes;

	stub_put_branch(region, at, at + CALL_BYTES, 0xe9, shape_start(site), after);
	stub_put_nops(region + at + CALL_BYTES, site->suffix_bytes - CALL_BYTES);
}

/* The branch to `before` over a site whose call is made from a trampoline. */
static void put_to_trampoline(const struct agent_site *site, uint8_t *region, uintptr_t before)
{
	uint32_t from = agent_site_is_direct(site) ? site->prefix_bytes : 0;
	uint32_t end = (uint32_t)site->prefix_bytes + site->len_bytes;

	if (!agent_site_is_direct(site) && site->is_over_suffix)
		end += site->suffix_bytes;
	stub_put_branch(region, from, from + CALL_BYTES, 0xe9, shape_start(site), before);
	stub_put_nops(region + from + CALL_BYTES, end - from - CALL_BYTES);
}

/* The call is made from the site's trampoline. False: none is left, or no room. */
static bool plan_trampoline(struct plan *p, const struct plan_site *in, const struct plan_undo *undo)
{
	const struct agent_site *site = in->site;

	p->trampoline_callee = agent_site_is_direct(site) ? in->calls[0].target : 0;
	p->trampoline_after =
		in->trampoline ? plan_after(p, in, undo, site->is_over_suffix ? site->suffix_bytes : 0) : 0;
	p->is_at_trampoline = p->trampoline_after != 0;
	return p->is_at_trampoline;
}

/* The branch at the site, and what it leads to. */
static bool plan_call(struct plan *p, const struct plan_site *in, const struct plan_undo *undo)
{
	const struct agent_site *site = in->site;
	const struct plan_call *call = in->call_count ? &in->calls[0] : NULL;
	bool is_direct = agent_site_is_direct(site);
	uintptr_t before;

	if (is_direct && call && is_bare(in, call) && !(site->needs_trampoline && undo->is_needed)) {
		p->placed[p->placed_count++] = (struct plan_placed){call->target, call->counter};
		return true; /* the program's own call */
	}
	if (site->needs_trampoline && (undo->is_needed || !is_direct) && (call || !is_direct) &&
	    !plan_trampoline(p, in, undo))
		return false;
	if (is_direct)
		before = call ? plan_before(p, in, call) : plan_thunk(p, in);
	else
		before = p->dispatch = plan_dispatch(p, in);
	if (before && is_led(site))
		before = plan_prefix(p, in, before);
	if (!before)
		return false;
	if (site->shares_suffix)
		p->is_before_led = true;
	else if (p->is_at_trampoline)
		put_to_trampoline(site, p->region, before);
	else
		put_site(site, p->region, before);
	return true;
}

void plan_most(const struct plan_site *in, uint32_t *ret_stubs, uint32_t *ret_bytes)
{
	*ret_stubs = OTHER_STUBS;
	*ret_bytes = OTHER_STUBS * EMIT_MAX_BYTES;
	for (uint32_t i = 0; i < in->call_count; i++) {
		const struct plan_call *call = &in->calls[i];

		if (is_bare(in, call) && !in->site->needs_trampoline && is_in_reach(in->area, call->target))
			continue;
		++*ret_stubs;
		*ret_bytes += call->pushes ? stub_most_bytes(CODE_STUB_BEFORE) : ADD_BYTES;
	}
}

bool plan_site(const struct plan_site *in, struct plan *p)
{
	const struct agent_site *site = in->site;
	struct plan_undo undo = undo_of(in);
	uintptr_t after;

	p->placed_count = 0;
	p->dispatch = p->trampoline_callee = p->trampoline_after = 0;
	p->is_at_trampoline = p->is_before_led = false;
	memcpy(p->region, in->original, shape_bytes(site));
	if (!plan_call(p, in, &undo))
		return false;
	if (undo.is_needed && site->has_suffix && !site->needs_trampoline) {
		after = plan_after(p, in, &undo, site->suffix_bytes);
		if (!after)
			return false;
		put_after(site, p->region, after);
	}
	return true;
}

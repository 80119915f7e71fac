/* plan_entry.c - entries of functions, the loader's hook, and foreign code: from what is known of them to bytes. */
#include "agent/patch/plan_entry.h"

#include <string.h>

bool plan_jump(const struct plan_bytes *in, uintptr_t to, uint8_t region[CODE_PATCH_MAX])
{
	if (in->len < STUB_BRANCH_BYTES || in->len > CODE_PATCH_MAX)
		return false;
	stub_put_branch(region, 0, STUB_BRANCH_BYTES, 0xe9, in->at, to);
	stub_put_nops(region + STUB_BRANCH_BYTES, in->len - STUB_BRANCH_BYTES);
	return true;
}

static bool begin(struct plan_branch *p, const struct plan_bytes *in, enum code_stub_kind kind)
{
	stub_plan_one(&p->stubs, in->area, &p->room);
	p->behind = 0;
	return stub_begin(&p->stubs, kind, in->function);
}

/* The bytes themselves, and on behind them. */
static bool emit_own(struct plan_branch *p, const struct plan_bytes *in)
{
	if (!stub_move(&p->stubs.e, in->original, in->at, in->len))
		return false;
	emit_jump(&p->stubs.e, in->at + in->len);
	return true;
}

/* The stub is entered at that offset. */
static bool end(struct plan_branch *p, uint32_t first)
{
	uintptr_t start = stub_end(&p->stubs);

	p->enter = start + first;
	return start != 0;
}

bool plan_entry(const struct plan_bytes *in, uint64_t restart, const struct plan_callers *callers,
		struct plan_branch *p)
{
	struct stub_plan *s = &p->stubs;
	uint32_t first, behind;

	if (!begin(p, in, CODE_STUB_ENTRY))
		return false;
	emit_bytes(&s->e, callers->addresses, callers->count * sizeof *callers->addresses);
	first = s->e.len;
	emit_entry(&s->e, &in->area->places, in->function, restart, s->head.start, callers->count, callers->left);
	behind = s->e.len;
	stub_done(s, first, behind);
	if (!emit_own(p, in) || !end(p, first))
		return false;
	p->behind = s->head.start + behind;
	return plan_jump(in, p->enter, p->region);
}

bool plan_foreign_return(const struct plan_bytes *in, struct plan_branch *p)
{
	struct stub_plan *s = &p->stubs;
	uint32_t first, done;

	if (!begin(p, in, CODE_STUB_FOREIGN))
		return false;
	emit_bytes(&s->e, &in->at, sizeof in->at);
	emit_bytes(&s->e, in->original, in->len);
	first = s->e.len;
	emit_undo(&s->e, &in->area->places, true, 0, &done); /* what tail calls of the callee have left */
	emit_foreign(&s->e, &in->area->places);
	stub_done(s, first, s->e.len);
	return emit_own(p, in) && end(p, first) && plan_jump(in, p->enter, p->region);
}

bool plan_foreign_call(const struct plan_bytes *in, uintptr_t target, struct plan_branch *p)
{
	struct stub_plan *s = &p->stubs;
	uint32_t first;

	if (in->len != STUB_BRANCH_BYTES || !begin(p, in, CODE_STUB_FOREIGN))
		return false;
	emit_bytes(&s->e, &in->at, sizeof in->at);
	first = s->e.len;
	emit_foreign(&s->e, &in->area->places);
	stub_done(s, first, s->e.len);
	emit_jump(&s->e, target);
	if (!end(p, first))
		return false;
	memcpy(p->region, in->original, in->len);
	stub_put_distance(p->region + in->len, in->at + in->len, p->enter);
	return true;
}

bool plan_detour(const struct plan_bytes *in, uintptr_t to, struct plan_branch *p)
{
	struct stub_plan *s = &p->stubs;
	uint32_t first, moved;

	if (!begin(p, in, CODE_STUB_FOREIGN))
		return false;
	emit_bytes(&s->e, &in->at, sizeof in->at);
	emit_bytes(&s->e, in->original, in->len);
	first = s->e.len;
	emit_jump(&s->e, to);
	moved = s->e.len;
	stub_done(s, first, moved);
	if (!emit_own(p, in) || !end(p, first))
		return false;
	p->behind = s->head.start + moved;
	return plan_jump(in, p->enter, p->region);
}

/* [endbr64] ret, and no other function within the bytes that the jump takes. */
static bool is_empty(const struct plan_bytes *in)
{
	enum {
		FUNCTION_ALIGN = 16,
	};
	static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
	const uint8_t ret = 0xc3;

	return in->at % FUNCTION_ALIGN == 0 &&
	       (in->original[0] == ret ||
		(memcmp(in->original, endbr64, sizeof endbr64) == 0 && in->original[sizeof endbr64] == ret));
}

bool plan_loader(const struct plan_bytes *in, uintptr_t to, struct plan_branch *p)
{
	struct stub_plan *s = &p->stubs;
	uint32_t first;

	if (in->len != PLAN_LOADER_BYTES || !is_empty(in) || !begin(p, in, CODE_STUB_FOREIGN))
		return false;
	emit_bytes(&s->e, &in->at, sizeof in->at);
	emit_bytes(&s->e, in->original, in->len);
	first = s->e.len;
	emit_thunk(&s->e, 0, to);
	stub_done(s, first, s->e.len);
	return end(p, first) && plan_jump(in, p->enter, p->region);
}

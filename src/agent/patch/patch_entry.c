/* patch_entry.c - entries of functions, and returns to foreign code. */
#include "agent/patch/patch_entry.h"

#include <string.h>

#include "agent/os/memory.h"
#include "agent/patch/patch.h"
#include "agent/code/stub.h"

/* A jump over bytes of the program, nops behind it. */
static bool plan_jump(uint8_t region[CODE_PATCH_MAX], uintptr_t at, uint32_t bytes, uintptr_t to)
{
	if (bytes > CODE_PATCH_MAX)
		return false;
	stub_put_nops(region, bytes);
	stub_put_branch(region, 0, STUB_BRANCH_BYTES, 0xe9, at, to);
	return true;
}

static bool write_jump(uintptr_t at, uint32_t bytes, uintptr_t to)
{
	uint8_t region[CODE_PATCH_MAX];

	return plan_jump(region, at, bytes, to) && code_change(at, region, bytes);
}

bool patch_write_foreign(struct agent_image *image, uintptr_t at, const uint8_t *bytes, uint32_t len)
{
	struct agent_program *p = &agent_program;
	const void *original = (const void *)at; /* NOLINT(performance-no-int-to-ptr) */

	if (!agent_reserve((void **)&p->foreigns, &p->foreigns_capacity, p->foreigns_count + 1, sizeof *p->foreigns) ||
	    !agent_reserve((void **)&p->bytes, &p->byte_capacity, p->byte_count + 2 * (size_t)len, 1))
		return false;
	memcpy(p->bytes + p->byte_count, original, len);
	memcpy(p->bytes + p->byte_count + len, bytes, len);
	if (!code_change(at, bytes, len))
		return false;
	p->foreigns[p->foreigns_count++] = (struct agent_foreign){at, image, (uint32_t)p->byte_count, (uint8_t)len};
	p->byte_count += 2 * (size_t)len;
	return true;
}

bool patch_entry(uint32_t function)
{
	struct agent_function *f = &agent_program.functions[function];
	struct agent_program *p = &agent_program;
	uint64_t restart = p->encoder.graph.nodes[f->node].restart;
	uint32_t literals = 0, done, behind;
	uintptr_t start;
	struct stub s;

	if (!patch_is_there(function))
		return false;
	if (!f->is_hooked) { /* keep what stands there */
		if (!agent_reserve((void **)&p->bytes, &p->byte_capacity, p->byte_count + f->entry_bytes, 1))
			return false;
		f->entry_original = (uint32_t)p->byte_count;
		memcpy(p->bytes + p->byte_count, (const void *)f->entry_address,
		       f->entry_bytes); /* NOLINT(performance-no-int-to-ptr) */
		p->byte_count += f->entry_bytes;
	}
	if (!stub_begin(&s, f->image, CODE_STUB_ENTRY, function))
		return false;
	while (literals < sizeof f->callers / sizeof *f->callers && f->callers[literals]) {
		emit_bytes(&s.e, &f->callers[literals], sizeof f->callers[literals]);
		literals++;
	}
	start = emit_here(&s.e);
	emit_entry(&s.e, &s.area->places, function, restart, s.head.start, literals, f->left_callers, &done, &behind);
	stub_done(&s, (uint32_t)(start - s.head.start), behind);
	if (!stub_move(&s.e, p->bytes + f->entry_original, f->entry_address, f->entry_bytes))
		return false;
	emit_jump(&s.e, f->entry_address + f->entry_bytes);
	if (!stub_end(&s) || !write_jump(f->entry_address, f->entry_bytes, start))
		return false;
	f->is_hooked = true;
	f->behind_hook = s.head.start + behind;
	return true;
}

bool patch_foreign(uint32_t function, const struct scan_site *site)
{
	struct agent_function *f = &agent_program.functions[function];
	uintptr_t at = site->address + site->insn.len_bytes;
	uint8_t region[CODE_PATCH_MAX];
	uint32_t first, done;
	struct stub s;

	if (!stub_begin(&s, f->image, CODE_STUB_FOREIGN, function))
		return false;
	emit_bytes(&s.e, &at, sizeof at);
	emit_bytes(&s.e, (const uint8_t *)at, site->room_bytes); /* NOLINT(performance-no-int-to-ptr) */
	first = s.e.len;
	emit_undo(&s.e, &s.area->places, true, 0, &done); /* what tail calls of the callee have left */
	emit_foreign(&s.e, &s.area->places);
	stub_done(&s, first, s.e.len);
	if (!stub_move(&s.e, (const uint8_t *)at, at, site->room_bytes)) /* NOLINT(performance-no-int-to-ptr) */
		return false;
	emit_jump(&s.e, at + site->room_bytes);
	return stub_end(&s) && plan_jump(region, at, site->room_bytes, s.head.start + first) &&
	       patch_write_foreign(f->image, at, region, site->room_bytes);
}

bool patch_foreign_call(uint32_t function, uintptr_t address, uintptr_t target)
{
	struct agent_function *f = &agent_program.functions[function];
	uint8_t region[STUB_BRANCH_BYTES];
	uint32_t first;
	struct stub s;

	if (!stub_begin(&s, f->image, CODE_STUB_FOREIGN, function))
		return false;
	emit_bytes(&s.e, &address, sizeof address);
	first = s.e.len;
	emit_foreign(&s.e, &s.area->places);
	stub_done(&s, first, s.e.len);
	emit_jump(&s.e, target);
	if (!stub_end(&s))
		return false;
	memcpy(region, (const void *)address, sizeof region); /* NOLINT(performance-no-int-to-ptr) */
	stub_put_distance(region + sizeof region, address + sizeof region, s.head.start + first);
	return patch_write_foreign(f->image, address, region, sizeof region);
}

bool patch_make_detour(uint32_t function, const struct scan_function *scan, uintptr_t to, struct patch_detour *ret)
{
	const struct agent_function *f = &agent_program.functions[function];
	const uint8_t *original = (const uint8_t *)scan->entry_address; /* NOLINT(performance-no-int-to-ptr) */
	uint32_t first, moved;
	struct stub s;

	if (scan->entry_bytes > CODE_PATCH_MAX || !stub_begin(&s, f->image, CODE_STUB_FOREIGN, function))
		return false;
	*ret = (struct patch_detour){.at = scan->entry_address, .len_bytes = scan->entry_bytes};
	memcpy(ret->original, original, ret->len_bytes);
	emit_bytes(&s.e, &ret->at, sizeof ret->at);
	emit_bytes(&s.e, original, ret->len_bytes);
	first = s.e.len;
	emit_jump(&s.e, to);
	moved = s.e.len;
	stub_done(&s, first, moved);
	if (!stub_move(&s.e, original, ret->at, ret->len_bytes))
		return false;
	emit_jump(&s.e, ret->at + ret->len_bytes);
	ret->enter = s.head.start + first;
	ret->behind = s.head.start + moved;
	return stub_end(&s) != 0;
}

bool patch_put_detour(const struct patch_detour *d)
{
	uint8_t region[CODE_PATCH_MAX];

	return plan_jump(region, d->at, d->len_bytes, d->enter) && code_write(d->at, region, d->len_bytes);
}

bool patch_take_detour(const struct patch_detour *d)
{
	return code_write(d->at, d->original, d->len_bytes);
}

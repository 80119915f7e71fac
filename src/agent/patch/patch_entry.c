/*
 * patch_entry.c - entries of functions, the loader's hook, and returns to foreign code: hands what is known to plan_entry.c, and writes what
 * that says.
 */
#include "agent/patch/patch_entry.h"

#include <string.h>

#include "agent/os/memory.h"
#include "agent/patch/patch.h"
#include "agent/patch/plan_entry.h"

/* The program's bytes at `at`, of that function, as they are now. */
static struct plan_bytes bytes_at(uint32_t function, uintptr_t at, uint32_t len)
{
	return (struct plan_bytes){.at = at,
				   .len = len,
				   .original = (const uint8_t *)at, /* NOLINT(performance-no-int-to-ptr) */
				   .function = function,
				   .area = agent_image_area(agent_function(function)->image)};
}

static bool apply_stubs(const struct plan_branch *plan, uint32_t function)
{
	return stub_apply(&plan->stubs, agent_function(function)->image->area);
}

/* Writes over code of that image, which is not instrumented, and keeps what stood there. */
static bool write_foreign(struct agent_image *image, uintptr_t at, const uint8_t *bytes, uint32_t len)
{
	struct agent_program *p = &agent_program;
	uint32_t original, written; /* the one behind the other */

	if (!agent_reserve((void **)&p->foreigns, &p->foreigns_capacity, p->foreigns_count + 1, sizeof *p->foreigns) ||
	    !agent_program_keep_bytes(at, len, &original) ||
	    !agent_program_keep_bytes((uintptr_t)bytes, len, &written) || !code_change(at, bytes, len))
		return false;
	p->foreigns[p->foreigns_count++] = (struct agent_foreign){at, image, original, (uint8_t)len};
	return true;
}

bool patch_entry(uint32_t function)
{
	struct agent_function *f = agent_function(function);
	struct plan_callers callers = {.addresses = f->callers, .left = f->left_callers};
	struct plan_branch plan;
	struct plan_bytes in;

	if (!patch_is_there(function) ||
	    (!f->is_hooked && !agent_program_keep_bytes(f->entry_address, f->entry_bytes, &f->entry_original)))
		return false;
	while (callers.count < sizeof f->callers / sizeof *f->callers && f->callers[callers.count])
		callers.count++;
	in = bytes_at(function, f->entry_address, f->entry_bytes);
	in.original = agent_program.bytes + f->entry_original;
	if (!plan_entry(&in, agent_program.encoder.graph.nodes[f->node].restart, &callers, &plan) ||
	    !apply_stubs(&plan, function) || !code_change(in.at, plan.region, in.len))
		return false;
	f->is_hooked = true;
	f->behind_hook = plan.behind;
	return true;
}

bool patch_foreign(uint32_t function, const struct scan_site *site)
{
	struct plan_bytes in = bytes_at(function, site->address + site->insn.len_bytes, site->suffix_bytes);
	struct plan_branch plan;

	return plan_foreign_return(&in, &plan) && apply_stubs(&plan, function) &&
	       write_foreign(agent_function(function)->image, in.at, plan.region, in.len);
}

bool patch_foreign_call(uint32_t function, uintptr_t address, uintptr_t target)
{
	struct plan_bytes in = bytes_at(function, address, STUB_BRANCH_BYTES);
	struct plan_branch plan;

	return plan_foreign_call(&in, target, &plan) && apply_stubs(&plan, function) &&
	       write_foreign(agent_function(function)->image, in.at, plan.region, in.len);
}

bool patch_loader(struct agent_image *image, uintptr_t at, uintptr_t to)
{
	const struct plan_bytes in = {.at = at,
				      .len = PLAN_LOADER_BYTES,
				      .original = (const uint8_t *)at, /* NOLINT(performance-no-int-to-ptr) */
				      .function = agent_function_at(at),
				      .area = agent_image_area(image)};
	struct plan_branch plan;

	return plan_loader(&in, to, &plan) && stub_apply(&plan.stubs, image->area) &&
	       write_foreign(image, at, plan.region, in.len);
}

bool patch_make_detour(uint32_t function, const struct scan_function *scan, uintptr_t to, struct patch_detour *ret)
{
	struct plan_bytes in = bytes_at(function, scan->entry_address, scan->entry_bytes);
	struct plan_branch plan;

	if (!plan_detour(&in, to, &plan) || !apply_stubs(&plan, function))
		return false;
	*ret = (struct patch_detour){
		.at = in.at, .enter = plan.enter, .behind = plan.behind, .len_bytes = (uint8_t)in.len};
	memcpy(ret->original, in.original, in.len);
	agent_function(function)->behind_hook = plan.behind; /* the stub is needed for good */
	return true;
}

bool patch_put_detour(const struct patch_detour *d)
{
	const struct plan_bytes in = {.at = d->at, .len = d->len_bytes};
	uint8_t region[CODE_PATCH_MAX];

	return plan_jump(&in, d->enter, region) && code_write(d->at, region, d->len_bytes);
}

bool patch_take_detour(const struct patch_detour *d)
{
	return code_write(d->at, d->original, d->len_bytes);
}

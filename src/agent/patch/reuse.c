/*
 * reuse.c - marks and sweeps. What leads to stubs: bytes of sites, and behind calls of foreign code; trampolines; what is kept of calls, sites and
 * functions; and other stubs, by their branches and by tables.
 *
 * Where a branch may stand bytes are taken for its distance, if they lead to where a stub is entered: a stub more stays now and then, and
 * none is missed.
 */
#include "agent/patch/reuse.h"

#include <string.h>

#include "agent/code/trampolines.h"
#include "agent/code/dispatch_table.h"
#include "agent/code/code.h"
#include "agent/patch/shape.h"
#include "agent/program/program.h"

enum {
	BRANCH_BYTES = 5,
	DISTANCE_BYTES = 4,
	DEPTH_MAX =
		16, /* what is behind a call, what chooses the next, what is in front of that, and room for what only looks so */
};

static unsigned int depth; /* above it: all stubs stay */

static void mark(uintptr_t at);

static void mark_case(uintptr_t to)
{
	mark(to);
}

/* end: of the branch's bytes, at that address. */
static void mark_branch(const uint8_t *end, uintptr_t address)
{
	int32_t distance;

	memcpy(&distance, end - DISTANCE_BYTES, sizeof distance);
	if (code_is_entry(address + (uintptr_t)distance))
		mark(address + (uintptr_t)distance);
}

/* bytes: those of [address, address + len). */
static void mark_branches(const uint8_t *bytes, uintptr_t address, uint32_t len)
{
	for (uint32_t end = DISTANCE_BYTES; end <= len; end++)
		mark_branch(bytes + end, address + end);
}

static const uint8_t *code_at(uintptr_t address)
{
	return (const uint8_t *)address; /* NOLINT(performance-no-int-to-ptr) */
}

static void mark_stub(const struct code_stub *stub)
{
	static const uint8_t load[] = {0x48, 0xb9}; /* movabs $, %rcx (dispatch_table.c) */
	const uint8_t *code = code_at(stub->start);
	uint64_t table;

	uint32_t next = stub->number + 1; /* of AFTER: the site behind it */

	/* The others lead to the program, and to the agent. */
	if (stub->kind != CODE_STUB_DISPATCH &&
	    !(stub->kind == CODE_STUB_AFTER && next < agent_program.site_count && agent_site(next)->shares_suffix))
		return;
	mark_branches(code, stub->start, stub->len);
	for (uint32_t i = 0; i + sizeof load + sizeof table <= stub->len; i++) {
		if (memcmp(code + i, load, sizeof load) != 0)
			continue;
		memcpy(&table, code + i + sizeof load, sizeof table);
		dispatch_table_visit(table, mark_case);
	}
}

static void mark(uintptr_t at)
{
	struct code_stub stub;

	if (depth > DEPTH_MAX || !code_mark(at, &stub))
		return;
	if (++depth > DEPTH_MAX)
		return;
	mark_stub(&stub);
	depth--;
}

static void mark_site(const struct agent_site *site, bool is_there)
{
	uint32_t ends[] = {BRANCH_BYTES, (uint32_t)site->prefix_bytes + BRANCH_BYTES,
			   (uint32_t)site->prefix_bytes + site->len_bytes,
			   (uint32_t)site->prefix_bytes + site->len_bytes + BRANCH_BYTES};
	uintptr_t start = shape_start(site);
	uint32_t len = shape_bytes(site);

	agent_for_each_call(c, site)
		mark(agent_call(c)->before);
	mark(site->dispatch);
	if (site->trampoline)
		mark(trampoline_after(site->trampoline));
	if (!is_there)
		return;
	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
		if (ends[i] <= len)
			mark_branch(code_at(start + ends[i]), start + ends[i]);
}

static void mark_function(const struct agent_function *f)
{
	bool is_there = f->state == AGENT_FUNCTION_INSTRUMENTED && agent_image_is_there(f->image);

	agent_for_each_site(s, f)
		mark_site(agent_site(s), is_there);
	mark(f->behind_hook);
}

void reuse_stubs(void)
{
	const struct agent_program *p = &agent_program;

	if (!code_is_to_be_swept() || !code_mark_begin())
		return;
	depth = 0;
	for (size_t i = 0; i < p->function_count; i++)
		mark_function(agent_function(i));
	for (size_t i = 0; i < p->foreigns_count; i++) {
		const struct agent_foreign *f = &p->foreigns[i];

		mark_branches(p->bytes + f->original + f->len_bytes, f->address, f->len_bytes);
	}
	code_sweep(depth <= DEPTH_MAX);
}

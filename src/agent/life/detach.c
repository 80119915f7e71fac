/*
 * detach.c - takes the agent's code out of the program, and puts it in again.
 *
 * What was found out (functions, calls, the encoding) is kept: a second attach goes on with it.
 */
#include "agent/life/detach.h"

#include "agent/os/memory.h"
#include "agent/code/code.h"
#include "agent/patch/patch.h"
#include "agent/patch/patch_entry.h"
#include "agent/patch/shape.h"
#include "agent/program/program.h"

static bool is_within(uintptr_t pc, uintptr_t start, uint32_t len)
{
	return pc > start && pc < start + len;
}

static bool is_inside_scan(uintptr_t pc, const struct scan_function *scan)
{
	if (is_within(pc, scan->entry_address, scan->entry_bytes))
		return true;
	for (size_t i = 0; i < scan->site_count; i++) {
		const struct scan_site *s = &scan->sites[i];

		if (is_within(pc, s->address - s->prefix_bytes,
			      (uint32_t)s->prefix_bytes + s->insn.len_bytes + s->suffix_bytes))
			return true;
	}
	return false;
}

bool detach_is_inside(uintptr_t pc)
{
	uint32_t number = agent_function_at(pc);
	const struct agent_program *p = &agent_program;
	struct scan_function scan;
	bool ret = false;

	for (size_t i = 0; i < p->foreigns_count; i++)
		if (is_within(pc, p->foreigns[i].address, p->foreigns[i].len_bytes))
			return true;
	if (number == AGENT_NONE)
		return false;
	if (agent_function(number)->state == AGENT_FUNCTION_INSTRUMENTED)
		return patch_is_inside(number, pc) ||
		       is_within(pc, agent_function(number)->entry_address, agent_function(number)->entry_bytes);
	if (agent_function(number)->state != AGENT_FUNCTION_SEEN)
		return false;
	if (scan_function(&agent_function(number)->image->scan, agent_function(number)->start, &agent_allocator,
			  &scan) != SCAN_OK)
		return false;
	ret = is_inside_scan(pc, &scan);
	scan_function_release(&scan, &agent_allocator);
	return ret;
}

static bool put_back(uintptr_t start, uint32_t original, uint32_t len)
{
	return code_write(start, agent_program.bytes + original, len);
}

static bool is_changed(const struct agent_function *f)
{
	return f->state == AGENT_FUNCTION_INSTRUMENTED && agent_image_is_there(f->image);
}

bool detach_code(void)
{
	const struct agent_program *p = &agent_program;
	bool ok = true;

	for (size_t i = 0; i < p->function_count; i++) {
		const struct agent_function *f = agent_function(i);

		if (!is_changed(f))
			continue;
		if (f->is_hooked)
			ok &= put_back(f->entry_address, f->entry_original, f->entry_bytes);
		agent_for_each_site(s, f) {
			const struct agent_site *site = agent_site(s);

			ok &= put_back(shape_start(site), site->original, shape_bytes(site));
		}
	}
	/* Last: a function that was instrumented later has kept these bytes as its own. */
	for (size_t i = p->foreigns_count; i-- > 0;)
		if (agent_image_is_there(p->foreigns[i].image))
			ok &= put_back(p->foreigns[i].address, p->foreigns[i].original, p->foreigns[i].len_bytes);
	return ok;
}

bool detach_undo(void)
{
	struct agent_program *p = &agent_program;
	bool ok = true;

	for (size_t i = 0; i < p->foreigns_count; i++)
		if (agent_image_is_there(p->foreigns[i].image))
			ok &= put_back(p->foreigns[i].address, p->foreigns[i].original + p->foreigns[i].len_bytes,
				       p->foreigns[i].len_bytes);
	for (size_t i = 0; i < p->function_count; i++) {
		if (!is_changed(agent_function(i)))
			continue;
		if (agent_function(i)->is_hooked)
			ok &= patch_entry((uint32_t)i);
		agent_for_each_site(s, agent_function(i))
			ok &= patch_site(s);
	}
	return ok;
}

/*
 * reach.c - instruments functions: scans a function when it is first reached, adds its sites and writes them, or says why it cannot.
 *
 * The functions whose addresses a function takes are instrumented, too, with a hook: foreign code may call them first.
 */
#include "agent/patch/reach.h"

#include "agent/os/memory.h"
#include "agent/patch/patch.h"
#include "agent/patch/patch_entry.h"
#include "agent/patch/shape.h"
#include "agent/program/program.h"
#include "agent/program/record.h"
#include "agent/threads/stop.h"

static bool add_sites(uint32_t function, const struct scan_function *scan)
{
	struct agent_program *p = &agent_program;
	struct agent_function *f = agent_function(function);

	if (!agent_reserve((void **)&p->sites, &p->site_capacity, p->site_count + scan->site_count, sizeof *p->sites))
		return false;
	f->first_site = (uint32_t)p->site_count;
	for (size_t i = 0; i < scan->site_count; i++) {
		const struct scan_site *s = &scan->sites[i];
		struct agent_site *site = agent_site(p->site_count);

		*site = shape_site(s, i ? s - 1 : NULL);
		site->function = function;
		if (agent_site_is_call(site) &&
		    !agent_site_returns_to((uint32_t)p->site_count, shape_return_address(site)))
			return false;
		p->site_count++;
	}
	f->site_count = (uint32_t)scan->site_count;
	return true;
}

/* NULL: the function can be instrumented; otherwise why not. */
static const char *refuse(const struct scan_function *scan)
{
	if (scan->reason)
		return scan->reason;
	if (scan->switches_stack)
		return "it switches stacks";
	for (size_t i = 0; i < scan->site_count; i++) {
		const char *reason = shape_refuses(&scan->sites[i], i ? &scan->sites[i - 1] : NULL);

		if (reason)
			return reason;
	}
	return NULL;
}

static bool instrument(uint32_t function, const struct scan_function *scan)
{
	struct agent_program *p = &agent_program;
	struct error *err;
	uint32_t node;

	record_image(agent_function(function)->image);
	if (!agent_function_add_parts(function, scan) || !add_sites(function, scan))
		return false;
	err = adaptive_add_function(&p->encoder, &node);
	if (err) {
		error_destroy(err);
		return false;
	}
	if (!agent_reserve((void **)&p->node_functions, &p->node_capacity, (size_t)node + 1, sizeof *p->node_functions))
		return false;
	p->node_functions[node] = function;
	agent_function(function)->node = node;
	agent_function(function)->entry_address = scan->entry_address;
	agent_function(function)->entry_bytes = scan->entry_bytes;
	if (!patch_begin(function))
		return false;
	agent_function(function)->state = AGENT_FUNCTION_INSTRUMENTED;
	p->instrumented_count++;
	return true;
}

/* Functions whose addresses were taken, to be looked at. */
static struct {
	uintptr_t *items;
	size_t count, capacity;
	bool is_looking;
} taken;

static void keep_taken(const struct scan_function *scan)
{
	for (size_t i = 0; i < scan->taken_count; i++) {
		if (!agent_reserve((void **)&taken.items, &taken.capacity, taken.count + 1, sizeof *taken.items))
			return;
		taken.items[taken.count++] = scan->taken[i];
	}
}

static void reach(uint32_t function)
{
	const struct agent_function *f = agent_function(function);
	struct scan_function scan;
	enum scan_result result;
	const char *reason;

	if (f->state != AGENT_FUNCTION_SEEN)
		return;
	result = scan_function(&f->image->scan, f->start, &agent_allocator, &scan);
	if (result != SCAN_OK) {
		agent_function_keep(function,
				    result == SCAN_NO_MEMORY ? "memory is short" : "no function starts there");
		return;
	}
	if (!agent_function_is_found_no_callback(function, &scan)) {
		reason = scan.start == agent_function(function)->start ? refuse(&scan)
								       : "it is part of another function";
		/* A thread that cannot be stopped now may be later. */
		if (!reason && !stop_others()) {
			scan_function_release(&scan, &agent_allocator);
			return;
		}
		if (!reason && !instrument(function, &scan))
			reason = "memory is short, or its code cannot be written";
		if (reason)
			agent_function_keep(function, reason);
		keep_taken(&scan);
	}
	scan_function_release(&scan, &agent_allocator);
}

/* What it calls is to be found also where it is first called by foreign code. */
static void hook(uint32_t function)
{
	const struct agent_function *f = agent_function(function);

	if (f->state == AGENT_FUNCTION_SEEN)
		reach(function);
	f = agent_function(function);
	if (f->state == AGENT_FUNCTION_INSTRUMENTED && !f->is_hooked && f->entry_bytes)
		patch_entry(function);
}

void reach_function(uint32_t function)
{
	reach(function);
	if (taken.is_looking)
		return;
	taken.is_looking = true;
	while (taken.count) {
		uint32_t other = agent_function_entered(taken.items[--taken.count]);

		if (other != AGENT_NONE)
			hook(other);
	}
	taken.is_looking = false;
}

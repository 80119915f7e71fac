/*
 * program.c - functions: finds them by address, and decides which of them call nothing back.
 *
 * A function is a no-callback function when all that it can call is one: neither captures nor callbacks happen in it, so no code is needed there and
 * a signal's handler unwinds it. This is asked of small functions only, some calls deep.
 */
#include "agent/program/program.h"

#include <string.h>

#include "agent/scan/inner.h"
#include "agent/os/memory.h"
#include "agent/program/no_callback.h"
#include "agent/os/address_map.h"

enum {
	NO_CALLBACK_MAX_DEPTH = 6,
	NO_CALLBACK_MAX_INSNS = 1500,
};

struct agent_program agent_program;
static struct address_map by_start; /* functions and cold parts */
static struct address_map by_return;

/* Looked for before anything is written there. */
static uintptr_t inner_of(const struct eh_function *range)
{
	const uint8_t *code = (const uint8_t *)range->start; /* NOLINT(performance-no-int-to-ptr) */
	size_t off = inner_entry(code, range->end - range->start);

	return off ? range->start + off : 0;
}

static uint32_t add_function(struct agent_image *image, const struct eh_function *range)
{
	struct agent_program *p = &agent_program;
	struct agent_function *f;

	if (!agent_reserve((void **)&p->functions, &p->function_capacity, p->function_count + 1,
			   sizeof *p->functions) ||
	    !agent_reserve((void **)&p->present, &p->present_capacity, p->present_count + 1, sizeof *p->present) ||
	    !address_map_set(&by_start, range->start, (uint32_t)p->function_count))
		return AGENT_NONE;
	f = agent_function(p->function_count);
	*f = (struct agent_function){
		.start = range->start,
		.end = range->end,
		.inner = inner_of(range),
		.image = image,
		.parent = AGENT_NONE,
		.node = AGENT_NONE,
	};
	if (image->kind != AGENT_IMAGE_CODE || agent_function_is_runtime(f)) {
		f->state = AGENT_FUNCTION_FOREIGN;
		f->reason = "it is not to be instrumented";
	}
	p->present[p->present_count++] = (uint32_t)p->function_count;
	return (uint32_t)p->function_count++;
}

static uint32_t whole(uint32_t function)
{
	uint32_t parent = function == AGENT_NONE ? AGENT_NONE : agent_function(function)->parent;

	return parent == AGENT_NONE ? function : parent;
}

uint32_t agent_function_at(uintptr_t address)
{
	struct agent_image *image = agent_image_at(address);
	struct eh_function range;
	uint32_t function;

	if (!image || !agent_image_function(image, address, &range))
		return AGENT_NONE;
	if (!address_map_find(&by_start, range.start, &function))
		function = add_function(image, &range);
	return whole(function);
}

uint32_t agent_site_in_front_of(uintptr_t return_address)
{
	uint32_t site;

	return address_map_find(&by_return, return_address, &site) ? site : AGENT_NONE;
}

uint32_t agent_site_returning_to(uintptr_t return_address)
{
	uint32_t site = agent_site_in_front_of(return_address);

	/* A function whose code could not be written has its sites, and none of them counts. */
	return site != AGENT_NONE && agent_function_is(agent_site(site)->function, AGENT_FUNCTION_INSTRUMENTED)
		       ? site
		       : AGENT_NONE;
}

bool agent_function_add_parts(uint32_t function, const struct scan_function *scan)
{
	for (size_t i = 1; i < scan->chunk_count; i++) {
		struct agent_function *f = agent_function(function);
		struct eh_function range = {.start = scan->chunks[i].low, .end = scan->chunks[i].high};
		uint32_t part;

		if (!address_map_find(&by_start, range.start, &part))
			part = add_function(f->image, &range);
		if (part == AGENT_NONE)
			return false;
		agent_function(part)->parent = function;
	}
	return true;
}

uintptr_t agent_resolve(uintptr_t target)
{
	const struct agent_image *image = agent_image_at(target);
	uint64_t slot;

	if (image && scan_is_plt(&image->scan, target, &slot))
		return *(const uintptr_t *)slot; /* NOLINT(performance-no-int-to-ptr) */
	return target;
}

uintptr_t agent_function_inner(uintptr_t start)
{
	uint32_t function = agent_function_at(start);

	return function == AGENT_NONE ? 0 : agent_function(function)->inner;
}

uint32_t agent_function_entered(uintptr_t target)
{
	uint32_t function = agent_function_at(target);

	return function != AGENT_NONE &&
			       (agent_function(function)->start == target || agent_function(function)->inner == target)
		       ? function
		       : AGENT_NONE;
}

enum no_callback {
	NO_CALLBACK_NO,
	NO_CALLBACK_YES,
	NO_CALLBACK_UNSURE, /* not seen from here: too deep, or it is asked for already */
};

static enum no_callback find_no_callback(uint32_t function, int depth);

static enum no_callback no_callback_of_calls(const struct scan_function *scan, int depth)
{
	enum no_callback ret = NO_CALLBACK_YES;

	for (size_t i = 0; i < scan->site_count && ret == NO_CALLBACK_YES; i++) {
		const struct scan_site *site = &scan->sites[i];
		uintptr_t target;
		uint32_t callee;

		if (site->kind != SCAN_CALL && site->kind != SCAN_TAIL)
			return NO_CALLBACK_NO;
		target = agent_resolve(site->target);
		if (no_callback_captures(target))
			return NO_CALLBACK_NO;
		if (no_callback_is_known(target))
			continue;
		callee = agent_function_entered(target);
		if (callee == AGENT_NONE)
			return NO_CALLBACK_NO;
		ret = find_no_callback(callee, depth + 1);
	}
	return ret;
}

static bool is_small(const struct agent_function *f)
{
	return f->end - f->start <= (uintptr_t)NO_CALLBACK_MAX_INSNS * 4;
}

/* Of a function that was not looked at yet, and what the scan says of it. An answer that is sure is kept; at depth 0 any is. */
static enum no_callback decide_no_callback(uint32_t function, const struct scan_function *scan, int depth)
{
	struct agent_function *f = agent_function(function);
	enum no_callback ret = NO_CALLBACK_NO;

	if (!f->calls_back && is_small(f) && !scan->reason && !scan->switches_stack &&
	    scan->insn_count <= NO_CALLBACK_MAX_INSNS) {
		f->is_being_read = true;
		ret = no_callback_of_calls(scan, depth);
		if (ret == NO_CALLBACK_YES && !agent_function_add_parts(function, scan))
			ret = NO_CALLBACK_NO;
		f = agent_function(function);
		f->is_being_read = false;
	}
	if (ret == NO_CALLBACK_YES) {
		f->state = AGENT_FUNCTION_NO_CALLBACK;
		agent_program.no_callback_count++;
	} else if (ret == NO_CALLBACK_NO || depth == 0) {
		f->calls_back = true;
	}
	return ret;
}

static enum no_callback find_no_callback(uint32_t function, int depth)
{
	const struct agent_function *f = agent_function(function);
	struct scan_function scan;
	enum no_callback ret;

	if (f->state != AGENT_FUNCTION_SEEN)
		return f->state == AGENT_FUNCTION_NO_CALLBACK ? NO_CALLBACK_YES : NO_CALLBACK_NO;
	if (f->calls_back || !is_small(f))
		return NO_CALLBACK_NO;
	if (f->is_being_read || depth > NO_CALLBACK_MAX_DEPTH)
		return NO_CALLBACK_UNSURE;
	if (scan_function(&f->image->scan, f->start, &agent_allocator, &scan) != SCAN_OK)
		return NO_CALLBACK_NO;
	ret = decide_no_callback(function, &scan, depth);
	scan_function_release(&scan, &agent_allocator);
	return ret;
}

void agent_function_keep(uint32_t function, const char *reason)
{
	struct agent_function *f = agent_function(function);

	if (f->state != AGENT_FUNCTION_SEEN)
		return;
	f->state = AGENT_FUNCTION_FOREIGN;
	f->reason = reason;
	agent_program.foreign_count++;
}

bool agent_function_is_found_no_callback(uint32_t function, const struct scan_function *scan)
{
	return decide_no_callback(function, scan, 0) == NO_CALLBACK_YES;
}

bool agent_program_keep_bytes(uintptr_t at, uint32_t len, uint32_t *ret)
{
	struct agent_program *p = &agent_program;

	if (!agent_reserve((void **)&p->bytes, &p->byte_capacity, p->byte_count + len, 1))
		return false;
	*ret = (uint32_t)p->byte_count;
	memcpy(p->bytes + p->byte_count, (const void *)at, len); /* NOLINT(performance-no-int-to-ptr) */
	p->byte_count += len;
	return true;
}

bool agent_site_returns_to(uint32_t site, uintptr_t return_address)
{
	return address_map_set(&by_return, return_address, site);
}

void agent_program_forget(const struct agent_image *image)
{
	struct agent_program *p = &agent_program;
	size_t kept = 0;

	address_map_forget_range(&by_start, image->low, image->high, 64);
	address_map_forget_range(&by_return, image->low, image->high, 64);
	p->looks += p->present_count;
	for (size_t i = 0; i < p->present_count; i++) {
		struct agent_function *f = agent_function(p->present[i]);

		if (f->image != image) {
			p->present[kept++] = p->present[i];
			continue;
		}
		f->state = AGENT_FUNCTION_GONE;
		f->is_hooked = false;
	}
	p->present_count = kept;
}

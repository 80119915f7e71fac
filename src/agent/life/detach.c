/*
 * detach.c - takes the agent's code out of the program, and puts it in again.
 *
 * What was found out (functions, calls, the encoding) is kept, and so are the bytes that led to the agent: a second attach goes on with
 * them. All threads stand still meanwhile, so bytes that are close together are written together.
 */
#include "agent/life/detach.h"

#include <string.h>

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

/* ---- writing a lot ---- */

enum {
	SPAN_BYTES = 4096,
	GAP_BYTES = 256, /* between bytes that are written together: less than a page, so that all between is mapped */
};

/* What is to be written next, with what is between. */
static struct {
	uintptr_t at;
	size_t len_bytes;
	uint8_t bytes[SPAN_BYTES];
	bool has_failed;
} span;

static void write_span(void)
{
	if (span.len_bytes && !code_write(span.at, span.bytes, span.len_bytes))
		span.has_failed = true;
	span.len_bytes = 0;
}

static bool write_rest(void)
{
	bool ok;

	write_span();
	ok = !span.has_failed;
	span.has_failed = false;
	return ok;
}

/* Mostly behind what was put before. */
static void put(uintptr_t at, const uint8_t *bytes, size_t len)
{
	uintptr_t end = span.at + span.len_bytes;

	if (!span.len_bytes || at < end || at - end > GAP_BYTES || at + len - span.at > SPAN_BYTES) {
		write_span();
		end = span.at = at;
	}
	memcpy(span.bytes + span.len_bytes, (const void *)end, at - end); /* NOLINT(performance-no-int-to-ptr) */
	memcpy(span.bytes + (at - span.at), bytes, len);
	span.len_bytes = at + len - span.at;
}

/* ---- the program's bytes ---- */

/* Bytes that stood in place of the program's. */
struct replaced {
	uintptr_t at;
	size_t bytes; /* in the pool */
	uint32_t function, len_bytes;
};

/* Under the agent's lock: those of the last detach, by function. */
static struct replaced *all_replaced;
static size_t replaced_count, replaced_capacity;
static uint8_t *pool;
static size_t pool_bytes, pool_capacity;
static bool is_all_kept; /* there was memory for that */

static bool keep(uint32_t function, uintptr_t at, uint32_t len)
{
	if (!agent_reserve((void **)&all_replaced, &replaced_capacity, replaced_count + 1, sizeof *all_replaced) ||
	    !agent_reserve((void **)&pool, &pool_capacity, pool_bytes + len, 1))
		return false;
	all_replaced[replaced_count++] = (struct replaced){at, pool_bytes, function, len};
	memcpy(pool + pool_bytes, (const void *)at, len); /* NOLINT(performance-no-int-to-ptr) */
	pool_bytes += len;
	return true;
}

/* Most sites are as they were. */
static void put_back(uint32_t function, uintptr_t at, uint32_t original, uint32_t len)
{
	const uint8_t *bytes = agent_program.bytes + original;

	if (memcmp((const void *)at, bytes, len) == 0) /* NOLINT(performance-no-int-to-ptr) */
		return;
	is_all_kept = is_all_kept && keep(function, at, len);
	put(at, bytes, len);
}

static bool is_changed(const struct agent_function *f)
{
	return f->state == AGENT_FUNCTION_INSTRUMENTED && agent_image_is_there(f->image);
}

static void put_back_function(uint32_t number)
{
	const struct agent_function *f = agent_function(number);

	if (f->is_hooked)
		put_back(number, f->entry_address, f->entry_original, f->entry_bytes);
	agent_for_each_site(s, f) {
		const struct agent_site *site = agent_site(s);

		put_back(number, shape_start(site), site->original, shape_bytes(site));
	}
}

bool detach_code(void)
{
	const struct agent_program *p = &agent_program;

	replaced_count = pool_bytes = 0;
	is_all_kept = true;
	for (size_t i = 0; i < p->function_count; i++)
		if (is_changed(agent_function(i)))
			put_back_function((uint32_t)i);
	/* Last: a function that was instrumented later has kept these bytes as its own. */
	for (size_t i = p->foreigns_count; i-- > 0;)
		if (agent_image_is_there(p->foreigns[i].image))
			put(p->foreigns[i].address, p->bytes + p->foreigns[i].original, p->foreigns[i].len_bytes);
	return write_rest();
}

static bool write_anew(void)
{
	const struct agent_program *p = &agent_program;
	bool ok = true;

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

static void put_replaced(void)
{
	for (size_t i = 0; i < replaced_count; i++) {
		const struct replaced *r = &all_replaced[i];

		if (is_changed(agent_function(r->function)))
			put(r->at, pool + r->bytes, r->len_bytes);
	}
}

bool detach_undo(bool is_all)
{
	struct agent_program *p = &agent_program;
	bool ok;

	for (size_t i = 0; i < p->foreigns_count; i++)
		if (agent_image_is_there(p->foreigns[i].image))
			put(p->foreigns[i].address, p->bytes + p->foreigns[i].original + p->foreigns[i].len_bytes,
			    p->foreigns[i].len_bytes);
	if (is_all_kept)
		put_replaced();
	ok = write_rest();
	return (is_all || !is_all_kept) ? write_anew() && ok : ok;
}

/* allocator.c - which functions the allocator has, jumps at their entries, and what interposes them. */
#include "agent/clients/allocator.h"

#include <dlfcn.h>
#include <stdint.h>
#include <string.h>

#include "agent/threads/thread.h"
#include "agent/os/memory.h"
#include "agent/os/state.h"
#include "agent/code/emit.h"
#include "agent/patch/patch_entry.h"
#include "agent/program/program.h"
#include "runtime/heap/heap.h"

/* Behind the stubs: the allocator itself. Written once, before the entries are. */
static struct {
#define MEMBER(result, name, parameters) result(*name) parameters;
	WM1_HEAP_ALLOCATOR(MEMBER)
} next;

/* ---- calls ---- */

/* False: it is a call inside of another one, or nothing is to be recorded. */
static bool hooked_begin(void)
{
	if (agent_thread.is_allocating || agent_leaves())
		return false;
	agent_thread.is_allocating = true;
	return true;
}

static void hooked_end(void)
{
	agent_thread.is_allocating = false;
}

static void hooked_alloc(void *block, size_t size_bytes, const struct wm1_caller *caller,
			 enum wm1_heap_function function)
{
	/* NOLINTNEXTLINE(performance-no-int-to-ptr) */
	wmrt_own_heap_alloc_from(block, size_bytes, (const void *)caller->pc, function);
}

#define hooked_take wmrt_own_heap_take
#define hooked_put_back wmrt_own_heap_put_back
#define hooked_freed wmrt_own_heap_freed

static bool hooked_is_made_by_allocator(const uint8_t *return_address);

#include "runtime/heap/hooked.inc"

/* ---- entries ---- */

/* Under the agent's lock. */
static struct allocator_hook hooks[] = {
#define HOOK(result, of, parameters) \
	{.name = #of, .own = (void *)own_##of, .next = (void **)&next.of, .function = AGENT_NONE},
	WM1_HEAP_ALLOCATOR(HOOK)};
enum {
	HOOK_FREE = 0,
	HOOKS = sizeof hooks / sizeof *hooks,
};

static bool is_found;

/*
 * A direct call of the function itself, which others reach through a word of their GOT. So glibc gives back what it has kept for a thread
 * that ends: blocks that the program has freed before.
 */
static bool hooked_is_made_by_allocator(const uint8_t *return_address)
{
	enum {
		CALL_BYTES = 5,
	};
	const struct agent_function *f = agent_function(hooks[HOOK_FREE].function);
	const uint8_t *call = return_address - CALL_BYTES;
	int32_t distance;

	if (!scan_text_of(&f->image->scan, (uintptr_t)call) || *call != 0xe8)
		return false;
	memcpy(&distance, call + 1, sizeof distance);
	return return_address + distance == (const uint8_t *)f->start; /* NOLINT(performance-no-int-to-ptr) */
}

/* A few instructions and a jump elsewhere: all of it can be moved. */
static void find_entry(const struct agent_function *f, struct scan_function *scan)
{
	uintptr_t address = scan->entry_address;
	struct insn insn;

	while (!scan->entry_bytes && address < f->end && address - scan->entry_address < CODE_PATCH_MAX &&
	       insn_decode((const uint8_t *)address, f->end - address, address, &insn)) { /* NOLINT */
		address += insn.len_bytes;
		if (insn.kind == INSN_JUMP_DIRECT && address - scan->entry_address >= EMIT_JUMP_BYTES)
			scan->entry_bytes = (uint8_t)(address - scan->entry_address);
		if (insn.kind != INSN_OTHER)
			break;
	}
}

bool allocator_has_hook(const struct allocator_hook *first, const struct allocator_hook *end, uint32_t function)
{
	while (first < end && first->function != function)
		first++;
	return first < end;
}

bool allocator_make_hook(struct allocator_hook *h, uint32_t function)
{
	const struct agent_function *f = agent_function(function);
	struct scan_function scan;
	bool ok = false;

	if (scan_function(&f->image->scan, f->start, &agent_allocator, &scan) != SCAN_OK)
		return false;
	find_entry(f, &scan);
	ok = !scan.reason && !scan.entry_is_target && scan.entry_bytes &&
	     patch_make_detour(function, &scan, (uintptr_t)h->own, &h->detour);
	scan_function_release(&scan, &agent_allocator);
	if (!ok)
		return false;
	h->function = function;
	*h->next = (void *)h->detour.behind; /* NOLINT(performance-no-int-to-ptr) */
	return true;
}

/* The one that the program's own calls lead to. */
static bool find(struct allocator_hook *h, enum agent_image_kind kind)
{
	uintptr_t at = (uintptr_t)dlsym(RTLD_DEFAULT, h->name);
	uint32_t function = at ? agent_function_at(at) : AGENT_NONE;

	if (!at || h->function != AGENT_NONE)
		return true;
	if (function == AGENT_NONE || agent_function(function)->start != at ||
	    agent_function(function)->image->kind != kind)
		return false;
	return allocator_has_hook(hooks, h, function) || allocator_make_hook(h, function);
}

bool allocator_find(void)
{
	for (int i = 0; !is_found && i < HOOKS; i++)
		if (!find(&hooks[i], AGENT_IMAGE_FOREIGN))
			return false;
	is_found = true;
	return true;
}

bool allocator_take(void)
{
	for (int i = 0; i < HOOKS; i++) {
		if (hooks[i].function == AGENT_NONE)
			continue;
		if (!patch_put_detour(&hooks[i].detour)) {
			allocator_give_back();
			return false;
		}
		hooks[i].is_taken = true;
	}
	return true;
}

void allocator_give_back(void)
{
	for (int i = 0; i < HOOKS; i++)
		if (hooks[i].is_taken)
			patch_take_detour(&hooks[i].detour);
	for (int i = 0; i < HOOKS; i++)
		hooks[i].is_taken = false;
}

/* It calls another function of the allocator, in front of which there is a jump. */
static bool calls_hooked(uint32_t function)
{
	const struct agent_function *f = agent_function(function);
	struct scan_function scan;
	bool ret = false;

	if (scan_function(&f->image->scan, f->start, &agent_allocator, &scan) != SCAN_OK)
		return false;
	for (size_t i = 0; i < scan.site_count; i++) {
		uintptr_t target = scan.sites[i].target ? agent_resolve(scan.sites[i].target) : 0;

		for (int h = 0; h < HOOKS; h++)
			ret |= target && hooks[h].function != AGENT_NONE &&
			       agent_function(hooks[h].function)->start == target;
	}
	scan_function_release(&scan, &agent_allocator);
	return ret;
}

bool allocator_is_own(uintptr_t at)
{
	const struct agent_image *image = at ? agent_image_at(at) : NULL;
	uint64_t slot;

	return image && image->kind == AGENT_IMAGE_CODE && !scan_is_plt(&image->scan, at, &slot);
}

const char *allocator_take_own(void)
{
	uintptr_t left[HOOKS] = {0};

	for (int i = 0; i < HOOKS; i++) {
		uintptr_t at = (uintptr_t)dlsym(RTLD_DEFAULT, hooks[i].name);

		/* Of what it does not have, the C library's is called, by nobody. */
		if (allocator_is_own(at) && !find(&hooks[i], AGENT_IMAGE_CODE))
			left[i] = at;
	}
	for (int i = 0; i < HOOKS; i++)
		if (left[i] && !calls_hooked(agent_function_at(left[i])))
			return hooks[i].name;
	for (int i = 0; i < HOOKS; i++)
		if (hooks[i].function != AGENT_NONE)
			agent_function_keep(hooks[i].function, "it is the allocator's");
	return allocator_take() ? NULL : "malloc";
}

/* coroutine_stacks.c - maps context stacks of coroutines, and finds them. */
#include "agent/context/coroutine_stacks.h"

#include <sys/mman.h>

#include "agent/os/memory.h"
#include "agent/os/address_map.h"
#include "recorder/sys.h"
#include "waymark/abi.h"

enum {
	GUARD_BYTES = 4096,
	HANDLERS_BYTES = 1 << 20,      /* for what handlers push that run on another stack */
	ADOPTED_STACK_BYTES = 8 << 20, /* of one whose size is not known */
};

/* Under the agent's lock. */
static struct address_map by_stack; /* number by the low end of the native stack */
static struct coroutine **coroutines;
static size_t coroutine_count, coroutine_capacity;
static struct address_map adopted; /* number by root; not in by_stack */
static uintptr_t end_of_coroutines;

/* As many entries as the native stack has room for calls that push (thread.c). */
static struct coroutine *map_coroutine(uintptr_t low, size_t stack_bytes)
{
	size_t bytes =
		(sizeof(struct coroutine) + 2 * stack_bytes + HANDLERS_BYTES + GUARD_BYTES + 4095) & ~(size_t)4095;
	long at = wmrt_sys6(SYS_mmap, 0, (long)bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	struct coroutine *coroutine = (struct coroutine *)at; /* NOLINT(performance-no-int-to-ptr) */

	if (at < 0 && at > -4096)
		return NULL;
	wmrt_sys3(SYS_mprotect, at + (long)bytes - GUARD_BYTES, GUARD_BYTES, PROT_NONE);
	coroutine->low = low;
	coroutine->high = low + stack_bytes;
	coroutine->bytes = bytes;
	return coroutine;
}

struct coroutine *coroutine_stack_on(uintptr_t low, size_t stack_bytes)
{
	uint32_t number;

	if (!address_map_find(&by_stack, low, &number)) {
		if (!agent_reserve((void **)&coroutines, &coroutine_capacity, coroutine_count + 1,
				   sizeof(struct coroutine *)))
			return NULL;
		number = (uint32_t)coroutine_count;
		coroutines[number] = map_coroutine(low, stack_bytes);
		if (!coroutines[number] || !address_map_set(&by_stack, low, number))
			return NULL;
		coroutine_count++;
	} else if (coroutines[number]->high - low < stack_bytes) {
		struct coroutine *larger = map_coroutine(low, stack_bytes);

		if (!larger)
			return NULL;
		wmrt_sys3(SYS_munmap, (long)coroutines[number], (long)coroutines[number]->bytes, 0);
		coroutines[number] = larger;
	}
	coroutines[number]->high = low + stack_bytes;
	return coroutines[number];
}

bool coroutine_find(uintptr_t sp, struct agent_entry **ret_base, uintptr_t *ret_root)
{
	for (size_t i = coroutine_count; i-- > 0;) {
		struct coroutine *coroutine = coroutines[i];

		if (!coroutine->root || sp < coroutine->low || sp >= coroutine->high)
			continue;
		*ret_base = coroutine->entries;
		*ret_root = coroutine->root;
		return true;
	}
	return false;
}

bool coroutine_is_end(uintptr_t pc)
{
	return pc && pc == end_of_coroutines;
}

void coroutine_stacks_end_at(uintptr_t pc)
{
	end_of_coroutines = pc;
}

bool coroutine_is_adopted(const struct agent_entry *base)
{
	for (size_t i = 0; i < coroutine_count; i++)
		if (coroutines[i]->entries == base)
			return !coroutines[i]->high;
	return false;
}

struct agent_entry *coroutine_adopt(uintptr_t root)
{
	struct coroutine *coroutine;
	uint32_t number;

	if (address_map_find(&adopted, root, &number))
		return coroutines[number]->entries;
	coroutine = map_coroutine(0, ADOPTED_STACK_BYTES);
	number = (uint32_t)coroutine_count;
	if (!coroutine ||
	    !agent_reserve((void **)&coroutines, &coroutine_capacity, coroutine_count + 1, sizeof(struct coroutine *)))
		return NULL;
	coroutine->low = coroutine->high = 0;
	coroutine->root = root;
	coroutine->entries[0] = (struct agent_entry){.frame_slot = UINT64_MAX, .prefix = WM_PREFIX_PROCESS};
	if (!address_map_set(&adopted, root, number))
		return NULL;
	coroutines[coroutine_count++] = coroutine;
	return coroutine->entries;
}

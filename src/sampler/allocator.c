/*
 * allocator.c - the functions are those that the program's own calls lead to: the first ones in the order in which libraries are looked up.
 *
 * A thread that does not come from the C library has no state of its own here, nor of the C library's allocator: the command refuses processes
 * that have one.
 */
#include "sampler/allocator.h"

#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <string.h>

#include "base/instruction.h"
#include "native/entry_jump.h"
#include "recorder/bus.h"
#include "runtime/heap/heap.h"
#include "sampler/walk/images.h"
#include "sampler/walk/memory.h"
#include "sampler/sample.h"

/* Behind the jumps: the allocator itself. Written once, before the jumps are. */
static struct {
#define MEMBER(result, name, parameters) result(*name) parameters;
	WM1_HEAP_ALLOCATOR(MEMBER)
} next;

/* Written before the jumps are. */
static const struct wm1_heap_walked *told;

/* Its own thread's. */
static _Thread_local struct {
	bool is_in_call;
	bool is_bus_open;
	_Atomic bool is_telling;
} state __attribute__((tls_model("initial-exec")));

/* ---- calls ---- */

/* False: the call is inside of another one, or nothing is recorded. */
static bool hooked_begin(void)
{
	if (state.is_in_call || !sample_is_on())
		return false;
	state.is_in_call = true;
	return true;
}

static void hooked_end(void)
{
	state.is_in_call = false;
}

static void begin_telling(void)
{
	atomic_store_explicit(&state.is_telling, true, memory_order_relaxed);
	atomic_signal_fence(memory_order_seq_cst);
	/* A fault in the recording is repaired, also in a thread that has blocked all signals before. */
	if (!state.is_bus_open)
		wmrt_bus_unblock_here();
	state.is_bus_open = true;
}

static void end_telling(void)
{
	atomic_signal_fence(memory_order_seq_cst);
	atomic_store_explicit(&state.is_telling, false, memory_order_relaxed);
}

static void hooked_alloc(void *block, size_t size_bytes, const struct wm1_caller *caller,
			 enum wm1_heap_function function)
{
	begin_telling();
	told->alloc(block, size_bytes, 1, caller, function);
	end_telling();
}

static struct wm1_heap_block hooked_take(void *block)
{
	struct wm1_heap_block ret;

	begin_telling();
	ret = told->take(block);
	end_telling();
	return ret;
}

static void hooked_put_back(void *block, struct wm1_heap_block taken)
{
	begin_telling();
	told->put_back(block, taken);
	end_telling();
}

static void hooked_freed(struct wm1_heap_block taken)
{
	begin_telling();
	told->freed(taken);
	end_telling();
}

static bool hooked_is_made_by_allocator(const uint8_t *return_address);

#include "runtime/heap/hooked.inc"

/* ---- functions ---- */

static struct hook {
	const char *name;
	void *own;
	void **next; /* goes on in the function */
	struct entry_jump jump;
	bool is_found; /* false: there is none of that name, or it has another name too, which comes first */
} hooks[] = {
#define HOOK(result, of, parameters) {.name = #of, .own = (void *)own_##of, .next = (void **)&next.of},
	WM1_HEAP_ALLOCATOR(HOOK)};
enum {
	HOOK_FREE = 0,
	HOOKS = sizeof hooks / sizeof *hooks,
	PLT_JUMP_BYTES_MAX = 32,
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
	const struct sampler_image *image = sampler_image_at((uintptr_t)return_address - 1);
	const uint8_t *call = return_address - CALL_BYTES;
	int32_t distance;

	if (!image || image != sampler_image_at(hooks[HOOK_FREE].jump.at) ||
	    !sampler_image_has_text(image, (uintptr_t)call) || *call != 0xe8)
		return false;
	memcpy(&distance, call + 1, sizeof distance);
	return (uintptr_t)return_address + (uintptr_t)(intptr_t)distance == hooks[HOOK_FREE].jump.at;
}

/*
 * Of a program that takes a function's address and is linked to a fixed place, the function is an entry of its PLT, which stands for the
 * library's: where its word leads. Else the address itself.
 */
static uintptr_t behind_plt(uintptr_t at)
{
	uintptr_t pc = at, target;
	struct instruction i;

	while (pc - at < PLT_JUMP_BYTES_MAX &&
	       instruction_decode((const uint8_t *)pc, INSTRUCTION_BYTES_MAX, pc, &i)) { /* NOLINT */
		pc += i.len_bytes;
		if (i.kind == INSTRUCTION_JUMP) {
			if (i.is_direct || !i.is_memory || i.base != INSTRUCTION_RIP ||
			    !memory_read(pc + (uintptr_t)(intptr_t)i.displacement, &target, sizeof target))
				return at;
			return target;
		}
	}
	return at;
}

static bool is_program(const struct sampler_image *image)
{
	return image && !image->path;
}

static bool is_function(const struct sampler_image *image, uintptr_t at)
{
	struct eh_function f;

	return image && eh_find(&image->table, at, &f) && f.start == at;
}

static bool has_hook(uintptr_t at)
{
	for (int i = 0; i < HOOKS; i++)
		if (hooks[i].is_found && hooks[i].jump.at == at)
			return true;
	return false;
}

static bool find(struct hook *h)
{
	uintptr_t at = (uintptr_t)dlsym(RTLD_DEFAULT, h->name);
	const struct sampler_image *image = at ? sampler_image_at(at) : NULL;

	if (is_program(image) && !is_function(image, at)) {
		at = behind_plt(at);
		image = sampler_image_at(at);
	}
	if (!at || h->is_found || has_hook(at))
		return true;
	if (!image || is_program(image) || !entry_jump_make(&h->jump, &image->table, at, (uintptr_t)h->own))
		return false;
	*h->next = (void *)h->jump.behind; /* NOLINT(performance-no-int-to-ptr) */
	return h->is_found = true;
}

bool allocator_find(void)
{
	for (int i = 0; !is_found && i < HOOKS; i++)
		if (!find(&hooks[i]))
			return false;
	is_found = true;
	return true;
}

bool allocator_covers(uintptr_t pc)
{
	for (int i = 0; i < HOOKS; i++)
		if (hooks[i].is_found && !hooks[i].jump.is_put && entry_jump_covers(&hooks[i].jump, pc))
			return true;
	return false;
}

bool allocator_take(const struct wm1_heap_walked *to)
{
	told = to;
	for (int i = 0; i < HOOKS; i++)
		if (hooks[i].is_found && !entry_jump_put(&hooks[i].jump)) {
			allocator_give_back();
			return false;
		}
	return true;
}

void allocator_give_back(void)
{
	for (int i = 0; i < HOOKS; i++)
		if (hooks[i].is_found)
			entry_jump_take(&hooks[i].jump);
}

bool allocator_is_told(uintptr_t fs)
{
	uintptr_t here = (uintptr_t)__builtin_thread_pointer(), off = (uintptr_t)&state - here;
	char bytes[sizeof state];

	return fs && memory_read(fs + off, bytes, sizeof bytes) &&
	       bytes[(uintptr_t)&state.is_telling - (uintptr_t)&state];
}

uintptr_t allocator_place(uintptr_t pc)
{
	uintptr_t ret = 0;

	for (int i = 0; i < HOOKS && !ret; i++)
		if (hooks[i].is_found)
			ret = entry_jump_place(&hooks[i].jump, pc);
	return ret;
}

/*
 * native_frames.c - native walks on a stack of their own: the thread may be short of its. Of the thread's stack nothing is read below its stack pointer,
 * where the virtual machine has pages that nobody may touch.
 */
#include "jvm/c/walk/native_frames.h"

#include <sys/auxv.h>

#include "native/maps.h"
#include "native/own_stack.h"
#include "recorder/prefix_table.h"
#include "recorder/table.h"
#include "sampler/walk/memory.h"
#include "sampler/walk/sites.h"
#include "waymark/abi.h"

enum {
	RED_ZONE_BYTES = 128,
	CALLER_KNOWN = 1 << CFI_RSP | 1 << CFI_RBP,
};

/* Written by init. */
static struct eh_text machine_code;

void jvm_native_frames_init(struct eh_text code)
{
	machine_code = code;
	memory_start();
	sites_init(&wmrt_recorder);
}

void jvm_native_frames_forget(struct jvm_native_memory *memory)
{
	memory->own = (struct unwind_stack){0, 0};
}

/*
 * The C library keeps a thread's control block above the thread's stack in the same mapping; the kernel puts the random bytes for the program above
 * main's. 0: the stack pointer is on another stack.
 */
static uintptr_t top_of(const struct maps_range *range, uintptr_t sp)
{
	uintptr_t thread = (uintptr_t)__builtin_thread_pointer(), program = getauxval(AT_RANDOM);

	if (thread > sp && thread < range->high)
		return thread;
	return program > sp && program < range->high ? program : 0;
}

static bool find_stack(void *data, uintptr_t sp, struct unwind_stack *ret)
{
	struct jvm_native_memory *memory = data;
	uintptr_t low = sp - RED_ZONE_BYTES;
	struct maps_range range;

	if (sp >= memory->own.low && sp < memory->own.high) {
		*ret = (struct unwind_stack){low, memory->own.high};
		return true;
	}
	if (!maps_find(sp, &range) || !range.is_readable)
		return false;
	*ret = (struct unwind_stack){low > range.low ? low : range.low, range.high};
	if (top_of(&range, sp)) {
		ret->high = top_of(&range, sp);
		memory->own = (struct unwind_stack){range.low, ret->high};
	}
	return true;
}

struct job {
	struct jvm_native_memory *memory;
	size_t used; /* of memory->frames */
	const struct unwind_regs *from;
	struct jvm_native_frames *ret;
};

static void walk(void *data)
{
	const struct job *job = data;
	struct jvm_native_frames *ret = job->ret;
	struct walk w = {.frames = job->memory->frames + job->used,
			 .max = JVM_NATIVE_FRAMES - job->used,
			 .cache = &job->memory->cache,
			 .code = &job->memory->code,
			 .stack_of = find_stack,
			 .data = job->memory,
			 .stop = machine_code};

	ret->end = walk_stack(&w, job->from);
	ret->frames = w.frames;
	ret->count = w.count;
	ret->caller = w.stopped;
	ret->is_interrupted = ret->end == WALK_STOPPED && w.stopped_flags & WALK_SIGNAL;
	for (size_t i = 0; i < w.count; i++)
		ret->has_guess |= w.frames[i].flags & WALK_GUESSED;
}

void jvm_native_frames_walk(struct jvm_native_memory *memory, ucontext_t *context, struct jvm_native_frames *ret)
{
	struct unwind_regs from;
	struct job job = {memory, 0, &from, ret};

	*ret = (struct jvm_native_frames){.end = WALK_NO_DATA};
	if (machine_code.low == machine_code.high)
		return;
	unwind_regs_of_signal(context, &from);
	own_stack_no_alternate(context);
	own_stack_call(memory->stack + JVM_NATIVE_STACK_BYTES, walk, &job);
}

void jvm_native_frames_walk_from(struct jvm_native_memory *memory, size_t used, const struct unwind_regs *from,
				 struct jvm_native_frames *ret)
{
	struct job job = {memory, used, from, ret};

	*ret = (struct jvm_native_frames){.end = WALK_NO_DATA};
	own_stack_call(memory->stack + JVM_NATIVE_STACK_BYTES, walk, &job);
	if (ret->count)
		memory->frames[used].flags |= WALK_RETURN;
}

bool jvm_native_frames_stack(struct jvm_native_memory *memory, uintptr_t sp, struct unwind_stack *ret)
{
	return find_stack(memory, sp, ret);
}

bool jvm_native_frames_leave(const struct jvm_native_frames *n, ucontext_t *context)
{
	if (n->end != WALK_STOPPED || (n->caller.known & CALLER_KNOWN) != CALLER_KNOWN)
		return false;
	context->uc_mcontext.gregs[REG_RIP] = (greg_t)n->caller.pc;
	context->uc_mcontext.gregs[REG_RSP] = (greg_t)n->caller.r[CFI_RSP];
	context->uc_mcontext.gregs[REG_RBP] = (greg_t)n->caller.r[CFI_RBP];
	return true;
}

/* ---- contexts ---- */

/* Frames of this library are left out: of what is interrupted in it, too, which was called from the frame before. */
static bool is_own(const struct walk_frame *frame)
{
	return frame->image && frame->image->is_own;
}

static uint64_t id_of(const struct walk_frame *frame)
{
	return frame->flags & WALK_GUESSED ? WM_WALKED_GUESSED : 0;
}

/* How many of the outermost frames are the C library's: they begin a thread, and are the same everywhere. */
static size_t count_beginning(const struct jvm_native_frames *n)
{
	const struct sampler_image *libc = sampler_image_at((uintptr_t)getauxval);
	size_t ret = 0;

	while (libc && ret + 1 < n->count && n->frames[n->count - 1 - ret].image == libc)
		ret++;
	return ret;
}

static uint32_t push(const struct walk_frame *frame, uint32_t prefix)
{
	uint32_t site;

	if (!is_own(frame)) {
		site = sites_of_frame(frame, frame->flags & WALK_RETURN ? WMK_SITE_CALL : WMK_SITE_CAPTURE, NULL);
		if (!site)
			return WM_PREFIX_LOST;
		prefix = wmrt_intern(prefix, WM_EPOCH_WALKED, id_of(frame), site, 1);
	}
	if (frame->flags & WALK_SIGNAL && prefix != WM_PREFIX_LOST)
		prefix = wmrt_intern(prefix, WM_EPOCH_WALKED, 0, WM_SITE_SIGNAL, 1);
	return prefix;
}

wm_context jvm_native_frames_context(const struct jvm_native_frames *n, uint32_t prefix, bool is_outermost)
{
	wm_context ret = {.epoch = WM_EPOCH_WALKED, .prefix = prefix};
	size_t count = n->count - (is_outermost ? count_beginning(n) : 0), first = 0;

	while (first + 1 < count && is_own(&n->frames[first]))
		first++;
	if (n->is_interrupted)
		ret.prefix = wmrt_intern(ret.prefix, WM_EPOCH_WALKED, 0, WM_SITE_SIGNAL, 1);
	for (size_t i = count; i-- > first + 1 && ret.prefix != WM_PREFIX_LOST;)
		ret.prefix = push(&n->frames[i], ret.prefix);
	ret.id = id_of(&n->frames[first]);
	ret.site = ret.prefix == WM_PREFIX_LOST ? 0 : sites_of_frame(&n->frames[first], WMK_SITE_CAPTURE, NULL);
	return ret.site ? ret : (wm_context){.epoch = WM_EPOCH_WALKED, .prefix = WM_PREFIX_LOST};
}

uint32_t jvm_native_frames_prefix(const struct jvm_native_frames *n, uint32_t prefix)
{
	for (size_t i = n->count; i-- > 0 && prefix != WM_PREFIX_LOST;)
		prefix = push(&n->frames[i], prefix);
	return prefix;
}

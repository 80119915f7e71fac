/*
 * native_between.c - goes from one call of Java by native code to the next one outside.
 *
 *      Java frames          of AsyncGetCallTrace
 *      call stub            found by what it has written there (java_anchor.h)
 *      native frames        walked by call frame information from the registers that the stub has saved ...
 *      native method        ... to the stack pointer that the wrapper has noted, which proves both: a stub's frame that has been left leads nowhere, or there is
 *      Java frames          a second one that leads to the same place, and then none is taken
 *
 * The virtual machine itself calls Java, too, for initialisers, loaders and the like, from frames that are no native methods. What it ran then is left out:
 * where compiled code has inlined methods, it is not known which one it stands on.
 */
#include "jvm/c/walk/native_between.h"

#include <jvmti.h>
#include <stdlib.h>
#include <string.h>

#include "jvm/c/walk/code_ranges.h"
#include "jvm/c/walk/java_anchor.h"
#include "jvm/c/walk/repair.h"

enum {
	NEWEST_KNOWN = 25, /* of Java */
	/* Between a call and where Java code says that it has left the stack (async_walker.c). */
	ANCHOR_BYTES = 16,
	INTERPRETED_METHOD = -3 * 8, /* from the frame pointer of an interpreted frame */
};

/* Written by init. A jmethodID is the address of where a Method's address is. */
static bool is_known;

void jvm_native_between_init(jvmtiEnv *jvmti)
{
	char *version = NULL;

	is_known = false;
	if ((*jvmti)->GetSystemProperty(jvmti, "java.vm.specification.version", &version) != JVMTI_ERROR_NONE)
		return;
	is_known = strtoul(version, NULL, 10) <= NEWEST_KNOWN;
	(*jvmti)->Deallocate(jvmti, (unsigned char *)version);
}

static uint64_t word_at(uint64_t address)
{
	uint64_t ret;

	memcpy(&ret, (const void *)address, sizeof ret); /* NOLINT(performance-no-int-to-ptr) */
	return ret;
}

/* The next native method that has called: the innermost frame has not. 0: there is none. */
static size_t next_native(const struct java_walk *w, size_t from)
{
	for (size_t i = from; i < w->count; i++)
		if (w->frames[i].location < 0)
			return i;
	return 0;
}

/* Of the innermost Java frame, or below. */
static uintptr_t lowest_sp(const struct java_walk *w, JNIEnv *env)
{
	const ucontext_t *context = w->context;
	uintptr_t anchor = jvm_java_anchor_sp(env);

	if (anchor)
		return anchor;
	return w->native->count && w->native->end == WALK_STOPPED ? (uintptr_t)w->native->caller.r[CFI_RSP]
								  : (uintptr_t)context->uc_mcontext.gregs[REG_RSP];
}

/* There is no other one that leads to the same place. */
static bool find_only(JNIEnv *env, const struct unwind_stack *stack, struct jvm_java_entry *ret)
{
	struct unwind_stack rest = *stack;
	struct jvm_java_entry other;

	if (!jvm_java_anchor_find_entry(env, stack, ret) || !ret->outer_sp)
		return false;
	rest.low = ret->frame;
	while (jvm_java_anchor_find_entry(env, &rest, &other) && other.frame < ret->outer_sp) {
		if (other.outer_sp == ret->outer_sp)
			return false;
		rest.low = other.frame;
	}
	return true;
}

/* The frames from the call stub's caller to the Java code outside. */
static bool walk_outwards(struct jvm_native_memory *memory, const struct jvm_java_entry *entry, size_t used,
			  struct jvm_native_frames *ret)
{
	struct unwind_regs caller;

	jvm_java_entry_caller(entry, &caller);
	jvm_native_frames_walk_from(memory, used, &caller, ret);
	return ret->end == WALK_STOPPED && ret->count && !ret->is_interrupted &&
	       entry->outer_sp - ret->caller.r[CFI_RSP] <= ANCHOR_BYTES;
}

enum place {
	PLACE_NATIVE, /* that native method has called */
	PLACE_OTHER,  /* the virtual machine has, from another frame */
	PLACE_UNKNOWN
};

static enum place place_of(const struct jvm_java_entry *entry, const struct jvm_native_frames *n,
			   const struct unwind_stack *stack, jmethodID method)
{
	struct jvm_code_range range;
	uint64_t frame = n->caller.r[CFI_RBP];

	if (!jvm_code_ranges_find(entry->outer_pc - 1, &range))
		return PLACE_UNKNOWN;
	if (!repair_is_interpreter(&range))
		return range.method == method ? PLACE_NATIVE : PLACE_OTHER;
	if (!(n->caller.known >> CFI_RBP & 1) || frame <= entry->outer_sp || frame >= stack->high || frame % 8)
		return PLACE_UNKNOWN;
	return word_at(frame + (uintptr_t)INTERPRETED_METHOD) == word_at((uintptr_t)method) ? PLACE_NATIVE
											    : PLACE_OTHER;
}

void jvm_native_between_find(struct java_walk *w, JNIEnv *env)
{
	struct jvm_native_memory *memory = w->memory;
	struct unwind_stack stack;
	size_t native = next_native(w, 1), used = w->native->count;

	if (!is_known || !native || !jvm_native_frames_stack(memory, lowest_sp(w, env), &stack))
		return;
	stack.low = lowest_sp(w, env);
	while (native && w->between_count < JVM_NATIVE_BETWEEN) {
		struct jvm_native_between *between = &memory->between[w->between_count];
		struct jvm_java_entry entry;
		enum place place;

		if (!find_only(env, &stack, &entry) || !walk_outwards(memory, &entry, used, &between->native))
			return;
		place = place_of(&entry, &between->native, &stack, w->frames[native].method);
		if (place == PLACE_UNKNOWN)
			return;
		if (place == PLACE_NATIVE) {
			between->below = native;
			w->between_count++;
			used += between->native.count;
			native = next_native(w, native + 1);
		}
		stack.low = entry.outer_sp;
	}
}

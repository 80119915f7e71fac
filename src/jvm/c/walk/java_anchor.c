/*
 * java_anchor.c - a JNIEnv is part of its JavaThread, whose address java.lang.Thread.eetop has: so the one leads to the other.
 *
 * Native code calls Java by the call stub (stubGenerator_x86_64.cpp), whose frame names a JavaCallWrapper of the caller's (javaCalls.hpp). That one has the
 * note of the Java code outside:
 *
 *      frame + 24   JavaThread          <---.          wrapper        JavaThread
 *      frame +  8   return to JavaCalls     | equal    wrapper + 16   Method
 *      frame - 16   entry point, code       |          wrapper + 32   sp, pc of the Java frames outside
 *      frame - 24   Method              <---'
 *      frame - 48   wrapper
 *      frame - 56   rbx r12 r13 r14 r15, downwards
 */
#include "jvm/c/walk/java_anchor.h"

#include <jni.h>
#include <string.h>

#include "jvm/c/base/java.h"
#include "jvm/c/walk/vm_structs.h"

enum {
	THREAD_BYTES_MAX = 1 << 16,
	WORD = 8,
	/* Of the call stub's frame. */
	STUB_THREAD = 3 * WORD,
	STUB_RETURN = WORD,
	STUB_ENTRY_POINT = -2 * WORD,
	STUB_METHOD = -3 * WORD,
	STUB_WRAPPER = -6 * WORD,
	STUB_SAVED = -7 * WORD,
	STUB_BYTES = 11 * WORD,
	/* Of a JavaCallWrapper. */
	WRAPPER_METHOD = 2 * WORD,
	WRAPPER_ANCHOR = 4 * WORD,
	WRAPPER_BYTES = 8 * WORD,
};

/* Written by init. */
static bool is_known;
static uint64_t sp_off, pc_off; /* from a JNIEnv; mostly below it */
static uint64_t thread_off;     /* of a JNIEnv, in a JavaThread */
static bool has_entries;        /* the wrapper is the one that is known here */
static uint64_t wrapper_sp_off, wrapper_pc_off;
static struct eh_text code;

static uint64_t word_at(uint64_t address)
{
	uint64_t ret;

	memcpy(&ret, (const void *)address, sizeof ret); /* NOLINT(performance-no-int-to-ptr) */
	return ret;
}

static uint64_t running_thread(JNIEnv *env)
{
	jclass class = jvm_find_class(env, "java/lang/Thread");
	jmethodID current = class ? jvm_find_static(env, class, "currentThread", "()Ljava/lang/Thread;") : NULL;
	jfieldID address = jvm_find_field(env, "java/lang/Thread", "eetop", "J");
	jobject thread = current && address ? (*env)->CallStaticObjectMethod(env, class, current) : NULL;
	uint64_t ret;

	if (jvm_drop_thrown(env) || !thread)
		return 0;
	ret = (uint64_t)(*env)->GetLongField(env, thread, address);
	(*env)->DeleteLocalRef(env, thread);
	return ret;
}

bool jvm_java_anchor_init(JavaVM *vm, JNIEnv *env)
{
	uint64_t thread = running_thread(env), anchor = 0, sp = 0, pc = 0, low = 0, high = 0, wrapper = 0;
	struct vm_structs structs;

	is_known = has_entries = false;
	if (!thread || (uintptr_t)env - thread >= THREAD_BYTES_MAX || !vm_structs_open(vm, &structs))
		return false;
	if (vm_structs_offset(&structs, "JavaThread", "_anchor", &anchor) &&
	    vm_structs_offset(&structs, "JavaFrameAnchor", "_last_Java_sp", &sp) &&
	    vm_structs_offset(&structs, "JavaFrameAnchor", "_last_Java_pc", &pc) &&
	    vm_structs_static(&structs, "CodeCache", "_low_bound", &low) &&
	    vm_structs_static(&structs, "CodeCache", "_high_bound", &high)) {
		sp_off = anchor + sp - ((uintptr_t)env - thread);
		pc_off = anchor + pc - ((uintptr_t)env - thread);
		code = (struct eh_text){word_at(low), word_at(high)};
		is_known = code.low < code.high;
		thread_off = (uintptr_t)env - thread;
		has_entries = is_known && vm_structs_offset(&structs, "JavaCallWrapper", "_anchor", &wrapper) &&
			      wrapper == WRAPPER_ANCHOR;
		wrapper_sp_off = wrapper + sp;
		wrapper_pc_off = wrapper + pc;
	}
	vm_structs_close(&structs);
	return is_known;
}

struct eh_text jvm_java_anchor_code(void)
{
	return is_known ? code : (struct eh_text){0, 0};
}

uintptr_t jvm_java_anchor_sp(JNIEnv *env)
{
	return is_known ? word_at((uintptr_t)env + sp_off) : 0;
}

bool jvm_java_anchor_complete(JNIEnv *env)
{
	uintptr_t sp = jvm_java_anchor_sp(env), pc = sp ? word_at(sp - sizeof pc) : 0;

	if (pc < code.low || pc >= code.high || word_at((uintptr_t)env + pc_off))
		return false;
	*(uintptr_t *)((uintptr_t)env + pc_off) = pc; /* NOLINT(performance-no-int-to-ptr) */
	return true;
}

static bool is_code(uint64_t address)
{
	return address >= code.low && address < code.high;
}

/* What is at `frame`, if it is the call stub's of this thread. */
static bool read_entry(uint64_t thread, uintptr_t frame, const struct unwind_stack *stack, struct jvm_java_entry *ret)
{
	uint64_t wrapper = word_at(frame + (uintptr_t)STUB_WRAPPER);

	if (wrapper <= frame || wrapper >= stack->high || stack->high - wrapper < WRAPPER_BYTES || wrapper % WORD)
		return false;
	if (word_at(wrapper) != thread ||
	    word_at(wrapper + WRAPPER_METHOD) != word_at(frame + (uintptr_t)STUB_METHOD) ||
	    !is_code(word_at(frame + (uintptr_t)STUB_ENTRY_POINT)) || is_code(word_at(frame + STUB_RETURN)))
		return false;
	*ret = (struct jvm_java_entry){frame, word_at(wrapper + wrapper_sp_off), word_at(wrapper + wrapper_pc_off)};
	if (ret->outer_sp && (ret->outer_sp <= wrapper || ret->outer_sp >= stack->high || ret->outer_sp % WORD))
		return false;
	if (ret->outer_sp && !ret->outer_pc)
		ret->outer_pc = word_at(ret->outer_sp - WORD);
	return !ret->outer_sp || is_code(ret->outer_pc);
}

bool jvm_java_anchor_find_entry(JNIEnv *env, const struct unwind_stack *stack, struct jvm_java_entry *ret)
{
	uint64_t thread = (uintptr_t)env - thread_off;

	if (!has_entries)
		return false;
	for (uintptr_t at = (stack->low + WORD - 1) / WORD * WORD + STUB_BYTES + STUB_THREAD; at + WORD <= stack->high;
	     at += WORD)
		if (word_at(at) == thread && read_entry(thread, at - STUB_THREAD, stack, ret))
			return true;
	return false;
}

void jvm_java_entry_caller(const struct jvm_java_entry *entry, struct unwind_regs *ret)
{
	static const enum cfi_register saved[] = {CFI_RBX, CFI_R12, CFI_R13, CFI_R14, CFI_R15};

	*ret = (struct unwind_regs){.pc = word_at(entry->frame + STUB_RETURN),
				    .known = 1 << CFI_RBP | 1 << CFI_RSP,
				    .is_return_address = true};
	ret->r[CFI_RBP] = word_at(entry->frame);
	ret->r[CFI_RSP] = entry->frame + STUB_RETURN + WORD;
	for (size_t i = 0; i < sizeof saved / sizeof *saved; i++) {
		ret->r[saved[i]] = word_at(entry->frame + (uintptr_t)STUB_SAVED - i * WORD);
		ret->known |= 1u << saved[i];
	}
}

/* java_anchor.c - a JNIEnv is part of its JavaThread, whose address java.lang.Thread.eetop has: so the one leads to the other. */
#include "jvm/c/walk/java_anchor.h"

#include <jni.h>
#include <string.h>

#include "jvm/c/base/java.h"
#include "jvm/c/walk/vm_structs.h"

enum {
	THREAD_BYTES_MAX = 1 << 16,
};

/* Written by init. */
static bool is_known;
static uint64_t sp_off, pc_off; /* from a JNIEnv; mostly below it */
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
	uint64_t thread = running_thread(env), anchor = 0, sp = 0, pc = 0, low = 0, high = 0;
	struct vm_structs structs;

	is_known = false;
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

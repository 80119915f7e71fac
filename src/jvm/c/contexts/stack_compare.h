/*
 * stack_compare.h - the oracle for samples: the stack of another thread, as JVMTI has it, and a context of the same moment.
 */
#ifndef WM_JVM_STACK_COMPARE_H
#define WM_JVM_STACK_COMPARE_H

#include <stdbool.h>
#include <stdint.h>

#include "jvm/c/contexts/frames.h"

struct JNINativeInterface_;
struct jvmtiInterface_1_;
struct _jobject;
struct jvm_thread_state;

enum {
	JVM_STACK_FRAMES = 1 << 12,
};

struct jvm_stack {
	int32_t count; /* -1: not known. JVM_STACK_FRAMES: it is deeper, and not compared */
	struct jvm_frame frames[JVM_STACK_FRAMES];
};

/* env: a JNIEnv. Once. False: the agent's classes are of another version. */
bool jvm_stack_init(const struct JNINativeInterface_ **env);
/* Takes the stack of a thread that is suspended, and no lock of the agent. */
void jvm_stack_take(const struct jvmtiInterface_1_ **jvmti, struct _jobject *thread, struct jvm_stack *ret);
/* Counts and reports as the oracle does (Oracle.java). state: with its words copied. */
void jvm_stack_compare(const struct JNINativeInterface_ **env, const struct jvm_stack *stack,
		       const struct jvm_thread_state *state);

#endif

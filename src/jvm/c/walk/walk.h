/*
 * walk.h - the context of a thread by a walk of its stack (docs/format.md, "Walked contexts"): each frame is a node, whose site is a method and
 * a bytecode index. Frames of the JDK are frames as others are; those that Java's own stack traces leave out are none.
 */
#ifndef WM_JVM_WALK_H
#define WM_JVM_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "recorder/event.h"

struct JNINativeInterface_;
struct jvmtiInterface_1_;
struct _jmethodID;
struct _jobject;

/* A frame as a jvmtiFrameInfo has it. Walks are innermost first. */
struct jvm_walk_frame {
	struct _jmethodID *method;
	int64_t location; /* bytecode index; -1: the method is native */
};

enum {
	JVM_WALK_FRAMES_HERE = 128, /* on the stack of the thread, which may be short of it */
};

/* All frames of a thread. */
struct jvm_walk_stack {
	struct jvm_walk_frame here[JVM_WALK_FRAMES_HERE];
	struct jvm_walk_frame *frames; /* `here`, or malloc'd */
	int32_t count;                 /* -1: not known */
};

/* jvmti: for good. Once. False without memory. */
bool jvm_walk_init(const struct jvmtiInterface_1_ **jvmti);
/* In phase live, before the others. main: the program's first thread, or NULL. False: the virtual machine is another one than it says. */
bool jvm_walk_begin(const struct jvmtiInterface_1_ **jvmti, const struct JNINativeInterface_ **env,
		    struct _jobject *main);
/*
 * The context of the running thread, by JVMTI: all of its frames but the `skipped` innermost ones, and the name of a class in brackets, or NULL. Not
 * for signal handlers.
 */
wm_context jvm_walk_here(const struct JNINativeInterface_ **env, size_t skipped, struct _jobject *class);
/*
 * The frames of a thread, NULL: the running one, by JVMTI. Another thread runs on behind the call. jvm_walk_drop frees what it took. Not for signal
 * handlers.
 */
void jvm_walk_take(struct _jobject *thread, struct jvm_walk_stack *ret);
void jvm_walk_drop(struct jvm_walk_stack *stack);
/* Asks for the names of the methods; then as jvm_walk_context. Not for signal handlers. */
wm_context jvm_walk_stack_context(const struct JNINativeInterface_ **env, const struct jvm_walk_stack *stack,
				  size_t skipped, uint32_t root, const char *leaf);
/*
 * The context of frames above a root. leaf: what the innermost one has called, in brackets; NULL: nothing. Signal-safe where the methods are
 * known (method_names.h).
 */
wm_context jvm_walk_context(uint32_t root, const struct jvm_walk_frame *frames, size_t count, const char *leaf);
/* A prefix of all frames, and of the label. WM_PREFIX_LOST without room. Else as jvm_walk_context. */
uint32_t jvm_walk_prefix(uint32_t root, const struct jvm_walk_frame *frames, size_t count, const char *leaf);
/* What the running thread's frames stand on. Signal-safe. */
uint32_t jvm_walk_root(void);

#endif

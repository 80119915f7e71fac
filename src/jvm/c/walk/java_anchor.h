/*
 * java_anchor.h - where Java code has left the stack to native code, as HotSpot notes it for each thread (javaFrameAnchor.hpp), and where its own code
 * is, by its tables (vm_structs.h).
 */
#ifndef WM_JVM_JAVA_ANCHOR_H
#define WM_JVM_JAVA_ANCHOR_H

#include <stdbool.h>
#include <stdint.h>

#include "native/unwind/eh_frame.h"
#include "native/unwind/unwind.h"

struct JNIInvokeInterface_;
struct JNINativeInterface_;

/* Once, in phase live, before the others. False: the tables are others. */
bool jvm_java_anchor_init(const struct JNIInvokeInterface_ **vm, const struct JNINativeInterface_ **env);
/* Compiled methods, stubs and the interpreter. Empty: not known. */
struct eh_text jvm_java_anchor_code(void);
/* The stack pointer of the innermost Java frame; 0: Java code runs, or has called out without a note, or there is none. env: the running thread's. Signal-safe. */
uintptr_t jvm_java_anchor_sp(const struct JNINativeInterface_ **env);
/*
 * HotSpot needs the code's address beside that stack pointer, and completes the note by the word below it whenever it walks the stack itself
 * (make_walkable). This does the same. False: the note is complete, there is none, or that word is no address of the code. Only where native frames have been
 * walked down to that word. Signal-safe.
 */
bool jvm_java_anchor_complete(const struct JNINativeInterface_ **env);

/* Where native code has called Java: the frame of the call stub is the outermost of those Java frames, and native code goes on above it. */
struct jvm_java_entry {
	uintptr_t frame;    /* its frame pointer */
	uintptr_t outer_sp; /* where Java code had left the stack before; 0: there is none */
	uintptr_t outer_pc; /* in which code; 0: not known */
};
/*
 * The innermost one in [low, high) of the running thread's stack, all of which can be read. It is known by what the stub and the virtual machine have
 * written there twice; the memory may be one that a frame has not written to yet, which the caller is to rule out. False: there is none. Signal-safe.
 */
bool jvm_java_anchor_find_entry(const struct JNINativeInterface_ **env, const struct unwind_stack *stack,
				struct jvm_java_entry *ret);
/* The registers of the native code that has called. Signal-safe. */
void jvm_java_entry_caller(const struct jvm_java_entry *entry, struct unwind_regs *ret);

#endif

/*
 * native_frames.h - the frames of a thread in images (native libraries, the virtual machine's, the C library), from where a signal has interrupted it to code
 * that the virtual machine has made, or to where the thread begins.
 *
 * They are found and marked as those of native programs (sampler/walk/walk.h). For signal handlers that run with all signals blocked but SIGBUS.
 */
#ifndef WM_JVM_NATIVE_FRAMES_H
#define WM_JVM_NATIVE_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

#include "recorder/event.h"
#include "sampler/walk/walk.h"

enum {
	JVM_NATIVE_FRAMES = 1 << 14,
	JVM_NATIVE_STACK_BYTES = 64 << 10,
	JVM_NATIVE_BETWEEN = 16,
};

struct jvm_native_frames {
	const struct walk_frame *frames; /* innermost first */
	size_t count;                    /* 0: the thread is in that code */
	enum walk_end end;
	struct unwind_regs
		caller; /* WALK_STOPPED: the frame in the virtual machine's code, which has called or was interrupted */
	bool is_interrupted; /* that frame was interrupted by a signal, whose handler is among the frames */
	bool has_guess;
};

/* Frames of native code that has called Java, above one of the Java frames of a walk. */
struct jvm_native_between {
	size_t below; /* which: a native method */
	struct jvm_native_frames native;
};

/* What a thread needs for its walks. All zero is that of a new thread. */
struct jvm_native_memory {
	char stack[JVM_NATIVE_STACK_BYTES]; /* on which walks run */
	struct walk_frame frames[JVM_NATIVE_FRAMES];
	struct unwind_cache cache;
	struct walk_code code;
	struct jvm_native_between between[JVM_NATIVE_BETWEEN];
	struct unwind_stack own; /* the thread's own stack below what the C library has on it; empty: not looked up yet */
};

/* Before the others. code: of the virtual machine; empty: it is not known, and no frames are found. */
void jvm_native_frames_init(struct eh_text code);
/* The thread has a new owner. */
void jvm_native_frames_forget(struct jvm_native_memory *memory);
/* Of the running thread, which is not in another walk. */
void jvm_native_frames_walk(struct jvm_native_memory *memory, ucontext_t *context, struct jvm_native_frames *ret);
/* The same from a frame that has called, into the room behind `used` frames of other walks. */
void jvm_native_frames_walk_from(struct jvm_native_memory *memory, size_t used, const struct unwind_regs *from,
				 struct jvm_native_frames *ret);
/* The part of the running thread's stack that may be read, from that stack pointer on. False: not known. */
bool jvm_native_frames_stack(struct jvm_native_memory *memory, uintptr_t sp, struct unwind_stack *ret);
/* *context becomes that of `caller`. False: there is none, or some of its registers are not known. */
bool jvm_native_frames_leave(const struct jvm_native_frames *n, ucontext_t *context);
/*
 * The context of the frames above a prefix. There is one frame at least. is_outermost: nothing of the thread is outside of them, so that what the C library
 * has there is left out.
 */
wm_context jvm_native_frames_context(const struct jvm_native_frames *n, uint32_t prefix, bool is_outermost);
/* The prefix of frames that have all called. WM_PREFIX_LOST without room. */
uint32_t jvm_native_frames_prefix(const struct jvm_native_frames *n, uint32_t prefix);

#endif

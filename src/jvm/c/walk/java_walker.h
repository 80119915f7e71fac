/*
 * java_walker.h - what finds the Java frames of a thread that a signal has interrupted anywhere. A walker is a struct java_walker; there may be
 * others than the one of the virtual machine itself (async_walker.c).
 */
#ifndef WM_JVM_JAVA_WALKER_H
#define WM_JVM_JAVA_WALKER_H

#include <stdbool.h>
#include <stddef.h>

#include "jvm/c/walk/method_names.h"
#include "jvm/c/walk/native_frames.h"
#include "jvm/c/walk/walk.h"

struct JNIInvokeInterface_;

struct java_walk {
	/* In. */
	void *context;                          /* the ucontext_t of the signal */
	const struct jvm_native_frames *native; /* what runs above the virtual machine's code */
	struct jvm_native_memory *memory;       /* of the thread, with those frames */
	struct jvm_walk_frame *frames;          /* room for `max`, innermost first */
	size_t max;
	/* Out. */
	size_t count;         /* 0: there are none, or it is not known which */
	size_t between_count; /* of memory->between, innermost first: native frames between Java ones (native_between.h) */
	const char *
		leaf; /* what runs, called by the innermost frame; NULL: that frame itself. Where there are none, why */
	char rule[JVM_LABEL_BYTES]; /* of the walker: room for the leaf's name */
	bool is_cut;                /* there was no room for the outermost frames */
	bool is_joined; /* the native frames were called by the leaf, or else by the innermost frame; there may be none */
	bool is_java;   /* the thread is one of the virtual machine's that can run Java code */
	bool is_idle;   /* it runs none: a compiler's, or one that begins or ends */
};

struct java_walker {
	/* vm: a JavaVM. False: this virtual machine has no such walker. */
	bool (*init)(const struct JNIInvokeInterface_ **vm);
	/* Of the running thread. Signal-safe. */
	void (*walk)(struct java_walk *walk);
};

/* By the virtual machine's AsyncGetCallTrace. */
extern const struct java_walker java_walker_async;

#endif

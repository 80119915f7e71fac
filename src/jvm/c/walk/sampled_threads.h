/*
 * sampled_threads.h - a timer of CPU time for each thread of the process, those of the virtual machine and of native libraries, too. The kernel's
 * timers of CPU time tick no oftener than its scheduler does (CONFIG_HZ, mostly 250 times a second).
 *
 * A thread of this file's own looks for threads that nobody has told of; the virtual machine does not know it.
 */
#ifndef WM_JVM_SAMPLED_THREADS_H
#define WM_JVM_SAMPLED_THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jvm/c/walk/native_frames.h"
#include "jvm/c/walk/walk.h"

enum {
	JVM_SAMPLED_FRAMES = 2048,
};

/* Of a running thread: for its own tick. */
struct jvm_sampled_thread {
	uint64_t counted_ns; /* of its CPU time: what samples have, or was used before */
	struct jvm_walk_frame frames[JVM_SAMPLED_FRAMES];
	struct jvm_native_memory native;
};

/*
 * on_tick: in the thread, all signals blocked but SIGBUS; context: the ucontext_t of the signal. What threads have used so far is not counted.
 * Once, and again behind jvm_sampled_threads_end. False: there is no memory or no timer.
 */
bool jvm_sampled_threads_begin(uint64_t period_ns, void (*on_tick)(void *context, struct jvm_sampled_thread *thread));
/* The running thread begins; its name is known. */
void jvm_sampled_threads_add(void);
/* The name of that thread is known. */
void jvm_sampled_threads_name(uint32_t tid);
/* The running thread ends. */
void jvm_sampled_threads_remove(void);
/* No tick comes any more, but those of threads that are in one. */
void jvm_sampled_threads_end(void);

#endif

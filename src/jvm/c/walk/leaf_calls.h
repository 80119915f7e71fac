/*
 * leaf_calls.h - functions of the virtual machine's library that a stub has called as a leaf, which leaves no trace of itself: a collector's barriers, for
 * one. The library's call frame information leads back to the stub.
 */
#ifndef WM_JVM_LEAF_CALLS_H
#define WM_JVM_LEAF_CALLS_H

#include <stdbool.h>
#include <ucontext.h>

/* address: in the virtual machine's library. Before the other; without call frame information nothing is found. */
void jvm_leaf_calls_init(const void *address);
/*
 * *context becomes that of the stub, behind its call. False: the thread is not in that library, or what called it is no stub, and it is as it was.
 * Signal-safe; needs 4 KB of stack.
 */
bool jvm_leaf_calls_leave(ucontext_t *context);

#endif

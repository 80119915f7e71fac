/*
 * repair.h - where compiled code or a stub has no whole frame: the caller's registers, if the code's own bytes prove where the return address
 * is, and the call before it proves that it is one.
 */
#ifndef WM_JVM_REPAIR_H
#define WM_JVM_REPAIR_H

#include <jvmti.h>
#include <stdbool.h>
#include <ucontext.h>

#include "jvm/c/walk/code_ranges.h"

struct repair {
	jmethodID method;           /* that is entered or left; NULL: a stub runs */
	char name[JVM_LABEL_BYTES]; /* what runs above it: the stub, or the part of the method, which is the rule */
};

/* *context becomes that of the caller, behind its call. False: nothing is proven, and it is as it was. Signal-safe. */
bool repair_context(ucontext_t *context, struct repair *ret);
/* Its frames are known by their frame pointers. */
bool repair_is_interpreter(const struct jvm_code_range *range);

#endif

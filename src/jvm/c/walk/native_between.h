/*
 * native_between.h - native frames between Java ones: a native method has called Java code, maybe from functions of its library. AsyncGetCallTrace
 * lists the Java frames on both sides and nothing in between.
 */
#ifndef WM_JVM_NATIVE_BETWEEN_H
#define WM_JVM_NATIVE_BETWEEN_H

#include "jvm/c/walk/java_walker.h"

struct JNINativeInterface_;
struct jvmtiInterface_1_;

/* Once, before the other. Of a virtual machine that is not known nothing is found. */
void jvm_native_between_init(const struct jvmtiInterface_1_ **jvmti);
/*
 * Finds the frames between those of a walk, from the innermost native method that has called Java on: w->between. What is not proven is left out, and so
 * is all outside of it. env: the running thread's. Signal-safe.
 */
void jvm_native_between_find(struct java_walk *w, const struct JNINativeInterface_ **env);

#endif

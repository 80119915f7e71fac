/*
 * live_objects.h - sampled objects, until the garbage collector has found that nobody needs them: the program's own references are not touched,
 * these are weak.
 */
#ifndef WM_JVM_LIVE_OBJECTS_H
#define WM_JVM_LIVE_OBJECTS_H

#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>

#include "recorder/event.h"

/* jvmti: for good. False without memory. */
bool jvm_live_objects_init(jvmtiEnv *jvmti);
/* bytes: what the object stands for. Without room, which a line says at the end, it is not kept. */
void jvm_live_objects_add(JNIEnv *env, jobject object, wm_context context, uint64_t bytes);
/* In VMDeath, or where a recording ends before: an event `retained` of each object that a last garbage collection leaves. None is kept any more. */
void jvm_live_objects_record(void);

#endif

/*
 * frames.h - lines of frames of the stack, for dev.waymark.agent.Frames.
 */
#ifndef WM_JVM_FRAMES_H
#define WM_JVM_FRAMES_H

#include <stdbool.h>

struct JNINativeInterface_;
struct jvmtiInterface_1_;

/* jvmti: a jvmtiEnv that may get line numbers, for good. env: a JNIEnv. False: the class is not there, or of another version. */
bool jvm_frames_register(const struct jvmtiInterface_1_ **jvmti, const struct JNINativeInterface_ **env);

#endif

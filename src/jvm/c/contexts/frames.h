/*
 * frames.h - what JVMTI knows of frames of the stack; also for dev.waymark.agent.Frames.
 */
#ifndef WM_JVM_FRAMES_H
#define WM_JVM_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

struct JNINativeInterface_;
struct jvmtiInterface_1_;
struct _jmethodID;
struct _jobject;

/* jvmti: a jvmtiEnv that may get line numbers, for good. env: a JNIEnv. False: the class is not there, or of another version. */
bool jvm_frames_register(const struct jvmtiInterface_1_ **jvmti, const struct JNINativeInterface_ **env);

/* A frame of a stack: a jvmtiFrameInfo. Stacks are innermost first. */
struct jvm_frame {
	struct _jmethodID *method;
	int64_t location;
};

/* A Frame[], a local reference. NULL: the class of a frame has been unloaded, or there is no memory; then there may be an exception. */
struct _jobject *jvm_frames_new(const struct JNINativeInterface_ **env, const struct jvm_frame *frames, int32_t count);

#endif

/*
 * frames.h - lines of frames of the stack, which JVMTI knows; also for dev.waymark.agent.Frames.
 */
#ifndef WM_JVM_FRAMES_H
#define WM_JVM_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

struct JNINativeInterface_;
struct jvmtiInterface_1_;
struct _jmethodID;

/* jvmti: a jvmtiEnv that may get line numbers, for good. env: a JNIEnv. False: the class is not there, or of another version. */
bool jvm_frames_register(const struct jvmtiInterface_1_ **jvmti, const struct JNINativeInterface_ **env);
/* Of a place in the code that a frame runs, which may be that of a method before it was replaced. 0: not known. */
int32_t jvm_frame_line(const struct jvmtiInterface_1_ **jvmti, struct _jmethodID *method, int64_t location);

#endif

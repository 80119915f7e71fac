/*
 * native_code.h - contexts go on from Java into native code that was built with Waymark, and back.
 *
 * The agent is the active instance of the runtime (waymark/runtime.h) for libraries that are loaded later, so there is one recording. Each
 * native method of the application is called through a thunk:
 *
 *      Java           the call of the native method is pushed (ContextStack.java); its context is the prefix P
 *      thunk          pushes P on the stack of the native code (wmrt_push_root): what that captures stands on P
 *      native code    calls Java: the method finds that no call is stored, asks for the native code's prefix, and stands on that
 *      thunk          puts both back as they were
 *
 * Until there is an image that was built with Waymark a thunk jumps to the method. What loads libraries has one from the beginning, for the
 * code that runs while an image is loaded.
 */
#ifndef WM_JVM_NATIVE_CODE_H
#define WM_JVM_NATIVE_CODE_H

#include <stdbool.h>

#include "recorder/client.h"

struct JNINativeInterface_;
struct jvmtiInterface_1_;

/* A client of the recorder: learns of images that were built with Waymark. */
extern const struct wmrt_client jvm_native_code;

/* Libraries that are loaded from here on find this instance of the runtime first. In Agent_OnLoad. False: they do not. */
bool jvm_native_code_prepare(const struct jvmtiInterface_1_ **jvmti);
/* callbacks: a jvmtiEventCallbacks, which gets those of this part. */
void jvm_native_code_callbacks(void *callbacks);
/* Once, when the agent's Java classes work. False: they are of another version. */
bool jvm_native_code_begin(const struct JNINativeInterface_ **env);

#endif

/*
 * hook.h - has classes rewritten when they are loaded, and when other agents change them; those of the JDK that were loaded before, too.
 */
#ifndef WM_JVM_HOOK_H
#define WM_JVM_HOOK_H

#include <stdbool.h>

struct JNIInvokeInterface_;
struct JNINativeInterface_;
struct jvm_options;
struct jvmtiInterface_1_;
struct _jobject;

/*
 * vm, jvmti, env, rewriter: a JavaVM, a jvmtiEnv, a JNIEnv and the class dev.waymark.agent.Rewriter, all of them for good. False: no class
 * will be rewritten. Where a class of the JDK cannot be changed it writes a line and goes on. Once.
 */
bool jvm_hook_begin(const struct JNIInvokeInterface_ **vm, const struct jvmtiInterface_1_ **jvmti,
		    const struct JNINativeInterface_ **env, struct _jobject *rewriter,
		    const struct jvm_options *options);
/*
 * java.lang.VirtualThread, which a JDK since 21 has loaded, is initialised by this thread: it is changed now, not in programs that never use
 * it. Where it cannot be, or the hook has not begun, this writes a line.
 */
void jvm_hook_begin_virtual(struct _jobject *class);

#endif

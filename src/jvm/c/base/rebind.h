/*
 * rebind.h - has a native method of the JDK call a function of ours, which calls the virtual machine's own. No class is changed.
 *
 * Not for signal handlers; one thread at a time.
 */
#ifndef WM_JVM_REBIND_H
#define WM_JVM_REBIND_H

#include <jvmti.h>
#include <stdbool.h>

/*
 * The virtual machine's own function, whatever the method is bound to now. class: one that has a method registerNatives. In phase live. False: it
 * registers no such method.
 */
bool jvm_rebind_find(jvmtiEnv *jvmti, JNIEnv *env, jclass class, const char *name, const char *descriptor, void **ret);
/* Behind jvm_rebind_find. Who is in the method goes on in the function of before. */
bool jvm_rebind(JNIEnv *env, jclass class, const char *name, const char *descriptor, void *function);

#endif

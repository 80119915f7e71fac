/*
 * carrier.h - virtual threads, which JDKs have since 21, run on other threads, their carriers: which one does a thread run?
 */
#ifndef WM_JVM_CARRIER_H
#define WM_JVM_CARRIER_H

#include <stdbool.h>

struct JNIInvokeInterface_;
struct JNINativeInterface_;
struct jvmtiInterface_1_;
struct _jobject;

/* In Agent_OnLoad, for whoever looks at the virtual machine's threads. False: there are virtual threads, but they cannot be seen. */
bool jvm_carrier_prepare(const struct jvmtiInterface_1_ **jvmti);
/*
 * The virtual thread that the thread runs just now, a local reference; the thread itself, not a new reference, if it runs none. What is
 * neither suspended nor waiting may run another one by now.
 */
struct _jobject *jvm_carrier_mounted(const struct jvmtiInterface_1_ **jvmti, struct _jobject *thread);

/* Does a thread run that virtual one just now? True where it is not known. */
bool jvm_carrier_has(const struct jvmtiInterface_1_ **jvmti, const struct JNINativeInterface_ **env,
		     struct _jobject *thread);
/*
 * From now on `starts` is called in each virtual thread that starts, until jvm_carrier_unwatch. vm: a JavaVM. False: the virtual machine has no virtual
 * threads, or does not tell. After jvm_carrier_prepare.
 */
typedef void jvm_carrier_fn(const struct jvmtiInterface_1_ **jvmti, const struct JNINativeInterface_ **env,
			    struct _jobject *thread);
bool jvm_carrier_watch(const struct JNIInvokeInterface_ **vm, jvm_carrier_fn *starts);
void jvm_carrier_unwatch(void);

#endif

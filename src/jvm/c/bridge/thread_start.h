/*
 * thread_start.h - threads stand on the call that has started them: Thread.start0, which the virtual machine has in its library, is called
 * behind what notes that (ThreadContexts.starts).
 */
#ifndef WM_JVM_THREAD_START_H
#define WM_JVM_THREAD_START_H

#include <stdbool.h>

struct JNINativeInterface_;
struct jvmtiInterface_1_;

/* Before a native method is bound. */
void jvm_thread_start_prepare(const struct jvmtiInterface_1_ **jvmti);
/* The address that a native method with this address is to be bound to instead; NULL: it is not start0. In any phase. */
void *jvm_thread_start_bound(void *address);
/* Notes are made from now on. False: dev.waymark.agent.ThreadContexts is another one's. */
bool jvm_thread_start_begin(const struct JNINativeInterface_ **env);

#endif

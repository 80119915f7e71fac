/*
 * parks.h - waits of java.util.concurrent: each LockSupport.park is an event, `contention` where the thread waits for a lock or semaphore, else `parked`.
 *
 * The virtual machine has no event for it. Its native method, jdk.internal.misc.Unsafe.park, is bound to a function of ours, which calls
 * its own; no class is changed.
 */
#ifndef WM_JVM_PARKS_H
#define WM_JVM_PARKS_H

#include <stdbool.h>

struct JNINativeInterface_;
struct jvmtiInterface_1_;

/* In phase live, and again behind jvm_parks_end. False: the virtual machine has another method than the one that is known; parks are no events. */
bool jvm_parks_begin(const struct jvmtiInterface_1_ **jvmti, const struct JNINativeInterface_ **env);
/* The method is bound as before. Threads that are parked come back by ours, and are no events. */
void jvm_parks_end(void);

#endif

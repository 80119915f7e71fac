/*
 * clients.h - what happens in the virtual machine, as events of the recording at exact contexts: allocations, waits for monitors,
 * exceptions and CPU time (cpu.h).
 *
 * The virtual machine raises an event in the middle of a method, where the thread's context is that of the last site. So while a client
 * is on, the rewriter makes sites of what can raise one, and every method has one at its entry (java/dev/waymark/agent/Clients.java).
 * What the agent does itself raises no events: it is paused for that.
 */
#ifndef WM_JVM_CLIENTS_H
#define WM_JVM_CLIENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "jvm/c/base/options.h"

struct JNINativeInterface_;
struct jvmtiInterface_1_;

/* jvmti: a jvmtiEnv. Before Java code runs. Takes out of the options the clients that the virtual machine does not let work. False: the
 * virtual machine is another one than it says. */
bool jvm_clients_prepare(const struct jvmtiInterface_1_ **jvmti, struct jvm_options *options);
/* callbacks: a jvmtiEventCallbacks; gets those of all clients. */
void jvm_clients_callbacks(void *callbacks);
/* When all else works, before classes of the application are loaded. False as above, or the agent's classes are of another version. */
bool jvm_clients_begin(const struct jvmtiInterface_1_ **jvmti, const struct JNINativeInterface_ **env,
		       const struct jvm_options *options);

/* What the running thread does until as many calls of the second raises no events. */
void jvm_clients_pause(void);
void jvm_clients_resume(void);

#endif

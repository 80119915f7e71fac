/* live.h - requests of `waymark attach` to the agent in a virtual machine that runs. */
#ifndef WM_JVM_LIVE_H
#define WM_JVM_LIVE_H

#include <jvmti.h>
#include <stdbool.h>

/* In Agent_OnAttach. folder: its options. is_started: the agent was there when the virtual machine began. */
void jvm_live_request(JavaVM *vm, const char *folder, bool is_started);

#endif

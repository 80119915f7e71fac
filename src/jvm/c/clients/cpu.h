/*
 * cpu.h - CPU time at exact contexts: a thread of the agent's looks a number of times a second which threads of the program have used some.
 *
 * A sample is taken of a thread that is suspended, which the virtual machine does at a safepoint. While it is, nothing takes a lock or
 * allocates a Java object: the context is made of copies when it runs again.
 */
#ifndef WM_JVM_CPU_H
#define WM_JVM_CPU_H

#include <stdbool.h>
#include <stdint.h>

struct JNINativeInterface_;
struct jvmtiInterface_1_;
struct _jobject;

/* Before threads are told of. False: Thread lacks the agent's fields. */
bool jvm_cpu_prepare(const struct JNINativeInterface_ **env);
/* JVMTI's event of a thread that begins, or joins the virtual machine. */
void jvm_cpu_thread_starts(const struct jvmtiInterface_1_ **jvmti, const struct JNINativeInterface_ **env,
			   struct _jobject *thread);
/* hz: samples a second, of each thread. With `is_checked` each is compared with the stack. After jvm_thread_state_init. */
bool jvm_cpu_begin(const struct jvmtiInterface_1_ **jvmti, const struct JNINativeInterface_ **env, int32_t hz,
		   bool is_checked);
/* No sample is taken from here on. */
void jvm_cpu_end(void);

#endif

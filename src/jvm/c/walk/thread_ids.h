/*
 * thread_ids.h - the number that the operating system gives a Java thread, which JVMTI does not tell: by HotSpot's own tables
 * (vm_structs.h).
 */
#ifndef WM_JVM_THREAD_IDS_H
#define WM_JVM_THREAD_IDS_H

#include <stdint.h>

struct JNIInvokeInterface_;
struct JNINativeInterface_;
struct _jobject;

/* Once, in phase live. Where the virtual machine has no such tables, no number is known. */
void jvm_thread_ids_init(const struct JNIInvokeInterface_ **vm, const struct JNINativeInterface_ **env);
/* 0: not known, the thread is virtual, or does not run any more. Not for signal handlers. */
uint32_t jvm_thread_id(const struct JNINativeInterface_ **env, struct _jobject *thread);
/* How long that thread of the process has been ready to run without a CPU. 0: not known. */
uint64_t jvm_thread_delay_ns(uint32_t tid);

#endif

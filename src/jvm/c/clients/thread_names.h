/*
 * thread_names.h - events have the names of their threads: recorded once for each thread, with its first event.
 */
#ifndef WM_JVM_THREAD_NAMES_H
#define WM_JVM_THREAD_NAMES_H

#include <stdint.h>

struct JNINativeInterface_;
struct jvmtiInterface_1_;
struct _jobject;

/* Before the others. */
void jvm_thread_names_begin(const struct jvmtiInterface_1_ **jvmti);
/* Before an event of that thread. tid: its number in the operating system. */
void jvm_thread_name(const struct JNINativeInterface_ **env, struct _jobject *thread, uint32_t tid);
/* Names the running thread, at its first call only. */
void jvm_thread_name_here(const struct JNINativeInterface_ **env);

#endif

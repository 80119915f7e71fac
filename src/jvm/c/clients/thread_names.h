/*
 * thread_names.h - events have the names of their threads: recorded with the first event of each, and when one gets another name.
 */
#ifndef WM_JVM_THREAD_NAMES_H
#define WM_JVM_THREAD_NAMES_H

#include <stdint.h>

struct JNINativeInterface_;
struct jvmtiInterface_1_;
struct _jobject;

/* Before the others. */
void jvm_thread_names_begin(const struct jvmtiInterface_1_ **jvmti);
/* In phase live, and again behind jvm_thread_names_end: events of threads that get another name have that from then on. */
void jvm_thread_names_watch(const struct JNINativeInterface_ **env);
void jvm_thread_names_end(void);
/* Before an event of that thread. tid: its number in the operating system. */
void jvm_thread_name(const struct JNINativeInterface_ **env, struct _jobject *thread, uint32_t tid);
/* Names the running thread, at its first call only. */
void jvm_thread_name_here(const struct JNINativeInterface_ **env);

#endif

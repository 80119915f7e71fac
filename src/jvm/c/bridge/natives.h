/*
 * natives.h - the native methods of dev.waymark.agent.Recorder, dev.waymark.agent.Clients and dev.waymark.Waymark.
 */
#ifndef WM_JVM_NATIVES_H
#define WM_JVM_NATIVES_H

#include <stdbool.h>
#include <stdint.h>

#include "recorder/event.h"

struct JNINativeInterface_;
struct _jobject;

/* Counts of the oracle. */
struct jvm_compared {
	uint64_t agreed;
	uint64_t differed;
	uint64_t lost; /* contexts that are not known */
};

/* env: a JNIEnv. Once. False: a class or a method was not found, and the exception is cleared; or there is no room. */
bool jvm_natives_register(const struct JNINativeInterface_ **env);
/* Tells the application that contexts are kept, when all else works. False as above. */
bool jvm_natives_announce(const struct JNINativeInterface_ **env);
/* Any thread. */
struct jvm_compared jvm_natives_compared(void);

/* A context as Java keeps it: all but its epoch, which is that of the whole process. 0: none. */
static inline wm_context jvm_natives_context(int64_t number, uint32_t epoch)
{
	return (wm_context){.epoch = epoch, .prefix = (uint32_t)((uint64_t)number >> 32), .site = (uint32_t)number};
}
static inline int64_t jvm_natives_number(wm_context context)
{
	return (int64_t)((uint64_t)context.prefix << 32 | context.site);
}

/* The running thread begins a task that was enqueued there, as numbers of that epoch. */
void jvm_natives_begin_task(int64_t enqueued, int64_t here, uint32_t epoch);

/* The context as text, a local reference; NULL with an exception. */
struct _jobject *jvm_natives_token(const struct JNINativeInterface_ **env, wm_context context);
/* Records an event of the running thread. name: a string, not null. */
void jvm_natives_event(const struct JNINativeInterface_ **env, wm_context context, struct _jobject *name,
		       int64_t value);

#endif

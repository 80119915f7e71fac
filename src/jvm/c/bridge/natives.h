/*
 * natives.h - the native methods of dev.waymark.agent.Recorder, dev.waymark.agent.Clients and dev.waymark.Waymark.
 */
#ifndef WM_JVM_NATIVES_H
#define WM_JVM_NATIVES_H

#include <stdbool.h>
#include <stdint.h>

struct JNINativeInterface_;

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

#endif

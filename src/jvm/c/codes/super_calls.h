/*
 * super_calls.h - calls of the constructor of a superclass, which nothing undoes in the method that makes them (agent/SuperCalls.java): what
 * they call, and whether that undoes them. A constructor's name is its class and descriptor.
 *
 * Any thread. Java's tables, which say by space where doubt is, are written before a class that makes them true is loaded.
 */
#ifndef WM_JVM_SUPER_CALLS_H
#define WM_JVM_SUPER_CALLS_H

#include <stdbool.h>
#include <stdint.h>

struct JNINativeInterface_;

/* Once, before the others. False: dev.waymark.agent.SuperCalls is not there. */
bool jvm_super_calls_begin(const struct JNINativeInterface_ **env);
/* The site calls the constructor. False: there is no memory. */
bool jvm_super_calls_add(const struct JNINativeInterface_ **env, int32_t site, const char *constructor);
/* The constructor is instrumented, and undoes the calls that enter it. False: there is no memory. */
bool jvm_super_calls_add_undoing(const struct JNINativeInterface_ **env, const char *constructor);
/* Is the site such a call? */
bool jvm_super_calls_has(int32_t site);
/* Is the site such a call, which nobody undoes? */
bool jvm_super_calls_is_doubtful(int32_t site);

#endif

/*
 * heat.h - which calls running threads have in their words, for the profile (profile.h): a thread of the agent's looks. It suspends nobody,
 * so it may see a word that is not there any more; the program does not wait for it.
 */
#ifndef WM_JVM_HEAT_H
#define WM_JVM_HEAT_H

#include <stdbool.h>

struct JNINativeInterface_;
struct jvmtiInterface_1_;

/* In VMInit, with encoder=fast. */
bool jvm_heat_begin(const struct jvmtiInterface_1_ **jvmti, const struct JNINativeInterface_ **env);
void jvm_heat_end(void);

#endif

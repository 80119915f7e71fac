/*
 * encoding.h - starts and ends what keeps contexts in words: rewritten classes, and the clients above them.
 */
#ifndef WM_JVM_ENCODING_H
#define WM_JVM_ENCODING_H

#include <jvmti.h>
#include <stdbool.h>

#include "jvm/c/base/options.h"

/*
 * In Agent_OnLoad; the rest comes with the events of the virtual machine. given: for good; clients that cannot work are switched off. False:
 * nothing is instrumented, which a line says.
 */
bool jvm_encoding_load(JavaVM *vm, jvmtiEnv *jvmti, struct jvm_options *given);

#endif

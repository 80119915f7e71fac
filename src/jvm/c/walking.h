/*
 * walking.h - starts and ends clients whose contexts are walks of the stack: no class is changed, and the program's own classes may have been
 * loaded before.
 */
#ifndef WM_JVM_WALKING_H
#define WM_JVM_WALKING_H

#include <jvmti.h>
#include <stdbool.h>

#include "jvm/c/base/options.h"

/* In phase onload; the rest comes with the events of the virtual machine. given: as of jvm_walking_prepare. */
void jvm_walking_load(jvmtiEnv *jvmti, struct jvm_options *given);

/*
 * What clients need of the virtual machine: capabilities and callbacks. In any phase, and again behind jvm_walking_release. given: until
 * then; clients that cannot work are switched off. False: nothing is recorded, which a line says.
 */
bool jvm_walking_prepare(jvmtiEnv *jvmti, struct jvm_options *given);
/* In phase live: enables the events. main: the thread whose contexts stand on nothing; NULL: it is not known. False as above. */
bool jvm_walking_begin(jvmtiEnv *jvmti, JNIEnv *env, jthread main);
/* No client records anything from here on. */
void jvm_walking_end(void);
/* Behind it: the virtual machine goes on without them, and another set of clients may be prepared. */
void jvm_walking_release(jvmtiEnv *jvmti);

#endif

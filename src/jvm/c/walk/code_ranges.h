/*
 * code_ranges.h - the code that the virtual machine has made, as it tells: compiled methods, and stubs by their names.
 */
#ifndef WM_JVM_CODE_RANGES_H
#define WM_JVM_CODE_RANGES_H

#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>

#include "jvm/c/walk/method_names.h"

struct jvm_code_range {
	uintptr_t start, end;
	jmethodID method;           /* NULL: a stub */
	char name[JVM_LABEL_BYTES]; /* of a stub, in brackets */
};

/* False without memory. Once, before the events. */
bool jvm_code_ranges_init(void);
/* Callbacks of the events, which are to be enabled. */
void jvm_code_ranges_listen(jvmtiEventCallbacks *callbacks);
/* In phase live: what was there before the events were enabled. */
bool jvm_code_ranges_learn(jvmtiEnv *jvmti);
/* Copies the range that has the address. False: it is not known. Signal-safe. */
bool jvm_code_ranges_find(uintptr_t address, struct jvm_code_range *ret);

#endif

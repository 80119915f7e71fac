/*
 * method_names.h - what methods are called, by their jmethodID, and their records. A name is copied while the class is there; a jmethodID is
 * never given twice.
 *
 * A method whose class was replaced keeps the lines of when it was asked for first.
 */
#ifndef WM_JVM_METHOD_NAMES_H
#define WM_JVM_METHOD_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "waymark/wmk.h"

enum {
	JVM_LABEL_BYTES = 256, /* of the text of a label */
};

struct JNINativeInterface_;
struct jvmtiInterface_1_;
struct _jmethodID;
struct _jobject;

/* jvmti: that may get line numbers and names of source files, for good. Once. False without memory. */
bool jvm_method_names_init(const struct jvmtiInterface_1_ **jvmti);
/* In phase live. False: the virtual machine has no names of class loaders. */
bool jvm_method_names_begin(const struct JNINativeInterface_ **env);
/* Learns all methods of a class. Not for signal handlers. */
void jvm_method_names_learn(const struct JNINativeInterface_ **env, struct _jobject *class);
/* The number of a method; asks for its names where it is not known. 0: it has none, or there is no room. Not for signal handlers. */
uint32_t jvm_method_names_ask(const struct JNINativeInterface_ **env, struct _jmethodID *method);
/* The number of a method that is known; 0: it is not. Signal-safe. */
uint32_t jvm_method_names_find(struct _jmethodID *method);
/* Is the method, which is known, left out of stack traces? Signal-safe. */
bool jvm_method_names_is_hidden(uint32_t method);
/* The recorded site of a method at a bytecode index, or -1 of a native one. 0: the recording has no room. Signal-safe. */
uint32_t jvm_method_names_site(uint32_t method, int64_t location, enum wmk_site_kind kind);

/* The recorded site of what is no method, by its name. 0 as above, or there are too many. Signal-safe. */
uint32_t jvm_method_names_label(const char *text);

#endif

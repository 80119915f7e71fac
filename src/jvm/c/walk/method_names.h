/*
 * method_names.h - what methods are called, by their jmethodID, and their records. A name is copied while the class is there; a jmethodID is
 * never given twice.
 *
 * Few of the methods of a program are ever in a sample, and asking for all names takes longer than a small program runs. So a signal handler
 * records a method without a name (jvm_method_names_note), and a thread that may ask puts the name into the record later
 * (jvm_method_names_complete). That is for classes that are never unloaded: those of the three loaders of the virtual machine, but for hidden ones.
 * Of any other class all names are taken when it is prepared. A method that has lost its class before it was named stays "[unknown]".
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
/* Makes sure that the methods of a class have jmethodIDs; learns those of one that may be unloaded. Not for signal handlers. */
void jvm_method_names_prepare(const struct JNINativeInterface_ **env, struct _jobject *class);
/* The number of a method; asks for its names where it is not known. 0: it has none, or there is no room. Not for signal handlers. */
uint32_t jvm_method_names_ask(const struct JNINativeInterface_ **env, struct _jmethodID *method);
/* The number of a method, which may have no name yet. 0: there is no room. Signal-safe. */
uint32_t jvm_method_names_note(struct _jmethodID *method);
/* Names the methods that have been noted. One thread at a time, no signal handler. */
void jvm_method_names_complete(const struct JNINativeInterface_ **env);
/* Is the method left out of stack traces? Signal-safe. */
bool jvm_method_names_is_hidden(uint32_t method);
/* The recorded site of a method at a bytecode index, or -1 of a native one. 0: the recording has no room. Signal-safe. */
uint32_t jvm_method_names_site(uint32_t method, int64_t location, enum wmk_site_kind kind);

/* The recorded site of what is no method, by its name. 0 as above, or there are too many. Signal-safe. */
uint32_t jvm_method_names_label(const char *text);

#endif

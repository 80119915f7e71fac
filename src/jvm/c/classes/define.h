/* define.h - a template (template.h) becomes a class: its methods and sites get numbers and codes. */
#ifndef WM_JVM_DEFINE_H
#define WM_JVM_DEFINE_H

#include <stdbool.h>
#include <stdint.h>

#include "jvm/c/classes/template.h"

struct JNINativeInterface_;

/*
 * Adds the class, its methods and its sites (methods.h), and writes what they have got into class_file, which is a copy of the template's.
 * False: there is no room, for the method *full: the class is to be made without it. Any thread.
 */
bool jvm_define(const struct JNINativeInterface_ **env, const struct jvm_template *t, uint8_t *class_file,
		uint32_t *full);

#endif

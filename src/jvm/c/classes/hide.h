/*
 * hide.h - what the agent has added to a class is not found by reflection: the JDK hides fields and methods of its own in the same way.
 */
#ifndef WM_JVM_HIDE_H
#define WM_JVM_HIDE_H

#include <stdbool.h>
#include <stddef.h>

#include "jvm/c/classes/class_file.h"

struct JNINativeInterface_;

/* class_name: with slashes, of a class that nobody has reflected upon. False: this JDK has no such list, or one with the class in it. */
bool jvm_hide(const struct JNINativeInterface_ **env, const char *class_name, const struct class_file_addition *added);

#endif

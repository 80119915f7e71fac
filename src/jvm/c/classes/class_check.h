/*
 * class_check.h - is a class file one that a rewriter may touch? Reading and writing it anew would mend what the virtual machine refuses:
 * bytes behind its end, attributes of a wrong length, operands that are not looked at, a stack that is too small. Such a class is left as it
 * is, so that the virtual machine refuses it as it does without the agent.
 *
 * Checked is what rewriting loses (chapters 4 and 6 of the specification). What it keeps, such as names and types, is the virtual machine's.
 */
#ifndef WM_JVM_CLASS_CHECK_H
#define WM_JVM_CLASS_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Thread-safe. False also without memory. */
bool jvm_class_is_whole(const uint8_t *bytes, size_t len);

#endif

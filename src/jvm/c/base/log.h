/*
 * log.h - the agent's lines on standard error. What may happen to thousands of classes is said of the first one; how many there were, when
 * the virtual machine ends.
 */
#ifndef WM_JVM_LOG_H
#define WM_JVM_LOG_H

#include "recorder/text.h"

/* "waymark: ", the text and a newline. */
void jvm_log(const char *text);
/* What cannot work: "waymark: WHY; nothing is instrumented". */
void jvm_log_disabled(const char *why);
/* From here on lines go into the text, one behind another, as far as it has room: standard error is the program's. Empty: nowhere. One thread. */
void jvm_log_into(struct wmrt_text text);
/* "waymark: SUBJECT: KIND" where nothing of the kind was said before. Both are copied and may be cut. */
void jvm_log_of(const char *subject, const char *kind);
/* A line for each kind that there was more than once. */
void jvm_log_counts(void);

#endif

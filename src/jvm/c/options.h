/*
 * options.h - what stands behind the = of -agentpath: words with commas between them.
 */
#ifndef WM_JVM_OPTIONS_H
#define WM_JVM_OPTIONS_H

#include <stdbool.h>

struct jvm_options {
	bool is_checked; /* check: compare each capture with a walk of the stack, and say how many agreed when the process ends */
};

/* text: NULL if there is nothing. False: a word is not known; *unknown is where it begins. */
bool jvm_options_parse(const char *text, struct jvm_options *ret, const char **unknown);

#endif

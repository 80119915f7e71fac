/*
 * options.h - what stands behind the = of -agentpath: words with commas between them.
 */
#ifndef WM_JVM_OPTIONS_H
#define WM_JVM_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

struct jvm_options {
	bool is_checked; /* check: compare each capture with a walk of the stack, and say how many agreed when the process ends */
	bool is_lucce;       /* encoder=lucce: contexts as in the paper; encoder=fast is the default */
	int32_t check_every; /* check=N: and so at every Nth entry of an instrumented method; 0: not there */
};

/* text: NULL if there is nothing. False: a word is not known; *unknown is where it begins. */
bool jvm_options_parse(const char *text, struct jvm_options *ret, const char **unknown);

#endif

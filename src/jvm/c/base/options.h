/*
 * options.h - what stands behind the = of -agentpath: words with commas between them.
 */
#ifndef WM_JVM_OPTIONS_H
#define WM_JVM_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "waymark/jvm.h"

enum {
	JVM_GLOBS_BYTES = 1024,
	JVM_PATH_BYTES = 4096,
};

/* A client's. */
struct jvm_client_option {
	bool is_on;
	int32_t number; /* what stands behind the =, or the preset */
};

/* Globs of class names, with colons between them; * stands for any characters. Empty: not there. */
struct jvm_options {
	char include[JVM_GLOBS_BYTES]; /* include=GLOBS: no other classes of the application are instrumented */
	char exclude[JVM_GLOBS_BYTES]; /* exclude=GLOBS: these are not */
	char jdk[JVM_GLOBS_BYTES];     /* jdk=GLOBS: these of the JDK are, too */
	char profile[JVM_PATH_BYTES];  /* profile=FILE: codes by the heat of earlier runs; empty: not there */
	char cache[JVM_PATH_BYTES];    /* cache=FILE: rewritten classes of earlier runs; empty: not there */
	bool is_checked; /* check: compare each capture with a walk of the stack, and say how many agreed when the process ends */
	bool is_live;    /* not an option: the virtual machine ran before; however many events there are, they walk */
	bool is_encoded; /* encode, encoder=NAME: the clients do not walk (jvm_options_walk) */
	bool is_lucce;   /* encoder=lucce: contexts as in the paper; encoder=fast is the default */
	int32_t check_every; /* check=N: and so at every Nth entry of an instrumented method; 0: not there */
	struct jvm_client_option clients[WM1_JVM_CLIENT_COUNT]; /* NAME, NAME=NUMBER */
};

/*
 * Adds what the text says to *ret. text: NULL if there is nothing. False: a word is not known; *unknown is where it begins, and *ret is as
 * it was.
 */
bool jvm_options_parse(const char *text, struct jvm_options *ret, const char **unknown);
/*
 * Are contexts those of walks of the stack? Only clients whose events are rare are on, and nothing is asked for that rewritten classes
 * alone give.
 */
bool jvm_options_walk(const struct jvm_options *options);

#endif

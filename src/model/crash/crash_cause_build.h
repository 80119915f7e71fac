/*
 * crash_cause_build.h - private to crash_cause*.c: finding the cause of a crash.
 */
#ifndef WM_MODEL_CRASH_CRASH_CAUSE_BUILD_H
#define WM_MODEL_CRASH_CRASH_CAUSE_BUILD_H

#include "model/crash/crash_cause.h"

struct cause {
	const struct crash *c;
	const struct crash_values *v; /* NULL: not wanted */
	struct snapshot *s;
	const struct crash_thread *t; /* that got the signal */
	struct arena *arena;
	const char *text; /* NULL: none yet */
	struct error *err;
};

/* Sets the text; printf's. */
void cause_say(struct cause *q, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The name of a frame, without parameters; "code without a name". */
const char *cause_name(struct cause *q, const struct crash_frame *f);
/* The innermost frame of a machine frame; NULL: none. */
const struct crash_frame *cause_frame(const struct cause *q, uint32_t machine);

/* By signal (crash_cause_fault.c, crash_cause_abort.c). Without a text where nothing is sure. */
void cause_of_fault(struct cause *q); /* SIGSEGV */
void cause_of_bus_error(struct cause *q);
void cause_of_division(struct cause *q); /* SIGFPE */
void cause_of_abort(struct cause *q);

/* The stack is used up; false: another fault (crash_cause_stack.c). */
bool cause_is_overflow(struct cause *q);

#endif

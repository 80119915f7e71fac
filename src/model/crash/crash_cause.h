/*
 * crash_cause.h - what ended a program, in one line: the signal, the instruction that faulted with its operand, what is mapped where it
 * pointed, what the C library noted before it called abort. Only what these prove; the variable is named where one alone fits.
 */
#ifndef WM_MODEL_CRASH_CRASH_CAUSE_H
#define WM_MODEL_CRASH_CRASH_CAUSE_H

#include "model/crash/crash_values.h"

/*
 * "call through o->flush, which is 0". *ret: the arena's; NULL: nothing that is sure and more than the signal. v: NULL: values are not
 * wanted, nor texts of the process's memory.
 */
struct error *crash_cause_of(const struct crash *c, const struct crash_values *v, struct arena *arena,
			     const char **ret);

#endif

/*
 * libc_effects.h - what functions of libc and of the C++ runtime do to their callers, by name: for the analysis of what can have
 * run. A program that defines one of these itself never asks.
 */
#ifndef WM_MODEL_CRASH_LIBC_EFFECTS_H
#define WM_MODEL_CRASH_LIBC_EFFECTS_H

enum foreign_kind {
	FOREIGN_UNKNOWN = 0,
	FOREIGN_COMES_BACK, /* calls nothing back, and returns; unless its thread is cancelled in it */
	FOREIGN_ENDS,       /* the process ends in it, after it has called back */
	FOREIGN_THROWS,     /* to a handler of exceptions */
	FOREIGN_JUMPS,      /* elsewhere, or its thread ends */
	FOREIGN_SWITCHES,   /* to another stack; and back, some day */
	FOREIGN_CANCELS,    /* other threads may be, in what would come back */
	FOREIGN_CANCELS_ANYWHERE,
	FOREIGN_STREAMS, /* what would come back may call back from now on: streams, conversions of printf */
	FOREIGN_HANDLES, /* makes functions handlers of signals */
	FOREIGN_FORKS,
	FOREIGN_VFORKS, /* the child ends as if it were the process, and the parent goes on in the same memory */
	FOREIGN_STARTS, /* a thread */
};

enum foreign_kind foreign_find(const char *name);

#endif

/*
 * overruns.h - stores that may leave the object that they write to: those whose address or length is computed. They are no dependences, since
 * the analyses of this folder take each access to stay within its object; where one did not, memory next to it has what was written.
 *
 * Listed are, of what ran,
 *
 *      a[i] = x, *p++ = x      a store through a pointer that a computed number was added to, or a constant one that leads out
 *      strcpy(a, s)            a function that writes as much as it finds
 *      memcpy(a, b, n)         a function whose length is computed, or a constant that is too large
 *      unknown(a)              code outside that is given an address
 *
 * if what they write to is a variable or comes from an allocation. An index that cannot leave its array (a byte in 256 elements, i & 15) is not.
 */
#ifndef WM_ANALYZE_OVERRUNS_H
#define WM_ANALYZE_OVERRUNS_H

#include "analyze/memory.h"

/* The more certain ones first. */
enum overrun_how {
	OVERRUN_CONSTANT,  /* a constant offset or length that is outside of each object that the pointer can lead to */
	OVERRUN_UNBOUNDED, /* a function that writes as much as it finds */
	OVERRUN_INDEX,     /* the address is computed */
	OVERRUN_LENGTH,    /* the length is computed */
	OVERRUN_OUTSIDE,   /* code outside may write there */
	OVERRUN_MISFIT, /* a constant one that fits into another object: perhaps the pointer never leads to this one */
};

struct overrun {
	uint32_t instruction;
	enum overrun_how how;
	uint32_t object; /* that it writes to, of memory.objects; each that it may is an overrun of its own */
};

typedef struct error *(*overrun_visit)(void *data, const struct overrun *x);

/* Visits them in the order of instructions, some more than once. runs: as in memory_analyse. */
struct error *overruns_each(const struct memory *m, const bool *runs, overrun_visit visit, void *data);

/* Bytes that a variable or an allocation has; 0: not a constant. */
uint64_t overruns_size(const struct memory *m, uint32_t object);

#endif

/*
 * library.h - what functions of libraries do to memory, as data (library.c). A function that is not there may touch all that it can reach.
 */
#ifndef WM_ANALYZE_LIBRARY_H
#define WM_ANALYZE_LIBRARY_H

#include <stdbool.h>
#include <stdint.h>

#define LIBRARY_VARIABLE 15 /* an argument: all those behind the named ones of a variadic function */

enum library_effect_kind {
	LIBRARY_NEW,     /* returns a new object */
	LIBRARY_OWN,     /* returns a pointer to memory of the library */
	LIBRARY_RETURNS, /* returns argument `a` */
	LIBRARY_INTO,    /* returns a pointer into what argument `a` leads to */
	LIBRARY_READS,   /* reads what argument `a` leads to; no more bytes than argument `b` says, if there is a `b` */
	LIBRARY_WRITES,  /* writes there; no pointers */
	LIBRARY_COPIES, /* copies from where `b` leads to where `a` leads, pointers too; argument 2 has the length if that is known */
	LIBRARY_POINTS,   /* stores a pointer into what `b` leads to, to where `a` leads */
	LIBRARY_PUTS_NEW, /* stores a pointer to a new object to where `a` leads */
	LIBRARY_CALLS,    /* calls argument `a`, whose arguments lead into what `b` and `c` lead to */
};

struct library_effect {
	enum library_effect_kind kind;
	uint8_t a, b, c; /* arguments from 0; LIBRARY_NO_ARGUMENT */
};

#define LIBRARY_NO_ARGUMENT 14

enum {
	LIBRARY_EFFECTS_MAX = 8, /* of a function */
};

struct library_function {
	struct library_effect effects[LIBRARY_EFFECTS_MAX];
	uint32_t count;
	bool may_not_return; /* exit, abort, longjmp */
};

/* False: it is not known. */
bool library_find(const char *name, struct library_function *ret);
/* The names of the table in order; NULL behind the last one. */
const char *library_name(uint32_t index);

#endif

/*
 * library.h - what functions of libraries do to memory, as data (library.c). A function that is not there may touch all that it can reach.
 */
#ifndef WM_ANALYZE_LIBRARY_H
#define WM_ANALYZE_LIBRARY_H

#include <stdbool.h>
#include <stdint.h>

#define LIBRARY_VARIABLE 255 /* an argument: all those behind the named ones of a variadic function */

enum library_effect_kind {
	LIBRARY_NEW,     /* returns a new object */
	LIBRARY_OWN,     /* returns a pointer to memory of the library: of the state `a`, or to constants */
	LIBRARY_RETURNS, /* returns argument `a` */
	LIBRARY_INTO,    /* returns a pointer into what argument `a` leads to */
	LIBRARY_READS,   /* reads what argument `a` leads to; no more bytes than argument `b` says, if there is a `b` */
	LIBRARY_WRITES,  /* writes there; no pointers */
	LIBRARY_COPIES, /* copies from where `b` leads to where `a` leads, pointers too; argument 2 has the length if that is known */
	LIBRARY_POINTS,   /* stores a pointer into what `b` leads to, to where `a` leads */
	LIBRARY_PUTS_NEW, /* stores a pointer to a new object to where `a` leads */
	LIBRARY_CALLS,    /* calls argument `a`, whose arguments lead into what `b` and `c` lead to */
	LIBRARY_GETS,     /* reads the state `a` */
	LIBRARY_SETS,     /* writes it */
	LIBRARY_KEEPS,    /* the state `a` has argument `b` from then on, and the pointers there */
	LIBRARY_LEADS,    /* returns what pointers lead to where `a` leads, and reads and writes there */
	LIBRARY_HANDLES, /* argument `b` is a handler of `a` from then on: it may be called at any time; its second argument leads into `c` */
	LIBRARY_INSTALLS, /* so is what lies where `b` leads: sigaction */
	LIBRARY_HANDLER,  /* returns a handler of `a`, or stores it to where `b` leads, if there is a `b` */
	LIBRARY_RUNS,     /* calls handlers of `a`, or may make others call them */
	LIBRARY_LISTS,    /* reads variable arguments by the va_list `a`, and what they lead to */
	LIBRARY_KINDS
};

/* The library's own memory, by which one call hands values on to another: srand to rand, a call that fails to whoever reads errno. */
enum library_state {
	LIBRARY_DOMAINS,
	LIBRARY_ERRNO,
	LIBRARY_FORKS,
	LIBRARY_OPTIONS,
	LIBRARY_SIGNALS,
	LIBRARY_INPUT,
	LIBRARY_TOKENS,
	LIBRARY_LOCALE,
	LIBRARY_ACCOUNTS,
	LIBRARY_END,
	LIBRARY_RANDOM,
	LIBRARY_TEXTS,
	LIBRARY_TIME,
	LIBRARY_MASK,
	LIBRARY_ENVIRONMENT,
	LIBRARY_PENDING,
	LIBRARY_SYNTAX,
	LIBRARY_NAMES,
	LIBRARY_STATES
};

struct library_effect {
	enum library_effect_kind kind;
	uint8_t a, b, c; /* arguments from 0; LIBRARY_NO_ARGUMENT */
};

#define LIBRARY_NO_ARGUMENT 254

enum {
	LIBRARY_EFFECTS_MAX = 9,     /* of a function */
	LIBRARY_STATE_VARIABLES = 4, /* of a state, at most */
};

struct library_function {
	struct library_effect effects[LIBRARY_EFFECTS_MAX];
	uint32_t count;
	bool may_not_return; /* exit, abort, longjmp */
};

/* False: it is not known. */
bool library_find(const char *name, struct library_function *ret);
/* The names of variables of a state that programs can see; NULL behind the last one. */
const char *library_variable(enum library_state state, uint32_t index);
/* The names of the table in order; NULL behind the last one. */
const char *library_name(uint32_t index);

#endif

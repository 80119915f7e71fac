/*
 * unit.h - the agent's own objects in a test, without what instruments the whole process: the test says what is reached.
 *
 * The program is unit/graph.c, a library in which each function calls all others.
 */
#ifndef WM_TESTS_AGENT_UNIT_H
#define WM_TESTS_AGENT_UNIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/threads/lock.h"
#include "native/unwind/unwind.h"

enum {
	UNIT_FUNCTIONS = 6,
	UNIT_PATH_MAX = 24,
};

/* Functions of the library: each calls the one that *path says, with path + 1, and at UNIT_FUNCTIONS `end`. */
typedef void (*unit_function)(const uint8_t *path, void (*end)(int n));
extern unit_function unit_functions[UNIT_FUNCTIONS];
/* It calls nothing. */
extern int (*unit_leaf)(int);

/* The agent works, on the library at that path. False: the library is not as it should be. Skips the test where the agent cannot work. */
bool unit_start(const char *library);
/* All functions of the library are reached. */
bool unit_reach(void);
/* Runs the first function with that path. */
void unit_run(const uint8_t *path, void (*end)(int n));
/* Random calls, one in the other, that end with UNIT_FUNCTIONS; how many. */
size_t unit_path(uint8_t path[UNIT_PATH_MAX + 1]);
/* Numbers from a seed that is printed where a check fails. */
uint32_t unit_roll(uint32_t below);
void unit_seed(uint32_t seed);
/* The library's code as it is now: its bytes, from *ret_start on. */
size_t unit_text(uintptr_t *ret_start);

/* Around looks at the agent's tables from `end`; *regs are those of the caller. */
void unit_lock(struct agent_guard *guard, struct unwind_regs *regs, struct lock_place *place);

#endif

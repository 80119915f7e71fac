/*
 * oracle_code.h - test only: what the oracles share: a module as src/analyze numbers it. Each ends the process with status 2 where it fails.
 */
#ifndef WM_TESTS_ANALYZE_ORACLE_CODE_H
#define WM_TESTS_ANALYZE_ORACLE_CODE_H

#include <stdio.h>
#include <stdlib.h>

#include "analyze/code.h"

static inline void oracle_fail(struct error *err)
{
	if (!err)
		return;
	fprintf(stderr, "oracle: %s\n", err->message);
	exit(2);
}

/* The code of a file of bitcode (.bc), or of a program. Without numbers: code_number_all is next. */
void oracle_open(const char *path, struct code *ret);
bool oracle_ends_in(const char *text, const char *end);

/* The passes give it a number: it is no intrinsic of debug information. */
bool oracle_is_counted(const struct code *c, uint32_t instruction);

/* Prints an instruction and its line. */
void oracle_tell(const struct code *c, const char *before, uint32_t instruction);

#endif

/*
 * number.h - numbers on command lines.
 */
#ifndef WM_CLI_NUMBER_H
#define WM_CLI_NUMBER_H

#include <stddef.h>

#include "base/error.h"

/* Decimal, from 1 to a limit that no array of the program exceeds; ERROR_ARGUMENT names the option. */
struct error *number_parse(const char *option, const char *text, size_t *ret);
/* Of --top: "all" is 0. */
struct error *number_parse_top(const char *text, size_t *ret);

#endif

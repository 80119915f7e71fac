/*
 * time_range.h - reads FROM..TO, the value of --time: seconds after the start, or with a unit (ns, us, ms, s, m, h).
 *
 *      1.5..3      250ms..      ..2m
 */
#ifndef WM_CLI_TIME_RANGE_H
#define WM_CLI_TIME_RANGE_H

#include <stdint.h>

#include "base/error.h"

struct time_range {
	uint64_t from_ns;
	uint64_t to_ns; /* the first that is not in it; UINT64_MAX: no end */
};

/* ERROR_ARGUMENT when it is none, or empty. */
struct error *time_range_parse(const char *text, struct time_range *ret);

#endif

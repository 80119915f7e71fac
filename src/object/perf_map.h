/*
 * perf_map.h - names of code that a process made at run time, as it has written them for perf: /tmp/perf-PID.map, lines of
 *
 *      START LENGTH NAME        both numbers hexadecimal
 *
 * or jit-PID.dump, records of code that was made and moved, which the process has mapped so that it is found.
 *
 * Source: linux/tools/perf/Documentation/jit-interface.txt, jitdump-specification.txt. Code that was thrown away stays listed: of several entries that have an
 * address the last one is in force.
 */
#ifndef WM_OBJECT_PERF_MAP_H
#define WM_OBJECT_PERF_MAP_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "base/error.h"

struct perf_map;

/*
 * The map or dump at `path` of a process that began then. *ret is NULL where there is none, it is older than the process (of an earlier one with
 * that number), or it is another user's. Lines and records that are none are passed over.
 */
struct error *perf_map_open(const char *path, time_t began, struct perf_map **ret);
/* The bytes of either file. */
struct error *perf_map_parse(const void *bytes, size_t len_bytes, struct perf_map **ret);
/* NULL is passed over. */
void perf_map_close(struct perf_map *map);
/* NULL: no entry has the address. Lives as long as the map. */
const char *perf_map_find(const struct perf_map *map, uint64_t address);

#endif

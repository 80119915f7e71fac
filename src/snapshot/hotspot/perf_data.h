/*
 * perf_data.h - what a virtual machine of HotSpot says of itself in /tmp/hsperfdata_USER/PID, which it maps and jps and jcmd read. Unless
 * it was started with -XX:-UsePerfData or -XX:+PerfDisableSharedMem.
 */
#ifndef WM_SNAPSHOT_HOTSPOT_PERF_DATA_H
#define WM_SNAPSHOT_HOTSPOT_PERF_DATA_H

#include <stddef.h>

#include "base/error.h"

/* The first character of the text of that name. ERROR_NOT_FOUND: there is none; ERROR_FORMAT. The bytes may be anybody's. */
struct error *perf_data_first(const void *bytes, size_t len_bytes, const char *name, char *ret);

#endif

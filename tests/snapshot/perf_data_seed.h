/* perf_data_seed.h - a file of HotSpot's counters with three entries: java.property.a, which begins with x, a number, sun.rt.jvmCapabilities. */
#ifndef WM_TESTS_SNAPSHOT_PERF_DATA_SEED_H
#define WM_TESTS_SNAPSHOT_PERF_DATA_SEED_H

#include <stddef.h>
#include <stdint.h>

enum {
	PERF_DATA_SEED_BYTES = 512,
};

/* Returns the length. */
size_t perf_data_seed_build(uint8_t out[PERF_DATA_SEED_BYTES]);

#endif

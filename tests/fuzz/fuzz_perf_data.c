/* fuzz_perf_data.c - perf_data.h on damaged counters of a virtual machine: what is found is a byte of the input. */
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "snapshot/hotspot/perf_data.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = {"sun.rt.jvmCapabilities", "java.property.a", ""};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		char found;
		struct error *err = perf_data_first(data, size, names[i], &found);

		if (!err && !memchr(data, (uint8_t)found, size))
			abort();
		error_destroy(err);
	}
	return 0;
}

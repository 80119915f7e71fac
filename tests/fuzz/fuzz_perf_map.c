/*
 * fuzz_perf_map.c - perf_map.h on a damaged perf map or jitdump: what is found is a name, and the same for an address asked again. Addresses
 * come from the input itself, where entries begin.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "object/perf_map.h"

static void look_up(const struct perf_map *map, uint64_t address)
{
	const char *name = perf_map_find(map, address);

	if (name && (!*name || !strlen(name) || perf_map_find(map, address) != name))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct perf_map *map = NULL;
	struct error *err = perf_map_parse(data, size, &map);

	if (err) {
		error_destroy(err);
		return 0;
	}
	for (size_t at = 0; at + sizeof(uint64_t) <= size; at++) {
		uint64_t address;

		memcpy(&address, data + at, sizeof address);
		look_up(map, address);
		look_up(map, address & 0xffff);
	}
	look_up(map, 0);
	look_up(map, UINT64_MAX);
	perf_map_close(map);
	return 0;
}

/* perf_data_seed.c - writes the header, and each entry with its name and data behind it. */
#include "snapshot/perf_data_seed.h"

#include <string.h>

enum {
	ENTRY_BYTES = 20,
	FIRST = 32,
};

static size_t add(uint8_t *out, size_t at, const char *name, const void *data, size_t data_bytes)
{
	uint32_t name_bytes = (uint32_t)strlen(name) + 1, data_off = (ENTRY_BYTES + name_bytes + 7) / 8 * 8;
	uint32_t len_bytes = (data_off + (uint32_t)data_bytes + 7) / 8 * 8;
	const uint32_t entry[] = {len_bytes, ENTRY_BYTES, (uint32_t)data_bytes, 0x01050142, data_off};

	memcpy(out + at, entry, sizeof entry);
	memcpy(out + at + ENTRY_BYTES, name, name_bytes);
	memcpy(out + at + data_off, data, data_bytes);
	return at + len_bytes;
}

size_t perf_data_seed_build(uint8_t out[PERF_DATA_SEED_BYTES])
{
	const uint64_t number = 7;
	uint32_t header[] = {0xc0c0feca, 0x01000201, 0, 0, 0, 0, FIRST, 3};
	size_t end;

	memset(out, 0, PERF_DATA_SEED_BYTES);
	end = add(out, FIRST, "java.property.a", "xyz", sizeof "xyz");
	end = add(out, end, "java.number", &number, sizeof number);
	end = add(out, end, "sun.rt.jvmCapabilities", "1000", sizeof "1000");
	header[2] = (uint32_t)end;
	memcpy(out, header, sizeof header);
	return end;
}

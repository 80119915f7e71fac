/* test_perf_data.c - counters of a virtual machine: what is there is found, and a file that is cut or damaged anywhere is refused or not. */
#include <string.h>

#include "check.h"
#include "snapshot/hotspot/perf_data.h"
#include "snapshot/perf_data_seed.h"

enum {
	VERSIONED_BYTES = 6, /* the magic number, the order of bytes, the version that changes what follows */
};

static char first(const void *bytes, size_t len_bytes, const char *name, enum error_code *code)
{
	char ret = 0;
	struct error *err = perf_data_first(bytes, len_bytes, name, &ret);

	*code = err ? err->code : 0;
	error_destroy(err);
	return ret;
}

static void test_found(const uint8_t *bytes, size_t len_bytes)
{
	enum error_code code;

	CHECK(first(bytes, len_bytes, "java.property.a", &code) == 'x' && !code);
	CHECK(first(bytes, len_bytes, "sun.rt.jvmCapabilities", &code) == '1' && !code);
	CHECK(first(bytes, len_bytes, "sun.rt.jvm", &code) == 0 && code == ERROR_NOT_FOUND);
	CHECK(first(bytes, len_bytes, "un.rt.jvmCapabilities", &code) == 0 && code == ERROR_NOT_FOUND);
}

/* Behind the data of the last entry nothing is needed but its length. */
static void test_cut(const uint8_t *bytes, size_t len_bytes)
{
	enum error_code code;

	for (size_t len = 0; len < len_bytes; len++)
		CHECK(first(bytes, len, "sun.rt.jvmCapabilities", &code) == 0 && code == ERROR_FORMAT);
}

static void test_damaged(const uint8_t *bytes, size_t len_bytes)
{
	uint8_t copy[PERF_DATA_SEED_BYTES] = {0};
	enum error_code code;

	for (size_t at = 0; at < VERSIONED_BYTES; at++) {
		memcpy(copy, bytes, len_bytes);
		copy[at] ^= 2;
		CHECK(first(copy, len_bytes, "java.property.a", &code) == 0 && code == ERROR_FORMAT);
	}
}

int main(void)
{
	uint8_t bytes[PERF_DATA_SEED_BYTES];
	size_t len_bytes = perf_data_seed_build(bytes);

	test_found(bytes, len_bytes);
	test_cut(bytes, len_bytes);
	test_damaged(bytes, len_bytes);
	return check_status();
}

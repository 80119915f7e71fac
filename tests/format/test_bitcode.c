/* test_bitcode.c - `.debug_waymark_ir`: there and back, several units, damage. */
#include <stdlib.h>

#include "check.h"
#include "format/bitcode.h"

static void test_units(void)
{
	static const uint8_t header[] = {0x89, 'W', 'M', 'I', 13, 10, 26, 10, 1, 0, 0, 0, 1, 0, 0, 0};
	struct bitcode_vec units = {0};
	struct buffer out = {0};
	uint8_t big[5000];

	for (size_t i = 0; i < sizeof big; i++)
		big[i] = (uint8_t)(i * i >> 3);
	CHECK_OK(bitcode_write("BC\xc0\xde", 4, &out));
	CHECK(memcmp(out.bytes, header, sizeof header) == 0);
	for (int i = 0; i < 3; i++)
		buffer_u8(&out, 0);
	CHECK_OK(bitcode_write(big, sizeof big, &out));
	if (CHECK_OK(bitcode_read(out.bytes, out.len_bytes, "x", &units)) && CHECK_U64(units.count, 2)) {
		CHECK(units.items[0].len_bytes == 4 && memcmp(units.items[0].bytes, "BC\xc0\xde", 4) == 0);
		CHECK(units.items[1].len_bytes == sizeof big && memcmp(units.items[1].bytes, big, sizeof big) == 0);
	}
	bitcode_deinit(&units);
	for (size_t i = 0; i < out.len_bytes; i++) {
		struct bitcode_vec none = {0};
		struct error *err = bitcode_read(out.bytes, i, "x", &none);

		/* All of the first one, and nothing or only zeros of the next, is a section too. */
		if (!err) {
			CHECK_U64(none.count, 1);
			CHECK(none.items[0].len_bytes == 4);
			bitcode_deinit(&none);
		}
		error_destroy(err);
	}
	out.bytes[60] ^= 1;
	CHECK_ERROR(bitcode_read(out.bytes, out.len_bytes, "x", &units), ERROR_FORMAT, "x: offset 0x");
	buffer_deinit(&out);
}

/* Each unit may be what it says; all of them together are more than a reader may be asked to unpack. */
static void test_many(void)
{
	static uint8_t zeros[32 << 20];
	struct bitcode_vec units = {0};
	struct buffer one = {0}, out = {0};
	uint32_t seed = 1;

	for (size_t i = 0; i < sizeof zeros / 200; i++) /* no more than one unit may unpack to */
		zeros[i] = (uint8_t)((seed = seed * 1664525 + 1013904223) >> 24);
	CHECK_OK(bitcode_write(zeros, sizeof zeros, &one));
	for (int i = 0; i < 2; i++)
		buffer_bytes(&out, one.bytes, one.len_bytes);
	if (CHECK_OK(bitcode_read(out.bytes, out.len_bytes, "x", &units)))
		CHECK_U64(units.count, 2);
	bitcode_deinit(&units);
	buffer_bytes(&out, one.bytes, one.len_bytes);
	CHECK_ERROR(bitcode_read(out.bytes, out.len_bytes, "x", &units), ERROR_FORMAT,
		    "that unpack to 100663296: the section is damaged");
	buffer_deinit(&one);
	buffer_deinit(&out);
}

int main(void)
{
	test_units();
	test_many();
	return check_status();
}

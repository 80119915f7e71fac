/*
 * test_bbmap.c - machine blocks: records by hand, split and discarded functions, older versions, damage. tests/format/bbmap.sh
 * compares real programs with llvm-readobj.
 */
#include <stdlib.h>

#include "base/vec.h"
#include "check.h"
#include "format/bbmap.h"

/* clang-format off */
static const uint8_t two_functions[] = {
	2, 4,							/* version, features: probabilities */
	0x00, 0x20, 0, 0, 0, 0, 0, 0,				/* at 0x2000 */
	4,							/* blocks: id, gap, bytes, bits */
	0, 0, 0x30, 8,
	5, 0, 0x10, 0,
	2, 2, 0x81, 1, 4,					/* a gap of 2, 129 bytes; a landing pad */
	7, 0, 0, 1,						/* empty; returns */
	2, 5, 10, 2, 20,					/* successors of block 0: ids 5 and 2 */
	0,
	1, 7, 0x80, 1,
	0,
	2, 12,							/* probabilities, several ranges */
	2,
	0x00, 0x10, 0, 0, 0, 0, 0, 0, 2,			/* at 0x1000, and its cold part at 0x3000 */
	0, 0, 8, 8,
	1, 0, 8, 2,
	0x00, 0x30, 0, 0, 0, 0, 0, 0, 1,
	2, 0, 16, 0,
	2, 1, 1, 2, 1,
	0,
	0,
};

static const uint8_t plain[] = {
	1, 0,							/* version 1: no ids */
	0x00, 0x40, 0, 0, 0, 0, 0, 0, 2,
	0, 4, 8,
	0, 4, 1,
	2, 0,							/* version 2 without probabilities, discarded */
	0, 0, 0, 0, 0, 0, 0, 0, 1,
	0, 0, 4, 1,
	2, 0,							/* no blocks at all */
	0x00, 0x60, 0, 0, 0, 0, 0, 0, 0,
	2, 7,							/* all of the profile */
	0x00, 0x50, 0, 0, 0, 0, 0, 0, 1,
	3, 0, 4, 0x11,
	0x80, 8,						/* entry count */
	99, 1, 3, 0,						/* frequency, one successor: itself */
};
/* clang-format on */

static void test_two(void)
{
	const struct bbmap_function *f;
	struct bbmap m;
	uint32_t block = 99;

	if (!CHECK_OK(bbmap_read(two_functions, sizeof two_functions, "x", &m)))
		return;
	if (CHECK_U64(m.function_count, 2) && CHECK_U64(m.range_count, 3)) {
		f = &m.functions[0];
		CHECK_U64(f->address, 0x1000);
		CHECK_U64(f->block_count, 3);
		CHECK(f->has_successors);
		CHECK_U64(f->blocks[2].address, 0x3000);
		CHECK_U64(f->blocks[0].successor_count, 2);
		CHECK_U64(f->blocks[0].successors[1], 2);
		CHECK(f->blocks[1].is_end && !f->blocks[1].falls_through && f->blocks[0].falls_through);
		f = &m.functions[1];
		CHECK_U64(f->address, 0x2000);
		CHECK_U64(f->block_count, 4);
		CHECK_U64(f->blocks[2].address, 0x2042);
		CHECK_U64(f->blocks[2].len_bytes, 129);
		CHECK(f->blocks[2].is_landing_pad && !f->blocks[0].is_landing_pad);
		CHECK_U64(f->blocks[0].successors[0], 1);
		CHECK_U64(f->blocks[0].successors[1], 2);
		CHECK_U64(f->blocks[2].successors[0], 3);
		CHECK_U64(f->blocks[3].len_bytes, 0);
		CHECK(bbmap_find(&m, 0xfff, &block) == NULL && block == 99);
		CHECK(bbmap_find(&m, 0x1000, &block) == &m.functions[0] && block == 0);
		CHECK(bbmap_find(&m, 0x100f, &block) == &m.functions[0] && block == 1);
		CHECK(bbmap_find(&m, 0x1010, &block) == NULL);
		CHECK(bbmap_find(&m, 0x3003, &block) == &m.functions[0] && block == 2);
		CHECK(bbmap_find(&m, 0x2030, &block) == f && block == 1);
		CHECK(bbmap_find(&m, 0x2041, &block) == NULL); /* between blocks */
		CHECK(bbmap_find(&m, 0x20c2, &block) == f && block == 2);
		CHECK(bbmap_find(&m, 0x20c3, &block) == NULL); /* the empty block */
		CHECK(bbmap_find(&m, UINT64_MAX, &block) == NULL);
	}
	bbmap_deinit(&m);
}

static void test_plain(void)
{
	struct bbmap m;

	if (!CHECK_OK(bbmap_read(plain, sizeof plain, "x", &m)))
		return;
	if (CHECK_U64(m.function_count, 2) && CHECK_U64(m.range_count, 2)) {
		CHECK_U64(m.functions[0].address, 0x4000);
		CHECK(!m.functions[0].has_successors && !m.functions[0].blocks[0].successors);
		CHECK_U64(m.functions[0].blocks[1].address, 0x4004);
		CHECK_U64(m.functions[1].address, 0x5000);
		CHECK(m.functions[1].has_successors && m.functions[1].blocks[0].successors[0] == 0);
	}
	bbmap_deinit(&m);
	if (CHECK_OK(bbmap_read(plain, 0, "x", &m))) {
		CHECK_U64(m.function_count, 0);
		CHECK(bbmap_find(&m, 0, NULL) == NULL);
		bbmap_deinit(&m);
	}
}

static void expect_at(const uint8_t *bytes, size_t len, size_t at, uint8_t v, const char *text, int line)
{
	uint8_t *copy = malloc(len ? len : 1); /* so that a sanitizer sees any read behind it */
	struct bbmap m;

	if (!copy)
		abort();
	memcpy(copy, bytes, len);
	if (at < len)
		copy[at] = v;
	check_has_error(bbmap_read(copy, len, "x", &m), ERROR_FORMAT, text, __FILE__, line);
	free(copy);
}
#define EXPECT(at, v, text) expect_at(two_functions, sizeof two_functions, at, v, text, __LINE__)

static void test_damage(void)
{
	EXPECT(0, 0, "version 0 of basic block addresses");
	EXPECT(0, 3, "version 3 of basic block addresses, versions 1 and 2 are read: build with LLVM 19");
	EXPECT(0, 1, "features 0x4 ");
	EXPECT(1, 0x24, "features 0x24 ");
	EXPECT(10, 127, "127 blocks cannot fit");
	EXPECT(11, 5, "two blocks with id 5");
	EXPECT(14, 0x28, "block 0 of a function is not possible");
	EXPECT(28, 127, "127 successors cannot fit");
	EXPECT(29, 6, "a way to block 6, which is not there");
	expect_at((const uint8_t[]){2, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 12, 99, 0, "without a range", __LINE__);
	expect_at((const uint8_t[]){2, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 0, 0, 1, 0}, 15, 99, 0,
		  "block 0 of a function is not possible", __LINE__);
}

static void check_whole(const struct bbmap *m)
{
	for (size_t i = 0; i < m->function_count; i++)
		for (uint32_t k = 0; k < m->functions[i].block_count; k++)
			for (uint32_t s = 0; s < m->functions[i].blocks[k].successor_count; s++)
				CHECK(m->functions[i].blocks[k].successors[s] < m->functions[i].block_count);
	for (size_t i = 0; i < m->range_count; i++)
		CHECK(m->ranges[i].function < m->function_count);
}

static void test_every_byte(void)
{
	for (size_t i = 0; i < sizeof two_functions * 8; i++) {
		size_t len = i % 8 ? sizeof two_functions : i / 8;
		uint8_t *copy = malloc(len ? len : 1);
		struct bbmap m;
		struct error *err;

		if (!copy)
			abort();
		memcpy(copy, two_functions, len);
		if (i % 8)
			copy[i / 8] ^= (uint8_t)(1 << i % 8);
		err = bbmap_read(copy, len, "x", &m);
		if (err) {
			CHECK(err->code == ERROR_FORMAT && strstr(err->message, "x: offset 0x"));
			error_destroy(err);
		} else {
			check_whole(&m);
			bbmap_deinit(&m);
		}
		free(copy);
	}
}

int main(void)
{
	test_two();
	test_plain();
	test_damage();
	test_every_byte();
	return check_status();
}

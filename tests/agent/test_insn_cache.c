/*
 * test_insn_cache.c - what the cache says of an instruction is what the decoder says.
 *
 * Of the bytes at each address of the files' text, also where no instruction begins; of random bytes; of bytes that end too early.
 * test_insn_cache FILE...
 */
#include "agent/image.h"
#include "check.h"

#include <stdlib.h>
#include <string.h>

enum {
	RANDOM_BYTES = 1 << 20,
	SHOWN = 10,
};

static struct insn_cache cache;
static size_t differences;

static void compare(const uint8_t *bytes, size_t available_bytes, uint64_t address)
{
	struct insn plain, cached;
	bool is_plain, is_cached;

	memset(&plain, 0, sizeof plain);
	memset(&cached, 0, sizeof cached);
	is_plain = insn_decode(bytes, available_bytes, address, &plain);
	is_cached = insn_decode_cached(&cache, bytes, available_bytes, address, &cached);
	if (is_plain == is_cached && (!is_plain || !memcmp(&plain, &cached, sizeof plain)))
		return;
	if (differences++ >= SHOWN)
		return;
	fprintf(stderr, "%#lx: %d by the decoder, %d by the cache:", (unsigned long)address, is_plain, is_cached);
	for (size_t i = 0; i < available_bytes && i < INSN_MAX_BYTES; i++)
		fprintf(stderr, " %02x", bytes[i]);
	fprintf(stderr, "\n");
}

static void compare_all(const uint8_t *bytes, size_t len_bytes, uint64_t address)
{
	for (size_t at = 0; at < len_bytes; at++)
		compare(bytes + at, len_bytes - at, address + at);
	/* The same that is known by now, cut off. */
	for (size_t at = 0; at + INSN_MAX_BYTES < len_bytes; at += 97)
		for (size_t left = 1; left <= INSN_MAX_BYTES; left++)
			compare(bytes + at, left, address + at);
}

static void test_random(void)
{
	uint8_t *bytes = malloc(RANDOM_BYTES);
	uint64_t seed = 0x5eed;

	if (!CHECK(bytes))
		return;
	for (size_t i = 0; i < RANDOM_BYTES; i++) {
		seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
		bytes[i] = (uint8_t)(seed >> 33);
	}
	compare_all(bytes, RANDOM_BYTES, 0x7fff00000000);
	free(bytes);
}

/* An instruction of a shape that is known is not decoded: its slot says what it is. */
static void test_known(void)
{
	static const uint8_t bytes[32] = {0x48, 0x8b, 0x44, 0x24, 0x08}; /* mov 8(%rsp), %rax */
	struct insn insn;

	memset(&cache, 0, sizeof cache);
	CHECK(insn_decode_cached(&cache, bytes, sizeof bytes, 0x1000, &insn));
	for (size_t i = 0; i < sizeof cache.slots / sizeof *cache.slots; i++)
		if (cache.slots[i].shape)
			cache.slots[i].common[offsetof(struct insn, scale) - INSN_COMMON_AT] = 77;
	CHECK(insn_decode_cached(&cache, bytes, sizeof bytes, 0x1000, &insn));
	CHECK_U64(insn.scale, 77);
	memset(&cache, 0, sizeof cache);
}

int main(int argc, char **argv)
{
	test_known();
	test_random();
	for (int i = 1; i < argc; i++) {
		struct image image;

		if (!image_load(argv[i], &image))
			return 1;
		compare_all(image.text.bytes, image.text.high - image.text.low, image.text.low);
		image_unload(&image);
	}
	CHECK_U64(differences, 0);
	return check_status();
}

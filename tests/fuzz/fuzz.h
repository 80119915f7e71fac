/*
 * fuzz.h - the interface of libFuzzer targets, which replay.c drives too; and helpers that they share.
 *
 * An input that every byte of a real file would make too long or too uniform is unfolded: see each target.
 */
#ifndef WM_TESTS_FUZZ_H
#define WM_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	/* An input of fuzz_wmk: the first bytes of the file header, then the first bytes of each chunk. */
	FUZZ_WMK_HEADER_BYTES = 256,
	FUZZ_WMK_CHUNK_BYTES = 1024,
	FUZZ_WMK_CHUNKS_MAX = 16,

	/* An input of fuzz_context: how long the raw body is (2 bytes), the raw body, then records of 20 bytes: id (8), parent
	 * or prefix (4), site (4), run (4). Each is put down as a node, then decoded as a capture. */
	FUZZ_CONTEXT_RECORD_BYTES = 20,
	FUZZ_CONTEXT_RECORDS_MAX = 64,

	/* The first byte of an input of fuzz_import that is the body of an archive. */
	FUZZ_ARCHIVE = 0xff,

	CORE_SEED_BYTES_MAX = 4096,
	EH_FRAME_SEED_BYTES_MAX = 4096,
};

/* The seed of fuzz_core; returns its length. */
size_t core_seed_build(uint8_t out[CORE_SEED_BYTES_MAX]);
/* The seed of fuzz_eh_frame. */
size_t eh_frame_seed_build(uint8_t out[EH_FRAME_SEED_BYTES_MAX]);

#endif

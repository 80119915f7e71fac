/*
 * eh_frame_seed.c - the seed of fuzz_eh_frame: an image with four functions that have what compilers and glibc write: frames, states
 * that are remembered, expressions of PLTs and realigned stacks, a signal frame, landing pads.
 *
 *     .eh_frame_hdr | CIE zR | FDE, FDE | CIE zRS | FDE | CIE zPLR | FDE | LSDA | code
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "fuzz/fuzz.h"

enum {
	FUNCTIONS = 4,
	TABLE_AT = 12,
	CODE_BYTES = 64, /* of each function */
};

struct seed {
	struct buffer out;
	uint32_t starts_at[FUNCTIONS]; /* where the FDEs' starts are */
	uint32_t fdes[FUNCTIONS];
	uint32_t lsda_at;
	uint32_t count;
};

static uint32_t here(const struct seed *s)
{
	return (uint32_t)s->out.len_bytes;
}

static void end_entry(struct seed *s, uint32_t at)
{
	while (s->out.len_bytes % 4)
		buffer_u8(&s->out, 0);
	buffer_put_u32(&s->out, at, here(s) - at - 4);
}

static uint32_t put_cie(struct seed *s, const char *augmentation, const uint8_t *data, uint8_t data_bytes)
{
	static const uint8_t code[] = {0x0c, 7, 8, 0x90, 1}; /* CFA = rsp + 8, return address at CFA - 8 */
	uint32_t at = here(s);

	buffer_u32(&s->out, 0);
	buffer_u32(&s->out, 0);
	buffer_u8(&s->out, 1);
	buffer_bytes(&s->out, augmentation, strlen(augmentation) + 1);
	buffer_u8(&s->out, 1);
	buffer_u8(&s->out, 0x78);
	buffer_u8(&s->out, 16);
	buffer_u8(&s->out, data_bytes);
	buffer_bytes(&s->out, data, data_bytes);
	buffer_bytes(&s->out, code, sizeof code);
	end_entry(s, at);
	return at;
}

static void put_fde(struct seed *s, uint32_t cie, bool has_lsda, const uint8_t *code, size_t code_bytes)
{
	uint32_t at = here(s);

	s->fdes[s->count] = at;
	buffer_u32(&s->out, 0);
	buffer_u32(&s->out, at + 4 - cie);
	s->starts_at[s->count++] = here(s);
	buffer_u32(&s->out, 0);
	buffer_u32(&s->out, CODE_BYTES);
	buffer_u8(&s->out, has_lsda ? 4 : 0);
	if (has_lsda) {
		s->lsda_at = here(s);
		buffer_u32(&s->out, 0);
	}
	buffer_bytes(&s->out, code, code_bytes);
	end_entry(s, at);
}

static void put_entries(struct seed *s)
{
	static const uint8_t relative[] = {0x1b}, with_pads[] = {0x9b, 0, 0, 0, 0, 0x1b, 0x1b};
	static const uint8_t frame[] = {
		0x41, 0x0e, 16,   0x86, 2,              /* rbp at CFA - 16 */
		0x43, 0x0d, 6,    0x83, 3,              /* CFA is rbp + 16, rbx at CFA - 24 */
		0x02, 10,   0x0a, 0xc3, 0x0c, 7,  8,    /* remember, rbx restored, CFA is rsp + 8 */
		0x41, 0x0b, 0x2e, 16,   0x11, 12, 0x7c, /* recall, r12 at CFA + 32 */
	};
	static const uint8_t expressions[] = {
		0x0f, 11,   0x77, 8, 0x80, 0,    0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22, /* a PLT */
		0x4a, 0x10, 6,    2, 0x76, 0,    0x0f, 3,    0x76, 0x78, 0x06,             /* a realigned stack */
		0x4a, 0x16, 3,    4, 0x12, 0x31, 0x1c, 0x16, 0x09, 14,   13,   0x07, 15,   0x08, 5,
	};
	static const uint8_t signal_frame[] = {
		0x0f, 4, 0x77, 0xa0, 1,    0x06, 0x10, 6,  3, 0x77, 0xf8, 0,
		0x10, 7, 3,    0x77, 0xa0, 1,    0x10, 16, 3, 0x77, 0xa8, 1,
	};
	static const uint8_t plain[] = {0x03, 8, 0, 0x0e, 0x80, 2, 0x04, 8, 0, 0, 0, 0x0e, 8};
	uint32_t cie = put_cie(s, "zR", relative, sizeof relative);

	put_fde(s, cie, false, frame, sizeof frame);
	put_fde(s, cie, false, expressions, sizeof expressions);
	cie = put_cie(s, "zRS", relative, sizeof relative);
	put_fde(s, cie, false, signal_frame, sizeof signal_frame);
	cie = put_cie(s, "zPLR", with_pads, sizeof with_pads);
	put_fde(s, cie, true, plain, sizeof plain);
}

size_t eh_frame_seed_build(uint8_t out[EH_FRAME_SEED_BYTES_MAX])
{
	static const uint8_t header[] = {1, 0x1b, 3, 0x3b};
	static const uint8_t lsda[] = {0xff, 0x9b, 20, 1, 12, 0, 8, 32, 1, 8, 8, 0, 0, 16, 8, 40, 0};
	static const uint8_t ends[] = {0x49, 0x8d, 0x62, 0xf8, 0xc3, 0x48, 0x89, 0xcc, 0x59, 0xff,
				       0xe1, 0x48, 0xc7, 0xc0, 0x0f, 0,    0,    0,    0x0f, 0x05};
	struct seed s = {0};
	size_t len_bytes;

	buffer_bytes(&s.out, header, sizeof header);
	buffer_u32(&s.out, TABLE_AT + FUNCTIONS * 8 - 4);
	buffer_u32(&s.out, FUNCTIONS);
	for (uint32_t i = 0; i < FUNCTIONS; i++)
		buffer_u64(&s.out, 0);
	put_entries(&s);
	buffer_put_u32(&s.out, s.lsda_at, here(&s) - s.lsda_at);
	buffer_bytes(&s.out, lsda, sizeof lsda);
	for (uint32_t i = 0; i < FUNCTIONS; i++) {
		uint32_t start = here(&s);

		buffer_put_u32(&s.out, s.starts_at[i], start - s.starts_at[i]);
		buffer_put_u32(&s.out, TABLE_AT + i * 8, start);
		buffer_put_u32(&s.out, TABLE_AT + i * 8 + 4, s.fdes[i]);
		buffer_bytes(&s.out, ends, sizeof ends);
		while (here(&s) < start + CODE_BYTES)
			buffer_u8(&s.out, 0x90);
	}
	buffer_bytes(&s.out, ends + 11, 9); /* where a handler returns to, without CFI */
	len_bytes = s.out.len_bytes;
	if (len_bytes > EH_FRAME_SEED_BYTES_MAX || buffer_error(&s.out))
		exit(1);
	memcpy(out, s.out.bytes, len_bytes);
	buffer_deinit(&s.out);
	return len_bytes;
}

/*
 * eh_read.h - bounded reads of the bytes of .eh_frame, .eh_frame_hdr and .gcc_except_table.
 *
 * The counterpart of struct cursor for code in other people's processes, without error objects: no allocation, no libc, safe in
 * signal handlers. A read past the end gives 0, marks the reader and leaves nothing to read; a caller asks once, at the end.
 * Source: DWARF 5, section 7.6; Linux Standard Base, "DWARF Exception Header Encoding".
 */
#ifndef WM_NATIVE_EH_READ_H
#define WM_NATIVE_EH_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum eh_encoding {
	EH_ABSOLUTE = 0x00, /* 8 bytes */
	EH_ULEB128 = 0x01,
	EH_UDATA2 = 0x02,
	EH_UDATA4 = 0x03,
	EH_UDATA8 = 0x04,
	EH_SLEB128 = 0x09,
	EH_SDATA2 = 0x0a,
	EH_SDATA4 = 0x0b,
	EH_SDATA8 = 0x0c,
	EH_FORMAT_MASK = 0x0f,

	EH_PC_RELATIVE = 0x10,
	EH_DATA_RELATIVE = 0x30,
	EH_RELATION_MASK = 0x70,
	EH_INDIRECT = 0x80,
	EH_OMITTED = 0xff,
};

struct eh_reader {
	const uint8_t *at;
	const uint8_t *end;
	bool has_failed;
};

static inline size_t eh_left(const struct eh_reader *r)
{
	return (size_t)(r->end - r->at);
}

static inline void eh_fail(struct eh_reader *r)
{
	r->at = r->end;
	r->has_failed = true;
}

/* NULL when there are fewer. */
static inline const uint8_t *eh_take(struct eh_reader *r, uint64_t len_bytes)
{
	const uint8_t *at = r->at;

	if (!at || len_bytes > eh_left(r)) {
		eh_fail(r);
		return NULL;
	}
	r->at += len_bytes;
	return at;
}

/* Little-endian, of at most 8 bytes. 0 when there are fewer. */
static inline uint64_t eh_unsigned(struct eh_reader *r, size_t len_bytes)
{
	const uint8_t *at = eh_take(r, len_bytes);
	uint64_t v = 0;

	if (at)
		memcpy(&v, at, len_bytes);
	return v;
}

static inline uint8_t eh_u8(struct eh_reader *r)
{
	return (uint8_t)eh_unsigned(r, 1);
}

static inline uint16_t eh_u16(struct eh_reader *r)
{
	return (uint16_t)eh_unsigned(r, 2);
}

static inline uint32_t eh_u32(struct eh_reader *r)
{
	return (uint32_t)eh_unsigned(r, 4);
}

static inline uint64_t eh_u64(struct eh_reader *r)
{
	return eh_unsigned(r, 8);
}

/* A number that does not fit 64 bits fails. */
static inline uint64_t eh_uleb(struct eh_reader *r)
{
	uint64_t v = 0;

	for (unsigned int shift = 0; shift < 70; shift += 7) {
		uint8_t byte = eh_u8(r);
		uint64_t bits = byte & 0x7f;

		if (shift == 63 && bits > 1)
			break;
		v |= bits << shift;
		if (!(byte & 0x80))
			return v;
	}
	eh_fail(r);
	return 0;
}

static inline int64_t eh_sleb(struct eh_reader *r)
{
	uint64_t v = 0;

	for (unsigned int shift = 0; shift < 70; shift += 7) {
		uint8_t byte = eh_u8(r);

		if (shift == 63 && byte != 0 && byte != 0x7f)
			break;
		v |= (uint64_t)(byte & 0x7f) << shift;
		if (byte & 0x80)
			continue;
		if (shift < 57 && (byte & 0x40))
			v |= ~UINT64_C(0) << (shift + 7);
		return (int64_t)v;
	}
	eh_fail(r);
	return 0;
}

/*
 * A value of an encoding; data_base is what EH_DATA_RELATIVE is relative to. A stored 0 is 0 (none) whatever it is relative to.
 * Values that would have to be fetched from elsewhere (EH_INDIRECT), EH_OMITTED and relations that x86-64 does not use fail.
 */
static inline uint64_t eh_encoded(struct eh_reader *r, uint8_t encoding, uint64_t data_base)
{
	uint64_t base = 0, v = 0;

	switch (encoding & ~EH_FORMAT_MASK) {
	case 0:
		break;
	case EH_PC_RELATIVE:
		base = (uint64_t)(uintptr_t)r->at;
		break;
	case EH_DATA_RELATIVE:
		base = data_base;
		break;
	default:
		eh_fail(r);
		return 0;
	}
	switch (encoding & EH_FORMAT_MASK) {
	case EH_ABSOLUTE:
	case EH_UDATA8:
	case EH_SDATA8:
		v = eh_u64(r);
		break;
	case EH_ULEB128:
		v = eh_uleb(r);
		break;
	case EH_UDATA2:
		v = eh_u16(r);
		break;
	case EH_UDATA4:
		v = eh_u32(r);
		break;
	case EH_SLEB128:
		v = (uint64_t)eh_sleb(r);
		break;
	case EH_SDATA2:
		v = (uint64_t)(int64_t)(int16_t)eh_u16(r);
		break;
	case EH_SDATA4:
		v = (uint64_t)(int64_t)(int32_t)eh_u32(r);
		break;
	default:
		eh_fail(r);
	}
	return v && !r->has_failed ? base + v : 0;
}

#endif

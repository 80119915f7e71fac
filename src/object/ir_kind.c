/*
 * ir_kind.c - walks over the blocks of a bitcode file and over the records of its modules, as the LLVM Bitcode File Format
 * describes them. It keeps what abbreviations define of sizes alone, and the text of the block IDENTIFICATION.
 *
 *     'B' 'C' c0 de | block | block | ...
 *
 *     block      abbreviation 1, vbr8 number, vbr4 bits of its abbreviations, up to 32 bits, u32 words, words * 4 bytes
 *     in it      0 END_BLOCK | 1 a block | 2 DEFINE_ABBREV | 3 a record: vbr6 code, vbr6 count, vbr6 each | 4.. a record as defined
 */
#include "object/ir_kind.h"

#include <string.h>

enum {
	MAGIC_BYTES = 4,
	TOP_WIDTH = 2, /* bits of an abbreviation outside of blocks */
	END_BLOCK = 0,
	ENTER_SUBBLOCK = 1,
	DEFINE_ABBREV = 2,
	UNABBREV_RECORD = 3,
	FIRST_DEFINED = 4,
	BLOCK_MODULE = 8,
	BLOCK_IDENTIFICATION = 13,
	BLOCK_SUMMARY = 20, /* GLOBALVAL_SUMMARY_BLOCK; that of full LTO has another number */
	ABBREVS_MAX = 64,
	OPERANDS_MAX = 32,
	PRODUCER_MAX = 32,
	WIDTH_MAX = 64,
};

enum encoding {
	ENCODING_LITERAL = 0,
	ENCODING_FIXED = 1,
	ENCODING_VBR = 2,
	ENCODING_ARRAY = 3, /* of what the next operand says */
	ENCODING_CHAR6 = 4,
	ENCODING_BLOB = 5,
};

struct operand {
	uint8_t encoding;
	uint8_t width;
	uint64_t literal;
};

struct abbreviation {
	unsigned int count;
	struct operand operands[OPERANDS_MAX];
};

struct bits {
	const uint8_t *bytes;
	uint64_t len_bits;
	uint64_t at;
	bool is_bad; /* something did not fit; from then on all reads give 0 */
};

/* A block's abbreviations, and the values of the record that was read last. */
struct block {
	struct abbreviation abbreviations[ABBREVS_MAX];
	unsigned int count;
	unsigned int width;
	uint64_t values[PRODUCER_MAX]; /* code first; what is more is passed over */
	unsigned int value_count;
};

static uint64_t read_fixed(struct bits *b, unsigned int width)
{
	uint64_t value = 0;

	if (b->is_bad || width > WIDTH_MAX || width > b->len_bits - b->at) {
		b->is_bad = true;
		return 0;
	}
	for (unsigned int done = 0; done < width;) {
		unsigned int skip = b->at % 8, take = 8 - skip;

		if (take > width - done)
			take = width - done;
		value |= (uint64_t)(b->bytes[b->at / 8] >> skip & ((UINT64_C(1) << take) - 1)) << done;
		done += take;
		b->at += take;
	}
	return value;
}

/* width - 1 bits a piece, lowest first; the highest says that another one follows. */
static uint64_t read_vbr(struct bits *b, unsigned int width)
{
	uint64_t value = 0, more, piece;
	unsigned int shift = 0;

	if (width < 2 || width > 32) {
		b->is_bad = true;
		return 0;
	}
	more = UINT64_C(1) << (width - 1);
	do {
		piece = read_fixed(b, width);
		if (shift < 64)
			value |= (piece & (more - 1)) << shift;
		shift += width - 1;
	} while (piece & more);
	return value;
}

static void align(struct bits *b)
{
	uint64_t at = (b->at + 31) / 32 * 32;

	if (at > b->len_bits)
		b->is_bad = true;
	else
		b->at = at;
}

static void skip_bytes(struct bits *b, uint64_t count)
{
	if (b->is_bad || count > (b->len_bits - b->at) / 8)
		b->is_bad = true;
	else
		b->at += count * 8;
}

static void add_value(struct block *block, uint64_t value)
{
	if (block->value_count < PRODUCER_MAX)
		block->values[block->value_count++] = value;
}

static void define_abbreviation(struct bits *b, struct block *block)
{
	uint64_t count = read_vbr(b, 5);
	struct abbreviation *a = &block->abbreviations[block->count];

	if (block->count == ABBREVS_MAX || !count || count > OPERANDS_MAX) {
		b->is_bad = true;
		return;
	}
	block->count++;
	*a = (struct abbreviation){.count = (unsigned int)count};
	for (unsigned int i = 0; i < a->count && !b->is_bad; i++) {
		struct operand *o = &a->operands[i];

		if (read_fixed(b, 1)) {
			o->literal = read_vbr(b, 8);
			continue;
		}
		o->encoding = (uint8_t)read_fixed(b, 3);
		if (o->encoding == ENCODING_FIXED || o->encoding == ENCODING_VBR) {
			uint64_t width = read_vbr(b, 5);

			o->width = width > WIDTH_MAX ? WIDTH_MAX : (uint8_t)width;
		}
		b->is_bad |= o->encoding < ENCODING_FIXED || o->encoding > ENCODING_BLOB ||
			     (o->encoding == ENCODING_ARRAY && i + 2 != a->count);
	}
}

static uint64_t read_char6(struct bits *b)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._";

	return (uint64_t)letters[read_fixed(b, 6)];
}

static uint64_t read_operand(struct bits *b, const struct operand *o)
{
	switch (o->encoding) {
	case ENCODING_LITERAL:
		return o->literal;
	case ENCODING_FIXED:
		return read_fixed(b, o->width);
	case ENCODING_VBR: /* of no width: 0 */
		return o->width ? read_vbr(b, o->width) : 0;
	case ENCODING_CHAR6:
		return read_char6(b);
	default:
		b->is_bad = true;
		return 0;
	}
}

static void read_defined(struct bits *b, struct block *block, const struct abbreviation *a)
{
	for (unsigned int i = 0; i < a->count && !b->is_bad; i++) {
		const struct operand *o = &a->operands[i];
		uint64_t count;

		if (o->encoding == ENCODING_ARRAY) {
			count = read_vbr(b, 6);
			/* An element of no bits could be there any number of times. */
			b->is_bad |= count > b->len_bits - b->at;
			for (uint64_t j = 0; j < count && !b->is_bad; j++)
				add_value(block, read_operand(b, o + 1));
			return;
		}
		if (o->encoding == ENCODING_BLOB) {
			count = read_vbr(b, 6);
			align(b);
			skip_bytes(b, count);
			align(b);
		} else {
			add_value(block, read_operand(b, o));
		}
	}
}

static void read_record(struct bits *b, struct block *block, uint64_t abbreviation)
{
	block->value_count = 0;
	if (abbreviation != UNABBREV_RECORD) {
		if (abbreviation - FIRST_DEFINED >= block->count)
			b->is_bad = true;
		else
			read_defined(b, block, &block->abbreviations[abbreviation - FIRST_DEFINED]);
		return;
	}
	add_value(block, read_vbr(b, 6));
	for (uint64_t count = read_vbr(b, 6); count && !b->is_bad; count--)
		add_value(block, read_vbr(b, 6));
}

/* The head of a block behind its abbreviation: its number. *ret_width: bits of its abbreviations; *ret_end: where it ends. */
static uint64_t enter(struct bits *b, unsigned int *ret_width, uint64_t *ret_end)
{
	uint64_t number = read_vbr(b, 8), width = read_vbr(b, 4), words;

	align(b);
	words = read_fixed(b, 32);
	b->is_bad |= width < 2 || width > 32 || words > (b->len_bits - b->at) / 32;
	*ret_width = (unsigned int)width;
	*ret_end = b->is_bad ? b->at : b->at + words * 32;
	return number;
}

/* "LLVM19.1.7": record 1, a character each. */
static void note_producer(const struct block *block, struct ir_kind *ret)
{
	static const char name[] = "LLVM";
	unsigned int i = 1;

	if (!block->value_count || block->values[0] != 1)
		return;
	for (; i < sizeof name && i < block->value_count; i++)
		if (block->values[i] != (unsigned char)name[i - 1])
			return;
	ret->major = 0;
	for (; i < block->value_count && block->values[i] >= '0' && block->values[i] <= '9' && ret->major < 10000; i++)
		ret->major = ret->major * 10 + (uint32_t)(block->values[i] - '0');
}

static void read_block(struct bits *b, uint64_t number, unsigned int width, uint64_t end, struct ir_kind *ret)
{
	struct block block = {.width = width};

	while (!b->is_bad && b->at < end) {
		uint64_t abbreviation = read_fixed(b, block.width), inner_end;
		unsigned int inner_width;

		if (abbreviation == END_BLOCK)
			break;
		if (abbreviation == ENTER_SUBBLOCK) {
			ret->is_thin |= enter(b, &inner_width, &inner_end) == BLOCK_SUMMARY && number == BLOCK_MODULE;
			b->at = inner_end;
		} else if (abbreviation == DEFINE_ABBREV) {
			define_abbreviation(b, &block);
		} else {
			read_record(b, &block, abbreviation);
			if (number == BLOCK_IDENTIFICATION)
				note_producer(&block, ret);
		}
	}
}

bool ir_kind_begins(const void *bytes, size_t len_bytes)
{
	static const char magic[MAGIC_BYTES] = {'B', 'C', (char)0xc0, (char)0xde};

	return len_bytes >= MAGIC_BYTES && !memcmp(bytes, magic, MAGIC_BYTES);
}

bool ir_kind_read(const void *bytes, size_t len_bytes, struct ir_kind *ret)
{
	struct bits b = {.bytes = bytes, .len_bits = (uint64_t)len_bytes / 4 * 32, .at = MAGIC_BYTES * 8};
	struct ir_kind found = {0};

	if (!ir_kind_begins(bytes, len_bytes))
		return false;
	while (!b.is_bad && b.len_bits - b.at >= 64) {
		unsigned int width;
		uint64_t number, end;

		if (read_fixed(&b, TOP_WIDTH) != ENTER_SUBBLOCK)
			return false;
		number = enter(&b, &width, &end);
		if (!b.is_bad && (number == BLOCK_MODULE || number == BLOCK_IDENTIFICATION))
			read_block(&b, number, width, end, &found);
		if (!b.is_bad)
			b.at = end;
	}
	if (b.is_bad)
		return false;
	*ret = found;
	return true;
}

/*
 * ir_symbols.c - finds the blocks SYMTAB and STRTAB of a bitcode file and reads the table of symbols.
 *
 *     'B' 'C' c0 de | block | block | ...      each: u32 head, u32 words, words * 4 bytes
 *
 *     head       2 bits ENTER_SUBBLOCK, vbr8 number of the block, vbr4, up to the end of the u32
 *     contents   of SYMTAB and STRTAB: one blob
 *                    21 bits that define its abbreviation, 3 bits that use it, vbr6 length, up to the end of the u32; bytes
 *
 * SYMTAB's blob is a struct storage::Header of llvm/Object/IRSymtab.h and what it refers to, in u32. Names are (offset, size)
 * in STRTAB's blob.
 */
#include "object/ir_symbols.h"

#include "base/cursor.h"

enum {
	MAGIC = 0xdec04342,
	ENTER_SUBBLOCK = 1,
	BLOCK_STRTAB = 23,
	BLOCK_SYMTAB = 25,
	BLOB_START = 0x940312, /* define abbreviation 4 as [literal 1, blob], use abbreviation 4 */
	TABLE_VERSION = 3,
	HEADER_SYMBOLS_OFF = 28, /* version, producer, modules, comdats are in front */
	SYMBOL_BYTES = 24,
	SYMBOL_FLAGS_OFF = 20,
	FLAG_UNDEFINED = 1u << 3,
	FLAG_WEAK = 1u << 4,
	FLAG_MAY_OMIT = 1u << 9,
	FLAG_GLOBAL = 1u << 10,
	FLAG_FORMAT_SPECIFIC = 1u << 11,
};

struct blob {
	const uint8_t *bytes;
	uint32_t len_bytes;
};

/* vbr6: five bits a piece, lowest first; the sixth says that another one follows. */
static struct error *read_blob(struct cursor *c, struct blob *ret)
{
	uint64_t bits, len_bytes = 0;
	unsigned int shift = 24, piece = 0;
	size_t start = c->off;
	struct error *err = cursor_u64(c, &bits);

	if (err)
		return err;
	if ((bits & 0xffffff) != BLOB_START)
		return cursor_error(c, "the block has not one blob");
	for (; piece < 6; piece++, shift += 6) {
		len_bytes |= (bits >> shift & 31) << (5 * piece);
		if (!(bits >> shift & 32))
			break;
	}
	if (piece == 6)
		return cursor_error(c, "a blob of this length is not possible");
	err = cursor_seek(c, start + (shift + 6 + 31) / 32 * 4);
	if (!err)
		err = cursor_bytes(c, (size_t)len_bytes, &ret->bytes);
	if (!err)
		ret->len_bytes = (uint32_t)len_bytes;
	return err;
}

static struct error *read_block(struct cursor *c, struct blob *symbols, struct blob *strings)
{
	const uint8_t *bytes;
	uint32_t head, words;
	size_t at = c->off;
	struct cursor in;
	struct error *err = cursor_u32(c, &head);

	if (!err)
		err = cursor_u32(c, &words);
	if (!err && ((head & 3) != ENTER_SUBBLOCK || (head >> 2 & 128)))
		err = cursor_error(c, "no block of a bitcode file");
	if (!err)
		err = cursor_bytes(c, (size_t)words * 4, &bytes);
	if (err)
		return err;
	cursor_init(&in, c->start, c->off, c->name);
	err = cursor_seek(&in, at + 8);
	if (!err && (head >> 2 & 127) == BLOCK_SYMTAB)
		err = read_blob(&in, symbols);
	else if (!err && (head >> 2 & 127) == BLOCK_STRTAB)
		err = read_blob(&in, strings);
	return err;
}

static struct error *read_symbol(struct cursor *c, const struct blob *strings, struct ir_symbol_vec *ret)
{
	uint32_t off = 0, len_bytes = 0, flags = 0;
	size_t start = c->off;
	struct error *err;

	err = cursor_u32(c, &off) ?:
	      cursor_u32(c, &len_bytes) ?:
	      cursor_seek(c, start + SYMBOL_FLAGS_OFF) ?:
	      cursor_u32(c, &flags);
	if (!err && (off > strings->len_bytes || len_bytes > strings->len_bytes - off))
		err = cursor_error(c, "a name is outside of the strings");
	if (err)
		return err;
	return ir_symbol_vec_append(ret, (struct ir_symbol){
						 .name = (const char *)strings->bytes + off,
						 .len_bytes = len_bytes,
						 .is_undefined = flags & FLAG_UNDEFINED,
						 .is_weak = flags & (FLAG_WEAK | FLAG_MAY_OMIT),
						 .is_special = flags & FLAG_FORMAT_SPECIFIC ||
							       !(flags & (FLAG_GLOBAL | FLAG_UNDEFINED)),
					 });
}

/* Where the symbols are, and how many. */
static struct error *read_header(struct cursor *c, uint32_t *ret_off, uint32_t *ret_count)
{
	uint32_t version = 0;
	struct error *err = cursor_u32(c, &version);

	if (err)
		return err;
	if (version != TABLE_VERSION)
		return cursor_error(c, "symbols of format %u are not known", version);
	err = cursor_seek(c, HEADER_SYMBOLS_OFF);
	if (err)
		return err;
	err = cursor_u32(c, ret_off);
	return err ? err : cursor_u32(c, ret_count);
}

static struct error *read_table(const struct blob *table, const struct blob *strings, const char *name,
				struct ir_symbol_vec *ret)
{
	uint32_t off = 0, count = 0;
	struct cursor c;
	struct error *err;

	cursor_init(&c, table->bytes, table->len_bytes, name);
	err = read_header(&c, &off, &count);
	if (err)
		return err;
	err = cursor_seek(&c, off);
	if (err)
		return err;
	if (count > cursor_left(&c) / SYMBOL_BYTES)
		return cursor_error(&c, "%u symbols cannot be in it", count);
	for (uint32_t i = 0; i < count && !err; i++)
		err = read_symbol(&c, strings, ret);
	return err;
}

struct error *ir_symbols_read(const void *bytes, size_t len_bytes, const char *name, struct ir_symbol_vec *ret)
{
	struct ir_symbol_vec symbols = {0};
	struct blob table = {0}, strings = {0};
	uint32_t magic = 0;
	struct cursor c;
	struct error *err;

	cursor_init(&c, bytes, len_bytes, name);
	err = cursor_u32(&c, &magic);
	if (!err && magic != MAGIC)
		err = cursor_error(&c, "no bitcode");
	while (!err && cursor_left(&c) >= 8)
		err = read_block(&c, &table, &strings);
	if (!err && (!table.bytes || !strings.bytes))
		err = cursor_error(&c, "no table of symbols");
	if (!err)
		err = read_table(&table, &strings, name, &symbols);
	if (err)
		ir_symbol_vec_deinit(&symbols);
	else
		*ret = symbols;
	return err;
}

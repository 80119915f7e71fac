/* template_seed.c - words and bytes in the order of the format. */
#include "jvm/template_seed.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "jvm/c/classes/template.h"

#define METHOD_CONSTANT UINT64_C(0x57a6d1c3e5000000)
#define SITE_CONSTANT UINT64_C(0x57a6d1c3e6000000)
#define MASK_CONSTANT UINT64_C(0x57a6d1c3e7000000)

enum {
	MAX_BYTES = 4096,
};

const uint8_t seed_code[] = {
	0x14, 0, SEED_METHOD, 0x65, 0x5c, 0x42,      0x14, 0, SEED_MASK, 0x7f, /* 0: ldc2_w, lsub, dup2, lstore_3, ldc2_w, land */
	0xaa, 0, 0,           0,    0,    0,         0,    0, 0,         1,    0,
	0,    0, 2,           0,    0,    0,         0,    0, 0,         0,    0, /* 10: tableswitch, of 1 and 2 */
	0x10, 0, 0x79,        0x14, 0,    SEED_SITE,                              /* 32: bipush, lshl, ldc2_w */
	0x14, 0, SEED_OTHER,                                                      /* 38 */
	0x10, 0, 0x79,        0x14, 0,    SEED_SITE,                              /* 41 */
	0xb1,                                                                     /* 47: return */
};
const size_t seed_code_len = sizeof seed_code;

struct bytes {
	uint8_t *items;
	size_t len;
};

static void put(struct bytes *b, const void *items, size_t len)
{
	memcpy(b->items + b->len, items, len);
	b->len += len;
}

/* The highest byte first. */
static void put_number(struct bytes *b, uint64_t number, unsigned int bytes)
{
	while (bytes-- > 0)
		b->items[b->len++] = (uint8_t)(number >> 8 * bytes);
}

static void put_long(struct bytes *b, uint64_t number)
{
	put_number(b, 5, 1);
	put_number(b, number, 8);
}

static void put_class_file(struct bytes *b, const uint8_t *code, size_t code_len, bool has_mask)
{
	put_number(b, 0xcafebabe0000003d, 8);
	put_number(b, has_mask ? 10 : 8, 2);
	put_number(b, 0x010004, 3);
	put(b, "Code", 4);
	put_long(b, METHOD_CONSTANT);
	put_long(b, SITE_CONSTANT);
	put_long(b, 7);
	if (has_mask)
		put_long(b, MASK_CONSTANT);
	put_number(b, 0, 8); /* access, this, super, interfaces */
	put_number(b, 0, 2);
	put_number(b, 1, 2);
	put_number(b, 0, 6); /* one method */
	put_number(b, 1, 2);
	put_number(b, 1, 2);
	put_number(b, 12 + code_len, 4);
	put_number(b, 0, 4);
	put_number(b, code_len, 4);
	put(b, code, code_len);
	put_number(b, 0, 4);
	put_number(b, 0, 2);
}

static void pad(struct bytes *b)
{
	while (b->len % 4)
		put_number(b, 0, 1);
}

void *template_seed(const uint8_t *code, size_t code_len, uint32_t flags, size_t *len)
{
	static const char texts[] = "boot\0A\0f\0()V\0f()V";
	const uint32_t strings[] = {0, 5, 7, 9, 13};
	struct jvm_template_header header = {.magic = JVM_TEMPLATE_MAGIC,
					     .methods = 1,
					     .sites = 1,
					     .strings = 5,
					     .text_bytes = sizeof texts,
					     .loader = 0,
					     .name = 1,
					     .file = JVM_TEMPLATE_NONE};
	const struct jvm_template_method method = {.name = 2,
						   .descriptor = 3,
						   .space = 4,
						   .line = 7,
						   .undoes = JVM_TEMPLATE_NONE,
						   .flags = flags,
						   .sites = 1};
	const struct jvm_template_site site = {.kind = 3,
					       .space_kind = JVM_SPACE_NAMED,
					       .space = 4,
					       .position = 40,
					       .line = 8,
					       .callee = JVM_TEMPLATE_NONE,
					       .constructor = JVM_TEMPLATE_NONE};
	struct bytes b = {calloc(1, MAX_BYTES), sizeof header};
	size_t begin;

	put(&b, &method, sizeof method);
	put(&b, &site, sizeof site);
	put(&b, strings, sizeof strings);
	put(&b, texts, sizeof texts);
	pad(&b);
	begin = b.len;
	put_class_file(&b, code, code_len, flags & JVM_METHOD_HAS_CODES);
	header.class_bytes = (uint32_t)(b.len - begin);
	pad(&b);
	header.bytes = (uint32_t)b.len;
	memcpy(b.items, &header, sizeof header);
	*len = b.len;
	return realloc(b.items, b.len);
}

/*
 * test_template.c - the places for numbers are found in what the rewriter makes; what is missing, twice or elsewhere is refused, and so are
 * cuts; a word that points anywhere leads nowhere outside.
 */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "jvm/c/classes/class_reader.h"
#include "jvm/c/classes/template.h"
#include "jvm/template_seed.h"

enum {
	HAS_BOTH = JVM_METHOD_HAS_NUMBER | JVM_METHOD_HAS_CODES,
	MAX_CODE = 128,
};

static bool is_located(const uint8_t *code, size_t code_len, uint32_t flags)
{
	size_t len;
	void *bytes = template_seed(code, code_len, flags, &len);
	struct jvm_template t;
	bool ret = jvm_template_locate(&bytes, &len) && jvm_template_open(bytes, len, &t);

	free(bytes);
	return ret;
}

/* The seed's code with one byte changed. */
static bool is_located_with(size_t at, uint8_t byte, uint32_t flags)
{
	uint8_t code[MAX_CODE];

	memcpy(code, seed_code, seed_code_len);
	code[at] = byte;
	return is_located(code, seed_code_len, flags);
}

static void test_places(void)
{
	size_t len;
	void *bytes = template_seed(seed_code, seed_code_len, HAS_BOTH, &len);
	struct jvm_template t;
	const uint8_t *code;

	CHECK(jvm_template_locate(&bytes, &len));
	CHECK(jvm_template_open(bytes, len, &t));
	code = t.class_file + t.header->class_bytes - 6 - seed_code_len;
	CHECK(memcmp(code, seed_code, seed_code_len) == 0);
	CHECK(memcmp(t.class_file + t.methods[0].number_at, "\x57\xa6\xd1\xc3\xe5\0\0\0", 8) == 0);
	CHECK(memcmp(t.class_file + t.sites[0].number_at, "\x57\xa6\xd1\xc3\xe6\0\0\0", 8) == 0);
	CHECK(memcmp(t.class_file + t.methods[0].mask_at, "\x57\xa6\xd1\xc3\xe7\0\0\0", 8) == 0);
	CHECK_U64(t.header->stores, 2);
	CHECK(t.class_file + t.stores[0].length_at == code + 33);
	CHECK(t.class_file + t.stores[1].length_at == code + 42);
	CHECK_TEXT(jvm_template_text(&t, t.header->name), "A");
	CHECK_TEXT(jvm_template_text(&t, t.methods[0].space), "f()V");
	CHECK(!jvm_template_text(&t, t.header->file));
	/* Once. */
	CHECK(!jvm_template_locate(&bytes, &len));
	free(bytes);
}

static void test_refused(void)
{
	CHECK(is_located_with(0, 0x14, HAS_BOTH));
	CHECK(!is_located_with(32, 0x11, HAS_BOTH));
	CHECK(!is_located_with(34, 0x78, HAS_BOTH));
	CHECK(!is_located_with(9, 0xca, HAS_BOTH));  /* no instruction */
	CHECK(!is_located_with(21, 0x7f, HAS_BOTH)); /* a switch that is longer than the code */
	/* A method whose contexts are not known has no place, and others must have one. */
	CHECK(!is_located(seed_code, seed_code_len, JVM_METHOD_HAS_CODES));
}

/* By Lucce there are numbers alone. */
static void test_numbers(void)
{
	CHECK(is_located(seed_code, seed_code_len, JVM_METHOD_HAS_NUMBER));
	CHECK(is_located_with(32, 0x11, JVM_METHOD_HAS_NUMBER));
}

static uint32_t use(const struct jvm_template *t)
{
	uint32_t ret = 0;

	for (uint32_t i = 0; i < t->header->methods; i++)
		ret += (uint32_t)strlen(jvm_template_text(t, t->methods[i].space)) +
		       t->class_file[t->methods[i].number_at] + t->class_file[t->methods[i].mask_at + 7];
	for (uint32_t i = 0; i < t->header->sites; i++)
		ret += t->class_file[t->sites[i].number_at + 7];
	for (uint32_t i = 0; i < t->header->stores; i++)
		ret += t->class_file[t->stores[i].length_at] + t->sites[t->stores[i].site].line;
	return ret;
}

static void test_damage(void)
{
	static const uint32_t values[] = {0, 1, 4, 255, 4096, INT32_MAX, UINT32_MAX};
	size_t len;
	void *bytes = template_seed(seed_code, seed_code_len, HAS_BOTH, &len);
	struct jvm_template t;
	uint32_t used = 0;

	CHECK(jvm_template_locate(&bytes, &len));
	for (size_t cut = 0; cut < len; cut++)
		CHECK(!jvm_template_open(bytes, cut, &t));
	for (size_t at = 0; at + 4 <= len; at += 4)
		for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
			uint32_t *word = (uint32_t *)((char *)bytes + at), before = *word;

			*word = values[i];
			if (jvm_template_open(bytes, len, &t))
				used += use(&t);
			*word = before;
		}
	CHECK(used);
	free(bytes);
}

static void test_instructions(void)
{
	static const uint8_t tables[] = {0xab, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 2, 2, 2, 2};
	static const uint8_t wides[] = {0xc4, 0x84, 0, 1, 0, 1, 0xc4, 0x15, 0, 1};

	CHECK_U64(class_instruction_bytes(tables, sizeof tables, 0), 20);
	CHECK_U64(class_instruction_bytes(tables, sizeof tables - 1, 0), 0);
	CHECK_U64(class_instruction_bytes(tables, 6, 0), 0);
	CHECK_U64(class_instruction_bytes(wides, sizeof wides, 0), 6);
	CHECK_U64(class_instruction_bytes(wides, sizeof wides, 6), 4);
	CHECK_U64(class_instruction_bytes(wides, 1, 0), 0);
	CHECK_U64(class_instruction_bytes(wides, sizeof wides, sizeof wides), 0);
}

int main(void)
{
	test_places();
	test_refused();
	test_numbers();
	test_damage();
	test_instructions();
	return check_status();
}

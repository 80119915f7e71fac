/*
 * test_class_check.c - a class that is whole is taken, and no longer with any byte more or less, nor with what rewriting would mend. That
 * the virtual machine has the same opinion of thousands of damaged classes is for mutants.sh.
 */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "jvm/c/classes/class_check.h"
#include "jvm/class_seed.h"

enum {
	ILOAD_0 = 0,
	IFEQ_TARGET = 3,
	ICONST_1 = 4,
	GOTO = 0xa7,
	ICONST_0 = 0x03,
	ILOAD_1 = 0x1b,
	LLOAD_0 = 0x1e,
	LDC = 0x12,
	UNKNOWN = 0xcb,
};

/* With the byte `from_end` from the end changed. */
static bool is_whole_with(size_t from_end, uint8_t byte)
{
	uint8_t *copy = malloc(class_seed_len);
	bool ret;

	if (!copy)
		abort();
	memcpy(copy, class_seed, class_seed_len);
	copy[class_seed_len - from_end] = byte;
	ret = jvm_class_is_whole(copy, class_seed_len);
	free(copy);
	return ret;
}

/* With a byte of the code changed. */
static bool is_whole_with_code(size_t at, uint8_t byte)
{
	return is_whole_with(CLASS_SEED_CODE - at, byte);
}

static void test_lengths(void)
{
	uint8_t *longer = calloc(class_seed_len + 1, 1);

	if (!longer)
		abort();
	memcpy(longer, class_seed, class_seed_len);
	CHECK(jvm_class_is_whole(longer, class_seed_len));
	CHECK(!jvm_class_is_whole(longer, class_seed_len + 1));
	for (size_t len = 0; len < class_seed_len; len++) {
		uint8_t *part = malloc(len + 1);

		if (!part)
			abort();
		memcpy(part, longer, len);
		CHECK(!jvm_class_is_whole(part, len));
		free(part);
	}
	free(longer);
}

static void test_code(void)
{
	CHECK(is_whole_with(CLASS_SEED_STACK, 2));
	CHECK(!is_whole_with(CLASS_SEED_STACK, 0));
	CHECK(!is_whole_with(CLASS_SEED_LOCALS, 0));
	CHECK(!is_whole_with(CLASS_SEED_CODE_LENGTH, 40));
	CHECK(!is_whole_with(CLASS_SEED_CODE_LENGTH, 42));
	CHECK(!is_whole_with_code(IFEQ_TARGET, 1)); /* into the middle of itself */
	CHECK(!is_whole_with_code(IFEQ_TARGET, 7)); /* behind the end */
	CHECK(is_whole_with_code(ICONST_1, ICONST_0));
	CHECK(!is_whole_with_code(ICONST_1, UNKNOWN));
	CHECK(!is_whole_with_code(ICONST_1, LDC)); /* its number is that of nothing */
	CHECK(!is_whole_with_code(ILOAD_0, ILOAD_1));
	CHECK(!is_whole_with_code(ILOAD_0, LLOAD_0));
	CHECK(!is_whole_with_code(ILOAD_0, GOTO)); /* what comes behind is no instruction */
}

static void test_attributes(void)
{
	CHECK(is_whole_with(CLASS_SEED_FRAME, 4));
	CHECK(!is_whole_with(CLASS_SEED_FRAME, 3)); /* in the middle of an instruction */
	CHECK(!is_whole_with(CLASS_SEED_FRAME, 130));
	CHECK(is_whole_with(CLASS_SEED_LINE, 7));
	CHECK(!is_whole_with(CLASS_SEED_LINE, 8));
	CHECK(!is_whole_with(1, 1)); /* an attribute of the class that is not there */
}

int main(void)
{
	test_lengths();
	test_code();
	test_attributes();
	return check_status();
}

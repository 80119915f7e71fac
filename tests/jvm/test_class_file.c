/* test_class_file.c - fields and methods that are added to class files, byte by byte; every cut of a class file is refused or copied. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "jvm/c/classes/class_file.h"

/* class A extends B { long f; }, with a constant of each length. */
static const uint8_t class_before[] = {
	0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 61,                         /* magic, version */
	0,    14,                                                    /* constants: 1 to 13 */
	1,    0,    1,    'A',                                       /* 1 */
	7,    0,    1,                                               /* 2: class */
	1,    0,    1,    'B',                                       /* 3 */
	7,    0,    3,                                               /* 4 */
	5,    1,    2,    3,    4, 5, 6, 7,  8,                      /* 5 and 6: long */
	15,   1,    0,    1,                                         /* 7: method handle */
	1,    0,    0,                                               /* 8: empty */
	3,    0,    0,    0,    9,                                   /* 9: int */
	6,    1,    2,    3,    4, 5, 6, 7,  8,                      /* 10 and 11: double */
	12,   0,    1,    0,    3,                                   /* 12 */
	16,   0,    1,                                               /* 13 */
	0,    0x21, 0,    2,    0, 4,                                /* access, this, super */
	0,    1,    0,    2,                                         /* interfaces */
	0,    1,                                                     /* fields */
	0,    1,    0,    1,    0, 3, 0, 1,  0, 8, 0, 0, 0, 2, 9, 9, /* one, with an attribute of two bytes */
	0,    0,    0,    0,                                         /* no methods, no attributes */
};

static const struct class_file_field added_fields[] = {{"xy", "[I", 0x1081}, {"z", "J", 1}};
static const struct class_file_forward added_methods[] = {{"p", "T", 0x1009}, {"q", "T", 9}};
static const struct class_file_addition added = {added_fields, 2, added_methods, 2};

#define ANNOTATIONS "RuntimeVisibleAnnotations"
#define FORCE_INLINE "Ljdk/internal/vm/annotation/ForceInline;"

/* 14 to 17: names and descriptors of the fields; 18 and 19: of all methods, as what follows. */
static const uint8_t constants_after[] = {
	1, 0, 2, 'x', 'y', 1,   0,   2, '[', 'I', 1,   0,   1,   'z', 1, 0, 1, 'J', /* fields */
	1, 0, 4, '(', 'J', ')', 'J', 1, 0,   4,   'C', 'o', 'd', 'e',               /* 18 and 19 */
};
static const uint8_t annotations_after[] = "\x01\0\x19" ANNOTATIONS "\x01\0\x28" FORCE_INLINE; /* 20 and 21 */
/* Of each method: name, target, class, name and type, method. */
static const uint8_t references_after[] = {
	1, 0, 1, 'p', 1, 0, 1, 'T', 7, 0, 23, 12, 0, 22, 0, 18, 10, 0, 24, 0, 25, /* 22 to 26 */
	1, 0, 1, 'q', 1, 0, 1, 'T', 7, 0, 28, 12, 0, 27, 0, 18, 10, 0, 29, 0, 30, /* 27 to 31 */
};
static const uint8_t fields_after[] = {0x10, 0x81, 0, 14, 0, 15, 0, 0, 0, 1, 0, 16, 0, 17, 0, 0};
static const uint8_t methods_after[] = {
	0,    2,                                              /* their number */
	0x10, 9,    0, 22, 0,    18, 0, 2,                    /* access, name, descriptor, two attributes */
	0,    19,   0, 0,  0,    17, 0, 2, 0, 2,  0, 0, 0, 5, /* Code: 2 on the stack, 2 locals, 5 bytes */
	0x1e, 0xb8, 0, 26, 0xad, 0,  0, 0, 0,                 /* lload_0, invokestatic, lreturn; nothing else */
	0,    20,   0, 0,  0,    6,  0, 1, 0, 21, 0, 0,       /* one annotation, without values */
	0,    9,    0, 27, 0,    18, 0, 2,                    /* the other one */
	0,    19,   0, 0,  0,    17, 0, 2, 0, 2,  0, 0, 0, 5, /**/
	0x1e, 0xb8, 0, 31, 0xad, 0,  0, 0, 0,                 /**/
	0,    20,   0, 0,  0,    6,  0, 1, 0, 21, 0, 0,       /**/
	0,    0,                                              /* attributes of the class */
};

enum {
	REST_BYTES = 4,
	FIELDS_OFF = sizeof class_before - REST_BYTES - 18, /* their number */
	POOL_END = FIELDS_OFF - 10,
	ANNOTATIONS_BYTES = sizeof annotations_after - 1, /* without the end of the string */
	ADDED_BYTES = sizeof constants_after + ANNOTATIONS_BYTES + sizeof references_after + sizeof fields_after +
		      sizeof methods_after - REST_BYTES,
	AFTER_BYTES = sizeof class_before + ADDED_BYTES,
};

static void make_after(uint8_t *out)
{
	memcpy(out, class_before, POOL_END);
	out[9] = 32;
	out += POOL_END;
	memcpy(out, constants_after, sizeof constants_after);
	out += sizeof constants_after;
	memcpy(out, annotations_after, ANNOTATIONS_BYTES);
	out += ANNOTATIONS_BYTES;
	memcpy(out, references_after, sizeof references_after);
	out += sizeof references_after;
	memcpy(out, class_before + POOL_END, sizeof class_before - REST_BYTES - POOL_END);
	out[FIELDS_OFF - POOL_END + 1] = 3;
	out += sizeof class_before - REST_BYTES - POOL_END;
	memcpy(out, fields_after, sizeof fields_after);
	memcpy(out + sizeof fields_after, methods_after, sizeof methods_after);
}

static void test_bytes(void)
{
	uint8_t wanted[AFTER_BYTES], got[AFTER_BYTES];

	make_after(wanted);
	CHECK_U64(class_file_added_bytes(&added), ADDED_BYTES);
	CHECK(class_file_add(class_before, sizeof class_before, &added, got) == CLASS_FILE_OK);
	CHECK(memcmp(wanted, got, sizeof got) == 0);
}

/* In memory of their own, so that a sanitizer sees reads behind the end. */
static void test_cuts(void)
{
	for (size_t len = 0; len < sizeof class_before; len++) {
		uint8_t *bytes = malloc(len ? len : 1), *out = malloc(len + ADDED_BYTES);
		bool is_whole = len >= sizeof class_before - REST_BYTES + 2; /* with the number of methods */

		memcpy(bytes, class_before, len);
		CHECK((class_file_add(bytes, len, &added, out) == CLASS_FILE_OK) == is_whole);
		free(bytes);
		free(out);
	}
}

static void test_damaged(void)
{
	uint8_t bytes[sizeof class_before], out[AFTER_BYTES];

	memcpy(bytes, class_before, sizeof bytes);
	bytes[10] = 2; /* no such constant */
	CHECK(class_file_add(bytes, sizeof bytes, &added, out) == CLASS_FILE_DAMAGED);
	memcpy(bytes, class_before, sizeof bytes);
	bytes[8] = bytes[9] = 0;
	CHECK(class_file_add(bytes, sizeof bytes, &added, out) == CLASS_FILE_DAMAGED);
}

/* Constants of three bytes: there is room for the methods, and for one name and its descriptor only. */
static void test_full(void)
{
	enum {
		CONSTANTS = 65533 - 14,
		LEN = 10 + 3 * (CONSTANTS - 1) + 14
	};
	const struct class_file_addition one = {added_fields, 1, added_methods, 2};
	uint8_t *bytes = calloc(1, LEN), *out = malloc(LEN + ADDED_BYTES);

	memcpy(bytes, class_before, 8);
	bytes[8] = CONSTANTS >> 8;
	bytes[9] = CONSTANTS & 0xff;
	for (size_t i = 0; i < CONSTANTS - 1; i++)
		bytes[10 + 3 * i] = 7;
	CHECK(class_file_add(bytes, LEN, &added, out) == CLASS_FILE_FULL);
	CHECK(class_file_add(bytes, LEN, &one, out) == CLASS_FILE_OK);
	free(bytes);
	free(out);
}

int main(void)
{
	test_bytes();
	test_cuts();
	test_damaged();
	test_full();
	return check_status();
}

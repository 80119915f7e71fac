/* class_seed.c - written by hand after chapter 4 of the Java Virtual Machine Specification. */
#include "jvm/class_seed.h"

#define TEXT(length) 1, 0, length

/* clang-format off */
const uint8_t class_seed[] = {
	0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 61, /* magic, version */
	0, 10, /* constants, and one more */
	TEXT(1), 'A', 7, 0, 1, /* 1, 2 */
	TEXT(1), 'f', TEXT(4), '(', 'I', ')', 'I', TEXT(4), 'C', 'o', 'd', 'e', /* 3, 4, 5 */
	TEXT(13), 'S', 't', 'a', 'c', 'k', 'M', 'a', 'p', 'T', 'a', 'b', 'l', 'e', /* 6 */
	TEXT(15), 'L', 'i', 'n', 'e', 'N', 'u', 'm', 'b', 'e', 'r', 'T', 'a', 'b', 'l', 'e', /* 7 */
	TEXT(16), 'j', 'a', 'v', 'a', '/', 'l', 'a', 'n', 'g', '/', 'O', 'b', 'j', 'e', 'c', 't', 7, 0, 8, /* 8, 9 */
	0, 0x21, 0, 2, 0, 9, 0, 0, 0, 0, /* public, A, Object, no interfaces, no fields */
	0, 1, 0, 9, 0, 3, 0, 4, 0, 1, /* a method: public static, f, (I)I, an attribute */
	0, 5, 0, 0, 0, 41, 0, 1, 0, 1, /* Code, max_stack, max_locals */
	0, 0, 0, 8, 0x1a, 0x99, 0, 5, 0x04, 0xac, 0x03, 0xac, /* iload_0, ifeq 6, iconst_1, ireturn, iconst_0, ireturn */
	0, 0, 0, 2, /* no handlers, two attributes */
	0, 6, 0, 0, 0, 3, 0, 1, 6, /* StackMapTable: the same at 6 */
	0, 7, 0, 0, 0, 6, 0, 1, 0, 0, 0, 5, /* LineNumberTable: line 5 at 0 */
	0, 0, /* no attributes */
};
/* clang-format on */

const size_t class_seed_len = sizeof class_seed;

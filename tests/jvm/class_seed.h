/* class_seed.h - a class file with a method of eight bytes of code: class A { public static int f(int n) { return n != 0 ? 1 : 0; } } */
#ifndef WM_TESTS_JVM_CLASS_SEED_H
#define WM_TESTS_JVM_CLASS_SEED_H

#include <stddef.h>
#include <stdint.h>

enum {
	/* From the end of the file. */
	CLASS_SEED_CODE_LENGTH = 44, /* of the attribute, its last byte */
	CLASS_SEED_STACK = 42,       /* max_stack and max_locals, their last bytes */
	CLASS_SEED_LOCALS = 40,
	CLASS_SEED_CODE = 35,
	CLASS_SEED_FRAME = 15, /* of the frame, its one byte */
	CLASS_SEED_LINE = 5,   /* where a line begins, the last byte */
};

extern const uint8_t class_seed[];
extern const size_t class_seed_len;

#endif

/*
 * class_reader.h - reads a Java class file (the Java Virtual Machine Specification, chapter 4), which may be anything: what is not there is
 * 0, and the reader says so.
 */
#ifndef WM_JVM_CLASS_READER_H
#define WM_JVM_CLASS_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	CLASS_HEADER_BYTES = 8, /* magic, versions */
	CLASS_UTF8 = 1,         /* tags of constants */
	CLASS_LONG = 5,
	CLASS_CLASS = 7,
	CLASS_METHODREF = 10,
	CLASS_NAME_AND_TYPE = 12,
};

struct class_reader {
	const uint8_t *bytes;
	size_t len;
	size_t off;
	bool is_short; /* something was read or passed that is not there; what is read from then on is 0 */
};

void class_skip(struct class_reader *r, size_t count);
/* Reads a number of 1 to 4 bytes, the highest first. */
uint32_t class_number(struct class_reader *r, unsigned int bytes);
/* Passes a constant, and returns how many numbers it takes; 0: there is none of such a tag, and the reader is short. */
uint32_t class_skip_constant(struct class_reader *r);
/* Passes a field or a method, or those attributes of it that are left. */
void class_skip_attributes(struct class_reader *r);
/* Is the text of a constant that one? at: of its tag. */
bool class_is_text(const struct class_reader *r, size_t at, const char *text);
/* The bytes of the instruction at `at` of the code, which has `len` bytes; 0: it is none, or not all of it is there. */
uint32_t class_instruction_bytes(const uint8_t *code, uint32_t len, uint32_t at);

#endif

/* class_code.h - the instructions of a method, for class_check.h. */
#ifndef WM_JVM_CLASS_CODE_H
#define WM_JVM_CLASS_CODE_H

#include <stdbool.h>
#include <stdint.h>

#include "jvm/c/classes/class_reader.h"

/* Constants of a class by number: where the tag is in the bytes; 0: there is none. */
struct class_constants {
	const struct class_reader *reader;
	uint32_t *at;
	uint32_t count;
};

/* 0: there is none of that number. */
uint32_t class_tag(const struct class_constants *c, uint32_t number);

/* Is the text a name that a field or a variable may have? */
bool class_is_field_name(const struct class_constants *c, uint32_t number);
/* The words of what has the type; 0 or less: the text is no type of a field. */
int32_t class_type_words(const struct class_constants *c, uint32_t number);

struct class_code {
	const uint8_t *bytes;
	uint32_t len;
	uint32_t max_stack;
	uint32_t max_locals;
	uint8_t *starts; /* by place: an instruction begins there; written by class_code_scan */
	int32_t *depths; /* by place, room for the check: words on the stack before the instruction; -1: not reached */
	uint32_t *reached; /* by place, room for the check: instructions to be looked at */
	uint32_t reached_count;
	bool has_subroutine; /* jsr or ret: depths are not checked */
};

/* Finds where instructions begin, and checks their operands. */
bool class_code_scan(struct class_code *code, const struct class_constants *c);
/* The stack does not grow above max_stack from there on; depth: words on it. After class_code_scan. */
bool class_code_follow(struct class_code *code, const struct class_constants *c, uint32_t at, int32_t depth);

#endif

/* template_seed.h - a template as the rewriter makes it (src/jvm/c/classes/template.h), of a small class file around some code. */
#ifndef WM_TESTS_JVM_TEMPLATE_SEED_H
#define WM_TESTS_JVM_TEMPLATE_SEED_H

#include <stddef.h>
#include <stdint.h>

enum {
	/* Numbers of the class file's constants, all of them long. */
	SEED_METHOD = 2,
	SEED_SITE = 4,
	SEED_OTHER = 6,
	SEED_MASK = 8, /* if the method has codes */
};

/* Code that stores the one site twice, with a switch between; lengths are 0. */
extern const uint8_t seed_code[];
extern const size_t seed_code_len;

/* flags: of the method. Returns *len bytes, malloc'd, which are not located yet. */
void *template_seed(const uint8_t *code, size_t code_len, uint32_t flags, size_t *len);

#endif

/*
 * fuzz_jvm_cache.c - a cache of templates, with the key that it says: what is found is a template, or that a class stays as it is.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "jvm/c/classes/cache.h"

enum {
	KEY_AT = 8,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = {"A", "Plain", "not there"};
	uint64_t *bytes = calloc(size / 8 + 1, 8), key = 0;
	struct jvm_template t;

	memcpy(bytes, data, size);
	if (size >= KEY_AT + sizeof key)
		memcpy(&key, data + KEY_AT, sizeof key);
	if (jvm_cache_use(bytes, size, key) == JVM_CACHE_OK)
		for (size_t i = 0; i < sizeof names / sizeof *names; i++)
			if (jvm_cache_find(names[i], (const uint8_t *)"one", 3, &t) && t.header &&
			    !jvm_template_text(&t, t.header->name))
				abort();
	(void)jvm_cache_use(NULL, 0, 0);
	free(bytes);
	return 0;
}

/*
 * fuzz_jvm_template.c - what a rewriter has made: whatever is opened, or has its places found, leads nowhere outside.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "jvm/c/classes/template.h"

static uint32_t use(const struct jvm_template *t)
{
	uint32_t ret = 0;

	for (uint32_t i = 0; i < t->header->strings; i++)
		ret += (uint32_t)strlen(jvm_template_text(t, (int32_t)i));
	for (uint32_t i = 0; i < t->header->methods; i++)
		ret += t->class_file[t->methods[i].number_at] + t->class_file[t->methods[i].mask_at + 7];
	for (uint32_t i = 0; i < t->header->sites; i++)
		ret += t->class_file[t->sites[i].number_at + 7];
	for (uint32_t i = 0; i < t->header->stores; i++)
		ret += t->class_file[t->stores[i].length_at] + t->sites[t->stores[i].site].line;
	return ret;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	void *bytes = malloc(size + 1);
	static volatile uint32_t used;
	struct jvm_template t;

	memcpy(bytes, data, size);
	if (jvm_template_open(bytes, size, &t))
		used += use(&t);
	if (jvm_template_locate(&bytes, &size)) {
		if (!jvm_template_open(bytes, size, &t))
			abort();
		used += use(&t);
	}
	free(bytes);
	return 0;
}

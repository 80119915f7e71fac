/*
 * fuzz_jvm_profile.c - a profile of Java calls: what is read has ranks below the number of calls of its space.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "jvm/c/codes/profile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct jvm_profile_call call = {"f()V", "A", "main", "()V", 7};
	char *text = malloc(size + 1);
	uint32_t line, rank;

	memcpy(text, data, size);
	text[size] = '\0';
	if (jvm_profile_parse(text, size, &line) != JVM_PROFILE_OK && line == 0)
		abort();
	if (jvm_profile_rank(&call, &rank) && rank >= jvm_profile_calls(call.space))
		abort();
	return 0;
}

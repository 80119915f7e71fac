/* fuzz_jvm_class.c - a class file that is looked at before it is rewritten: whatever it is, nothing outside is read. */
#include "fuzz/fuzz.h"
#include "jvm/c/classes/class_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static volatile unsigned int whole;

	whole += jvm_class_is_whole(data, size);
	return 0;
}

/* fuzz_ir_symbols.c - ir_symbols_read; each name must be within the input. */
#include <stdlib.h>

#include "fuzz/fuzz.h"
#include "object/ir_symbols.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ir_symbol_vec symbols = {0};
	struct error *err = ir_symbols_read(data, size, "input", &symbols);

	if (err) {
		error_destroy(err);
		return 0;
	}
	for (size_t i = 0; i < symbols.count; i++) {
		const uint8_t *name = (const uint8_t *)symbols.items[i].name;

		if (name < data || name > data + size || symbols.items[i].len_bytes > (size_t)(data + size - name))
			abort();
	}
	ir_symbol_vec_deinit(&symbols);
	return 0;
}

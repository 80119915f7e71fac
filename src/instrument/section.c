/* section.c - metadata as module assembly: LLVM has no global that makes a section that is not loaded. */
#include "instrument/section.h"

#include <llvm-c/Core.h>

struct error *section_add(LLVMModuleRef module, const char *name, const struct buffer *section)
{
	struct buffer text = {0};
	buffer_printf(&text, "\n.pushsection %s,\"\",@progbits\n", name);
	for (size_t i = 0; i < section->len_bytes; i += 64) {
		buffer_printf(&text, ".ascii \"");
		for (size_t k = i; k < i + 64 && k < section->len_bytes; k++)
			buffer_printf(&text, "\\%03o", section->bytes[k]);
		buffer_printf(&text, "\"\n");
	}
	buffer_printf(&text, ".popsection\n");
	struct error *err = buffer_error(&text);
	if (!err)
		LLVMAppendModuleInlineAsm(module, (const char *)text.bytes, text.len_bytes);
	buffer_deinit(&text);
	return err;
}

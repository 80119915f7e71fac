/* section.c - metadata as module assembly: LLVM has no global that makes a section that is not loaded. */
#include "llvm/section.h"

#include <llvm-c/Core.h>
#include <stdbool.h>

static bool is_octal(uint8_t byte)
{
	return byte >= '0' && byte <= '7';
}

/* As short as it can be: the assembler reads megabytes of this. */
static void add_byte(struct buffer *text, uint8_t byte, bool is_before_digit)
{
	if (byte >= ' ' && byte <= '~' && byte != '"' && byte != '\\') {
		buffer_u8(text, byte);
		return;
	}
	buffer_u8(text, '\\');
	if (byte >> 6 || is_before_digit)
		buffer_u8(text, (uint8_t)('0' + (byte >> 6)));
	if (byte >> 3 || is_before_digit)
		buffer_u8(text, (uint8_t)('0' + (byte >> 3 & 7)));
	buffer_u8(text, (uint8_t)('0' + (byte & 7)));
}

struct error *section_add(LLVMModuleRef module, const char *name, const struct buffer *section)
{
	const size_t line_bytes = 256;
	struct buffer text = {0};
	buffer_printf(&text, "\n.pushsection %s,\"\",@progbits\n", name);
	for (size_t i = 0; i < section->len_bytes; i += line_bytes) {
		buffer_printf(&text, ".ascii \"");
		size_t end = i + line_bytes < section->len_bytes ? i + line_bytes : section->len_bytes;
		for (size_t k = i; k < end; k++)
			add_byte(&text, section->bytes[k], k + 1 < end && is_octal(section->bytes[k + 1]));
		buffer_printf(&text, "\"\n");
	}
	buffer_printf(&text, ".popsection\n");
	struct error *err = buffer_error(&text);
	if (!err)
		LLVMAppendModuleInlineAsm(module, (const char *)text.bytes, text.len_bytes);
	buffer_deinit(&text);
	return err;
}

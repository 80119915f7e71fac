/* base64.c - three bytes are four digits. */
#include "report/base64.h"

void base64_print(FILE *out, const uint8_t *bytes, size_t len_bytes)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < len_bytes; i += 3) {
		uint32_t triple = (uint32_t)bytes[i] << 16 | (i + 1 < len_bytes ? (uint32_t)bytes[i + 1] << 8 : 0) |
				  (i + 2 < len_bytes ? bytes[i + 2] : 0);

		putc(digits[triple >> 18], out);
		putc(digits[triple >> 12 & 63], out);
		putc(i + 1 < len_bytes ? digits[triple >> 6 & 63] : '=', out);
		putc(i + 2 < len_bytes ? digits[triple & 63] : '=', out);
	}
	putc('\n', out);
}

/* json_writer.c - strings of JSON (RFC 8259), from bytes that may be anything. */
#include "base/json_writer.h"

size_t utf8_len(const uint8_t *p)
{
	static const struct {
		uint8_t first, last, second_first, second_last;
		uint8_t len;
	} forms[] = {
		{0x00, 0x7f, 0, 0, 1},       {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
		{0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
		{0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
	};

	for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
		size_t len = forms[i].len;

		if (p[0] < forms[i].first || p[0] > forms[i].last)
			continue;
		if (len > 1 && (p[1] < forms[i].second_first || p[1] > forms[i].second_last))
			return 0;
		for (size_t j = 2; j < len; j++)
			if ((p[j] & 0xc0) != 0x80)
				return 0;
		return len;
	}
	return 0;
}

void json_print_string(FILE *out, const char *text)
{
	if (!text) {
		fputs("null", out);
		return;
	}
	putc('"', out);
	for (const uint8_t *p = (const uint8_t *)text; *p;) {
		size_t len = utf8_len(p);

		if (len == 0) {
			fputs("\\ufffd", out);
			len = 1;
		} else if (*p < ' ' || *p == 0x7f) {
			fprintf(out, "\\u%04x", *p);
		} else {
			if (*p == '"' || *p == '\\')
				putc('\\', out);
			fwrite(p, 1, len, out);
		}
		p += len;
	}
	putc('"', out);
}

/* json_writer.c - strings of JSON (RFC 8259), from bytes that may be anything. */
#include "base/json_writer.h"

#include "base/plain_text.h"

static void print_text(FILE *out, const char *text)
{
	for (const uint8_t *p = (const uint8_t *)text; *p;) {
		size_t len = utf8_len(p);

		if (len == 0) {
			fputs("\\ufffd", out);
			len = 1;
		} else if (!plain_len(
				   (const char *)p)) { /* a control character, the last byte of which is its number */
			fprintf(out, "\\u%04x", p[len - 1]);
		} else {
			if (*p == '"' || *p == '\\')
				putc('\\', out);
			fwrite(p, 1, len, out);
		}
		p += len;
	}
}

void json_print_string(FILE *out, const char *text)
{
	if (text)
		json_print_joined(out, (const char *const[]){text, NULL});
	else
		fputs("null", out);
}

void json_print_joined(FILE *out, const char *const *parts)
{
	putc('"', out);
	for (; *parts; parts++)
		print_text(out, *parts);
	putc('"', out);
}

void json_print_member(FILE *out, const char *before, const char *name, const char *text)
{
	fprintf(out, "%s\"%s\": ", before, name);
	json_print_string(out, text);
}

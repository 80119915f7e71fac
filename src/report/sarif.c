/* sarif.c - the parts of SARIF documents that all have. */
#include <inttypes.h>

#include "base/json_writer.h"
#include "report/sarif.h"

/* Bytes that a URI cannot have are escaped (RFC 3986, section 2.1). */
static void print_uri(FILE *out, const char *path)
{
	fputs(*path == '/' ? "\"file://" : "\"", out);
	for (; *path; path++) {
		unsigned char c = (unsigned char)*path;

		if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '/' ||
		    c == '-' || c == '.' || c == '_' || c == '~')
			putc(c, out);
		else
			fprintf(out, "%%%02X", c);
	}
	putc('"', out);
}

void sarif_print_place(FILE *out, const char *file, uint32_t line)
{
	fputs("\"physicalLocation\": {\"artifactLocation\": {\"uri\": ", out);
	print_uri(out, file);
	putc('}', out);
	if (line)
		fprintf(out, ", \"region\": {\"startLine\": %" PRIu32 "}", line);
	putc('}', out);
}

void sarif_print_start(FILE *out, const struct sarif_rule *rules, size_t count)
{
	fputs("{\"version\": \"2.1.0\", \"$schema\": "
	      "\"https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json\",\n \"runs\": [\n  {\"tool\": "
	      "{\"driver\": {\"name\": \"waymark\", \"rules\": [",
	      out);
	for (size_t i = 0; i < count; i++) {
		json_print_member(out, i ? ",\n    {" : "\n    {", "id", rules[i].id);
		json_print_member(out, ", \"shortDescription\": {", "text", rules[i].text);
		fputs("}}", out);
	}
	fputs("]}},\n   \"results\": [", out);
}

/* size_render.c - how large slices of a crash are: of all code, of what can lead to the stack, of what ran. */
#include <inttypes.h>

#include "base/json_writer.h"
#include "report/slices/slice_render.h"

static void print_share(const struct slice_sizes *s, const struct slice_size *size, FILE *out)
{
	fprintf(out, "%7" PRIu32 " line%s (%.0f %%), %" PRIu32 " instruction%s", size->lines,
		size->lines == 1 ? "" : "s", s->lines ? 100.0 * size->lines / s->lines : 0, size->instructions,
		size->instructions == 1 ? "" : "s");
	if (size->is_coarse)
		fputs(", or fewer", out);
}

void slice_sizes_text(const struct slice_sizes *s, FILE *out)
{
	for (uint32_t i = 0; i < s->count; i++) {
		const struct slice_size *size = &s->items[i];

		fprintf(out, "  %-24s", size->text);
		print_share(s, size, out);
		fputs(size->is_shown ? "  <- shown\n" : "\n", out);
	}
	if (s->coarse)
		fprintf(out, "  or fewer: a coarser analysis, since %s (--memory, --work)\n", s->coarse);
	if (s->unknown_functions)
		fprintf(out, "  of %" PRIu32 " function%s it is not known what ran\n", s->unknown_functions,
			s->unknown_functions == 1 ? "" : "s");
}

void slice_sizes_json(const struct slice_sizes *s, FILE *out)
{
	fputs(",\n \"sizes\": {", out);
	for (uint32_t i = 0; i < s->count; i++) {
		const struct slice_size *size = &s->items[i];

		fprintf(out, "%s", i ? ", " : "");
		json_print_string(out, size->name);
		fprintf(out, ": {\"lines\": %" PRIu32 ", \"instructions\": %" PRIu32 "%s}", size->lines,
			size->instructions, size->is_coarse ? ", \"is_coarse\": true" : "");
	}
	fprintf(out, "}, \"functions_not_known\": %" PRIu32, s->unknown_functions);
}

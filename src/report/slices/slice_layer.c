/* slice_layer.c - the data of a slice and its script, in a page (slice_layer.h). */
#include "report/slices/slice_layer.h"

#include "report/embedded.h"

void slice_layer_print_style(FILE *out)
{
	fprintf(out, "<style>\n%s</style>\n", slice_css);
}

/* Nothing in the data may end its element: < is in strings alone, and written as an escape there. */
void slice_layer_print(const struct slice_layer *layer, FILE *out)
{
	fputs("<script type=\"application/json\" id=\"slice\">", out);
	for (const char *at = layer->json; *at; at++) {
		if (*at == '<')
			fputs("\\u003c", out);
		else
			putc(*at, out);
	}
	fprintf(out, "</script>\n<script>\n%s</script>\n", slice_js);
}

/* path_compare_renderer.c - the table of formats of comparisons. */
#include "report/paths/path_compare_renderer.h"

static const struct path_compare_renderer renderers[] = {
	{{"text", NULL}, 10, path_compare_text},
	{{"json", NULL}, 0, path_compare_json},
	{{"sarif", NULL}, 0, path_compare_sarif},
	{.format = {0}},
};

const struct word_table path_compare_formats = {renderers, sizeof *renderers};

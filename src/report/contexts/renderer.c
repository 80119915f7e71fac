/* renderer.c - the table of output formats. */
#include "report/contexts/renderer.h"

static const struct renderer renderers[] = {
	{{"text", "the first contexts with all their numbers, for reading"}, 20, false, false, render_text},
	{{"events", "every event in the order of time, one a line"}, 0, true, true, render_events},
	{{"json", "everything, for programs; docs/format.md describes it"}, 0, true, false, render_json},
	{{"folded", "one context a line: main;f;g NUMBER"}, 0, false, false, render_folded},
	{{"speedscope", "a file for https://www.speedscope.app"}, 0, true, false, render_speedscope},
	{{"svg", "a flame graph to open in a browser"}, 0, false, false, render_svg},
	{.format = {0}},
};

const struct word_table report_formats = {renderers, sizeof *renderers};

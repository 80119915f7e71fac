/* renderer.c - the table of output formats. */
#include "report/contexts/renderer.h"

static const struct renderer renderers[] = {
	{.format = {"text", "the first contexts with all their numbers, for reading"},
	 .default_top = 20,
	 .has_notes = true,
	 .render = render_text},
	{.format = {"events", "every event in the order of time, one a line"},
	 .keeps_zeros = true,
	 .wants_events = true,
	 .has_notes = true,
	 .render = render_events},
	{.format = {"json", "everything, for programs; docs/format.md describes it"},
	 .keeps_zeros = true,
	 .has_notes = true,
	 .render = render_json},
	{.format = {"folded", "one context a line: main;f;g NUMBER"}, .adds_up = true, .render = render_folded},
	{.format = {"speedscope", "a file for https://www.speedscope.app"},
	 .keeps_zeros = true,
	 .adds_up = true,
	 .has_notes = true,
	 .render = render_speedscope},
	{.format = {"svg", "a flame graph to open in a browser"},
	 .adds_up = true,
	 .has_notes = true,
	 .render = render_svg},
	{.format = {0}},
};

const struct word_table report_formats = {renderers, sizeof *renderers};

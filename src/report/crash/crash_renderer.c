/* crash_renderer.c - the table of formats of crashes. */
#include "report/crash/crash_renderer.h"

static const struct crash_renderer renderers[] = {
	{{"text", "stacks with the last paths of each frame as source lines, for reading"}, crash_render_text, 3, true},
	{{"json", "everything, for programs; docs/format.md describes it"}, crash_render_json, 0, true},
	{{"html", "one page: stacks, paths step by step, the source and what of it ran"}, crash_render_html, 16, true},
	{{"lcov", "lines that ran (1) and that cannot have run (0), for genhtml and others"},
	 crash_render_lcov,
	 0,
	 true},
	{.format = {"sarif", "with --slice: code flows, for editors and other viewers"}},
	{.format = {0}},
};

const struct word_table crash_formats = {renderers, sizeof *renderers};

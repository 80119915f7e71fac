/* slice.c - `waymark slice`: which lines can have decided what a line of the program does. Hands over to waymark-slice. */
#include "cli/slice.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/install_paths.h"
#include "cli/message.h"

const struct word slice_formats[] = {
	[SLICE_FORMAT_TEXT] = {"text", "lines of source with why each is in, for reading"},
	[SLICE_FORMAT_JSON] = {"json", "the same for programs"},
	[SLICE_FORMAT_HTML] =
		{"html", "one page: the source; a click on a line shows what it depends on and what depends on it"},
	[SLICE_FORMAT_SARIF] = {"sarif", "code flows, for editors and others that show results of analyses"},
	[SLICE_FORMATS] = {0},
};
static const struct word_table format_words = {slice_formats, sizeof *slice_formats};

static struct error *set_cache(void *state, const char *folder)
{
	struct slice_options *r = state;

	r->has_cache = true;
	r->cache_folder = folder;
	return NULL;
}

static const struct option_row option_rows[] = {
	{.name = "format",
	 .argument = "=NAME",
	 .help = "output format: %s (text)",
	 OPTION_ROW(struct slice_options, format, &format_words)},
	{.name = "source-dir",
	 .argument = "DIR",
	 .help = "where source files are now, if not where they were compiled; OLD=NEW replaces the directory OLD",
	 .completion = COMPLETE_DIRECTORY,
	 OPTION_LIST(struct slice_options, source_places)},
	{.name = "forward",
	 .help = "show what a change of the line can reach instead",
	 OPTION_FLAG(struct slice_options, is_forward)},
	{.name = "ran",
	 .argument = "=FILE",
	 .help = "leave out what did not run in the runs whose paths FILE has",
	 .completion = COMPLETE_FILE,
	 .is_repeatable = true,
	 OPTION_LIST(struct slice_options, ran)},
	{.name = "explain",
	 .help = "name the library functions that are not known and so make slices larger",
	 OPTION_FLAG(struct slice_options, is_explained)},
	{.name = "memory",
	 .argument = "MB",
	 .help = "make a coarser analysis when the finer one needs more memory",
	 .preset = SLICE_LIMIT_MB,
	 OPTION_NUMBER(struct slice_options, limit_mb)},
	{.name = "work",
	 .argument = "N",
	 .help = "make a coarser analysis when the finer one, or a slice, needs more than N million steps",
	 .preset = SLICE_LIMIT_MSTEPS,
	 OPTION_NUMBER(struct slice_options, limit_msteps)},
	{.name = "cache",
	 .argument = "=DIR",
	 .is_value_optional = true,
	 .help = "keep what is found out of the code in DIR (that of PROGRAM), so that the next question is answered sooner",
	 .completion = COMPLETE_DIRECTORY,
	 OPTION_SET(set_cache)},
	OPTIONS_OF(search_options, struct slice_options, search),
	OPTION_OUTPUT(struct slice_options, output),
	OPTION_HELP,
	OPTIONS_END,
};

/* malloc of glibc asks for huge pages, unless the user has said how: page faults are a fifth of the time of what needs hundreds of megabytes. */
static void ask_for_huge_pages(void)
{
	static const char tunable[] = "glibc.malloc.hugetlb";
	const char *tunables = getenv("GLIBC_TUNABLES");
	char *with;

	if (tunables && strstr(tunables, tunable))
		return;
	if (asprintf(&with, "%s%s%s=1", tunables ? tunables : "", tunables && *tunables ? ":" : "", tunable) < 0)
		return;
	setenv("GLIBC_TUNABLES", with, true);
	free(with);
}

int slice_hand_over(const char *command, char **argv)
{
	struct install_paths paths;
	struct error *err = install_paths_find(&paths);
	char *program;

	if (err)
		return message_error(command, err);
	if (asprintf(&program, "%s/%s", paths.slice_dir, SLICE_PROGRAM) < 0)
		return message_error(command, &error_no_memory);
	ask_for_huge_pages();
	execv(program, argv);
	return message_error(command, error_os(errno, "%s", program));
}

static int run(const struct command *command, int argc, char **argv)
{
	struct slice_options o = {0};
	int status;

	object_search_init(&o.search);
	status = options_parse(command, &o, argc, argv);
	if (status == OPTIONS_PARSED && optind + 2 != argc)
		status = message_usage("slice", "a program and FILE:LINE are needed");
	if (status == OPTIONS_PARSED)
		status = slice_hand_over("slice", argv);
	object_search_deinit(&o.search);
	value_vec_deinit(&o.source_places);
	value_vec_deinit(&o.ran);
	return status;
}

const struct command command_slice = {
	.name = "slice",
	.summary = "show which lines can have decided what a line does",
	.usage = "Usage: waymark slice [OPTIONS] PROGRAM FILE:LINE[:VARIABLE]\n"
		 "\n"
		 "Shows each source line that can have decided whether FILE:LINE runs and which\n"
		 "values it uses, and why; with VARIABLE, which can have decided its value there.\n"
		 "PROGRAM was built with `waymark cc --wm=trace -g`.\n",
	.options = option_rows,
	.operands = {{"program", COMPLETE_FILE, NULL, false}, {"file:line", COMPLETE_NOTHING, NULL, false}},
	.run = run,
};

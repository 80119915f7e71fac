/*
 * convert.c - `waymark convert`: recordings and profiles of other tools in another format, which the output's name says. It finds the
 * subcommand that has the format, and runs that.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/message.h"
#include "cli/options.h"
#include "report/contexts/renderer.h"
#include "report/paths/path_renderer.h"

struct request {
	const char *format;
	const char *output;
};

static const struct option_row option_rows[] = {
	{.name = "to",
	 .argument = "=NAME",
	 .help = "a format of `waymark report` or `waymark paths`; else OUT's name says it",
	 OPTION_TEXT(struct request, format)},
	{.name = "output",
	 .letter = 'o',
	 .argument = "FILE",
	 .help = "write to FILE; it appears whole or not at all",
	 .is_required = true,
	 .completion = COMPLETE_FILE,
	 OPTION_TEXT(struct request, output)},
	OPTION_HELP,
	OPTIONS_END,
};

/* The subcommand that has the format, and the format's name. NULL: none. */
static const struct command *find_format(const struct request *r, const char **ret_name)
{
	static const struct {
		const struct command *command;
		const struct word_table *formats;
		size_t suffixes_off;
	} tables[] = {
		{&command_report, &report_formats, offsetof(struct renderer, suffixes)},
		{&command_paths, &path_formats, offsetof(struct path_renderer, suffixes)},
	};

	for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
		const struct word *word =
			r->format ? word_table_find(tables[i].formats, r->format)
				  : word_table_find_path(tables[i].formats, tables[i].suffixes_off, r->output);

		if (word) {
			*ret_name = word->name;
			return tables[i].command;
		}
	}
	return NULL;
}

static int run_format(const struct command *command, const char *format, const char *output, int count, char **files)
{
	char **argv = calloc((size_t)count + 7, sizeof *argv);
	int argc = 0, status;

	if (!argv)
		return message_error("convert", &error_no_memory);
	argv[argc++] = (char *)(uintptr_t)command->name;
	argv[argc++] = "--format";
	argv[argc++] = (char *)(uintptr_t)format;
	argv[argc++] = "-o";
	argv[argc++] = (char *)(uintptr_t)output;
	argv[argc++] = "--";
	for (int i = 0; i < count; i++)
		argv[argc++] = files[i];
	optind = 0; /* it parses again */
	status = command->run(command, argc, argv);
	free(argv);
	return status;
}

static int run(const struct command *command, int argc, char **argv)
{
	struct request r = {0};
	const struct command *found;
	const char *format;
	int status = options_parse(command, &r, argc, argv);

	if (status != OPTIONS_PARSED)
		return status;
	if (!r.output)
		return message_usage("convert", "-o FILE is needed");
	if (optind >= argc)
		return message_usage("convert", "a recording or a profile is needed");
	found = find_format(&r, &format);
	if (!found && r.format)
		return message_usage("convert", "--to=%s: no such format; `waymark convert --help` names them",
				     r.format);
	if (!found)
		return message_usage("convert", "%s: its name says no format; --to=NAME does", r.output);
	return run_format(found, format, r.output, argc - optind, argv + optind);
}

const struct command command_convert = {
	.name = "convert",
	.summary = "recordings and profiles of other tools in formats of other tools",
	.usage = "Usage: waymark convert [--to=NAME] -o OUT FILE...\n"
		 "\n"
		 "Writes recordings, folded stacks, profiles of pprof or the text of `perf script`\n"
		 "in the format that the name of OUT ends in: .pb.gz (pprof), .callgrind,\n"
		 ".dhat.json, .massif, .firefox.json, .trace.json (Chrome, Perfetto), .perf (perf\n"
		 "script), .speedscope.json, .folded, .view.html, .svg, .json, .txt; of paths\n"
		 ".lcov, .html and .xml (Cobertura).\n",
	.options = option_rows,
	.operands = {{"file", COMPLETE_FILE, NULL, true}},
	.run = run,
};

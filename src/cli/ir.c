/*
 * ir.c - `waymark ir`: the LLVM bitcode that a traced program carries, for tools that analyse what ran.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/message.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/search_options.h"

struct request {
	struct object_search search;
	const char *output;
};

static const struct option_row option_rows[] = {
	{.name = "output",
	 .letter = 'o',
	 .argument = "FILE",
	 .help = "write to FILE; of several units (traced at the source stage) to FILE.1, FILE.2 and so on",
	 .completion = COMPLETE_FILE,
	 OPTION_TEXT(struct request, output)},
	OPTIONS_OF(search_options, struct request, search),
	OPTION_HELP,
	OPTIONS_END,
};

static struct error *find_bitcode(const struct request *r, const char *path, struct bitcode_vec *ret)
{
	struct object_wanted wanted = {.path = path};
	struct object o;
	struct error *err = object_read(path, 0, &o);

	if (err)
		return err;
	wanted.build_id = o.build_id;
	object_deinit(&o);
	return object_find_bitcode(&r->search, &wanted, ret);
}

static struct error *write_units(const struct bitcode_vec *units, const char *output)
{
	struct error *err = NULL;

	if (units->count == 1)
		return output_write(output, units->items[0].bytes, units->items[0].len_bytes);
	if (!output)
		return error_create(ERROR_ARGUMENT, "there are %zu units: name a file with -o", units->count);
	for (size_t i = 0; i < units->count && !err; i++) {
		char *path;

		if (asprintf(&path, "%s.%zu", output, i + 1) < 0)
			return &error_no_memory;
		err = output_write(path, units->items[i].bytes, units->items[i].len_bytes);
		free(path);
	}
	return err;
}

static int write_bitcode(const struct command *command, struct request *r, int argc, char **argv)
{
	struct bitcode_vec units = {0};
	int status = options_parse(command, r, argc, argv);
	struct error *err;

	if (status != OPTIONS_PARSED)
		return status;
	if (optind + 1 != argc)
		return message_usage("ir", "one program is needed");
	if (!r->output && isatty(STDOUT_FILENO))
		return message_usage("ir", "bitcode is nothing for a terminal: name a file with -o");
	err = find_bitcode(r, argv[optind], &units);
	if (!err)
		err = write_units(&units, r->output);
	bitcode_deinit(&units);
	return message_error("ir", err);
}

static int run(const struct command *command, int argc, char **argv)
{
	struct request r = {0};
	int status;

	object_search_init(&r.search);
	status = write_bitcode(command, &r, argc, argv);
	object_search_deinit(&r.search);
	return status;
}

const struct command command_ir = {
	.name = "ir",
	.summary = "write the LLVM bitcode that a traced program carries",
	.usage = "Usage: waymark ir [OPTIONS] PROGRAM\n"
		 "\n"
		 "Writes the LLVM bitcode of a program or shared library that was built with\n"
		 "`waymark cc --wm=trace`, as it was before it was instrumented. Of a stripped one\n"
		 "it is in the debug file.\n",
	.options = option_rows,
	.operands = {{"program", COMPLETE_FILE, NULL, false}},
	.run = run,
};

/*
 * merge.c - `waymark merge`: what many recordings counted, as one.
 */
#include <inttypes.h>

#include "base/number_text.h"
#include "cli/command.h"
#include "cli/message.h"
#include "cli/options.h"
#include "cli/output.h"
#include "model/merge/profile_merge.h"
#include "model/base/recording.h"

struct request {
	const char *output;
};

static const struct option_row option_rows[] = {
	{.name = "output",
	 .letter = 'o',
	 .argument = "FILE",
	 .help = "write to FILE; it appears whole or not at all",
	 .is_required = true,
	 .completion = COMPLETE_FILE,
	 .suffix = "wmk",
	 OPTION_TEXT(struct request, output)},
	OPTION_HELP,
	OPTIONS_END,
};

static struct error *add_file(struct merge *m, const char *path)
{
	struct recording r;
	struct error *err = recording_open(path, &r);

	if (err)
		return err;
	if (r.wmk.truncated)
		message_warn("merge", "%s", r.wmk.truncated);
	err = merge_add(m, &r.wmk);
	recording_close(&r);
	return err;
}

static void tell_rest(const struct merge *m)
{
	struct merge_rest rest;

	merge_get_rest(m, &rest);
	if (rest.events)
		message_warn("merge",
			     "%" PRIu64
			     " %s added up by context: times and threads are left out, which `waymark archive` keeps",
			     rest.events, noun_of(rest.events, "event is", "events are"));
}

static struct error *write_file(const struct merge *m, const char *path)
{
	struct buffer bytes = {0};
	struct error *err = merge_write(m, &bytes);

	if (!err)
		err = output_write(path, bytes.bytes, bytes.len_bytes);
	buffer_deinit(&bytes);
	return err;
}

static struct error *merge_files(const struct request *r, char **paths)
{
	struct merge *m;
	struct error *err = merge_create(&m);

	if (err)
		return err;
	for (; *paths && !err; paths++)
		err = add_file(m, *paths);
	if (!err)
		err = write_file(m, r->output);
	if (!err)
		tell_rest(m);
	merge_destroy(m);
	return err;
}

static int run(const struct command *command, int argc, char **argv)
{
	struct request r = {0};
	int status = options_parse(command, &r, argc, argv);

	if (status != OPTIONS_PARSED)
		return status;
	if (!r.output)
		return message_usage("merge", "-o FILE is needed");
	if (optind >= argc)
		return message_usage("merge", "a recording is needed");
	return message_error("merge", merge_files(&r, argv + optind));
}

const struct command command_merge = {
	.name = "merge",
	.summary = "add up paths, heap and events of many recordings",
	.usage = "Usage: waymark merge -o OUT.wmk FILE.wmk...\n"
		 "\n"
		 "Adds up the path counts, the heap and the samples and events of many recordings,\n"
		 "of one program or of several, and writes them as one. Merged files can be merged\n"
		 "again.\n",
	.options = option_rows,
	.operands = {{"recording", COMPLETE_FILE, "wmk", true}},
	.run = run,
};

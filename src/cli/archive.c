/*
 * archive.c - `waymark archive`: recordings as one small file, with the names and lines that a report needs and the text of these, for other
 * machines and later days.
 */
#include <string.h>

#include "cli/command.h"
#include "cli/message.h"
#include "cli/output.h"
#include "cli/profile_reading.h"
#include "model/archive/archive.h"

struct request {
	struct profile_reading reading;
	struct archive_options archive;
	struct sources sources;
	bool leaves_events;
	bool leaves_sources;
	const char *output;
};

static const struct option_row option_rows[] = {
	{.name = "anonymize",
	 .help = "leave out directories, values of events, names of threads and the text of source lines",
	 OPTION_FLAG(struct request, archive.is_anonymous)},
	{.name = "no-events",
	 .help = "keep sums by context alone, not each event with its time and thread",
	 OPTION_FLAG(struct request, leaves_events)},
	{.name = "no-sources",
	 .help = "leave out the text of source lines, which `waymark annotate` shows",
	 OPTION_FLAG(struct request, leaves_sources)},
	OPTIONS_OF(source_options, struct request, sources),
	OPTIONS_OF(search_options, struct request, reading.cache.search),
	{.name = "output",
	 .letter = 'o',
	 .argument = "FILE",
	 .help = "write to FILE; it appears whole or not at all",
	 .is_required = true,
	 .completion = COMPLETE_FILE,
	 .suffix = "wmka",
	 OPTION_TEXT(struct request, output)},
	OPTION_HELP,
	OPTIONS_END,
};

/* A process whose numbers come twice would count twice. */
static struct error *check_runs(const struct profile *p)
{
	struct hashmap runs = {0};
	struct error *err = NULL;

	for (size_t i = 0; i < p->sources.count && !err; i++) {
		const struct profile_source *s = &p->sources.items[i];
		uint32_t before = runs.count, number;

		if (!s->header.run)
			continue;
		err = hashmap_add(&runs, &(struct key){{s->header.run, 0, 0}}, &number);
		if (!err && number != before)
			err = error_create(ERROR_ARGUMENT, "%s: its process is in another of the files, too", s->path);
	}
	hashmap_deinit(&runs);
	return err;
}

/* Says what a report of the files has and one of the archive has not. */
static void tell_paths(const struct profile *p)
{
	size_t count = 0;

	for (size_t i = 0; i < p->sources.count; i++)
		count += p->sources.items[i].has_paths;
	if (count)
		message_warn("archive", "paths are left out: `waymark merge` keeps those of recordings");
}

static struct error *write_archive(struct request *r, struct profile *p)
{
	struct buffer bytes = {0};
	struct error *err = check_runs(p);

	if (!err && !r->leaves_sources && !r->archive.is_anonymous)
		err = archive_add_sources(p, &r->sources);
	if (!err)
		err = archive_write(p, &r->archive, &bytes);
	if (!err)
		err = output_write(r->output, bytes.bytes, bytes.len_bytes);
	if (!err)
		tell_paths(p);
	buffer_deinit(&bytes);
	return err;
}

static struct error *archive_files(struct request *r, char *const *operands)
{
	struct profile p;
	struct error *err = profile_init(&p);

	if (err)
		return err;
	p.keeps_events = !r->leaves_events;
	p.keeps_classes = true;
	err = profile_reading_add(&r->reading, "archive", operands, &p) ?: write_archive(r, &p);
	profile_deinit(&p);
	return err;
}

static int run(const struct command *command, int argc, char **argv)
{
	struct request r = {.output = NULL};
	int status;

	profile_reading_init(&r.reading);
	sources_init(&r.sources);
	status = options_parse(command, &r, argc, argv);
	if (status == OPTIONS_PARSED && !r.output)
		status = message_usage("archive", "-o FILE is needed");
	else if (status == OPTIONS_PARSED)
		status = message_error("archive", archive_files(&r, argv + optind));
	sources_deinit(&r.sources);
	profile_reading_deinit(&r.reading);
	return status;
}

const struct command command_archive = {
	.name = "archive",
	.summary = "add recordings up in one small file, with all names, for other machines",
	.usage = "Usage: waymark archive [OPTIONS] -o OUT.wmka [FILE.wmk...]\n"
		 "\n"
		 "Adds recordings up, and writes them with the names and lines that a report\n"
		 "needs, and the text of these lines, as one file. `waymark report OUT.wmka` and\n"
		 "`waymark annotate` show the same on another machine, and after the programs\n"
		 "have changed. Archives can be archived again.\n",
	.options = option_rows,
	.operands = {{"recording", COMPLETE_FILE, NULL, true}},
	.run = run,
};

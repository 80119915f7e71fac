/*
 * annotate.c - `waymark annotate`: the source lines of functions with samples, bytes or events beside them.
 */
#include <string.h>

#include "cli/command.h"
#include "cli/message.h"
#include "cli/output.h"
#include "cli/profile_reading.h"
#include "model/contexts/profile_notes.h"
#include "report/contexts/annotate_renderer.h"

struct request {
	struct profile_reading reading;
	const struct annotate_renderer *renderer;
	const char *metric;
	struct sources sources;
	struct pattern_vec annotated;
	const char *output;
};

static const struct option_row option_rows[] = {
	{.name = "format",
	 .argument = "=NAME",
	 .help = "output format: one of the above (text)",
	 OPTION_ROW(struct request, renderer, &annotate_formats)},
	{.name = "metric",
	 .argument = "=NAME",
	 .help = "what to show, as for waymark report: %s; or EVENT, or EVENT:sum",
	 .word_at = profile_heap_metric,
	 OPTION_TEXT(struct request, metric)},
	OPTIONS_OF(source_options, struct request, sources),
	OPTIONS_OF(profile_reading_options, struct request, reading),
	OPTION_OUTPUT(struct request, output),
	OPTION_HELP,
	OPTIONS_END,
};

/* Text that was changed since does not say what ran. */
static void tell_changed(const struct sources *s, const struct profile *p)
{
	uint64_t oldest = UINT64_MAX;

	for (size_t i = 0; i < p->sources.count; i++)
		if (!p->sources.items[i].import_format && p->sources.items[i].header.start_realtime_ns < oldest)
			oldest = p->sources.items[i].header.start_realtime_ns;
	for (size_t i = 0; i < s->files.count; i++)
		if (s->files.items[i]->changed_ns > oldest)
			message_warn("annotate", "%s was changed after the recording: lines may not fit",
				     s->files.items[i]->path);
}

static struct error *render_annotation(struct request *r, const struct view *v, const struct annotation *a)
{
	const struct annotate_report report = {
		.view = v, .annotation = a, .functions = r->annotated.items[0].text, .sources = &r->sources};
	struct output out;
	struct error *err = output_open(r->output, &out);

	return err ? err : output_end(&out, r->renderer->render(&report, out.file));
}

static struct error *render(struct request *r, const struct profile *p)
{
	struct view_options options = {.metric = r->metric, .adds_up = true};
	struct annotation annotation;
	struct view v;
	struct error *err;

	profile_reading_filter(&r->reading, &options);
	err = view_create(p, &options, "waymark " WAYMARK_VERSION, &v);
	if (err)
		return err;
	err = v.has_metric ? annotation_create(&v, &r->annotated, &annotation)
			   : error_create(ERROR_NOT_FOUND, "nothing was recorded");
	if (!err) {
		err = render_annotation(r, &v, &annotation);
		annotation_deinit(&annotation);
	}
	if (!err)
		tell_changed(&r->sources, p);
	if (!err)
		notes_print(&v, "waymark annotate: ", stderr);
	view_deinit(&v);
	return err;
}

/* operands: the function, then recordings. */
static struct error *annotate(struct request *r, char **operands)
{
	struct profile p;
	struct error *err = profile_init(&p);

	if (err)
		return err;
	r->sources.texts = &p.texts;
	err = patterns_add(&r->annotated, "the function", operands[0])
		      ?: profile_reading_add(&r->reading, "annotate", operands + 1, &p)
		      ?: render(r, &p);
	r->sources.texts = NULL;
	profile_deinit(&p);
	return err;
}

static int run(const struct command *command, int argc, char **argv)
{
	struct request r = {.renderer = word_table_find(&annotate_formats, "text")};
	int status;

	profile_reading_init(&r.reading);
	sources_init(&r.sources);
	status = options_parse(command, &r, argc, argv);
	if (status == OPTIONS_PARSED && optind >= argc)
		status = message_usage("annotate", "the name of a function is needed");
	else if (status == OPTIONS_PARSED)
		status = message_error("annotate", annotate(&r, argv + optind));
	patterns_deinit(&r.annotated);
	sources_deinit(&r.sources);
	profile_reading_deinit(&r.reading);
	return status;
}

const struct command command_annotate = {
	.name = "annotate",
	.summary = "show the source lines of a function with samples, bytes or events beside them",
	.usage = "Usage: waymark annotate [OPTIONS] FUNCTION [FILE.wmk|DIRECTORY]...\n"
		 "\n"
		 "Shows the lines of the functions whose name matches (a glob, or /REGEX/), with\n"
		 "what was recorded in them. Without a file it takes the newest recording in the\n"
		 "working directory.\n",
	.options = option_rows,
	.operands = {{"function", COMPLETE_NOTHING, NULL, false}, {"recording", COMPLETE_FILE, "wmk", true}},
	.run = run,
};

/*
 * view.c - `waymark view`: a profile as one page of HTML that is looked around in, and the browser that shows it.
 */
#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/message.h"
#include "cli/output.h"
#include "cli/profile_reading.h"
#include "report/view/view_page.h"

struct request {
	struct profile_reading reading;
	const char *metric;
	const char *output; /* NULL: a name from the first recording's */
	bool is_open;
};

static const struct option_row option_rows[] = {
	{.name = "open",
	 .help = "show the page in the browser: $BROWSER, else xdg-open",
	 OPTION_FLAG(struct request, is_open)},
	{.name = "metric",
	 .argument = "=NAME",
	 .help = "the metric that the page begins with, as for waymark report: %s; or EVENT, or EVENT:sum",
	 .word_at = profile_heap_metric,
	 OPTION_TEXT(struct request, metric)},
	OPTIONS_OF(profile_reading_options, struct request, reading),
	OPTION_OUTPUT(struct request, output),
	OPTION_HELP,
	OPTIONS_END,
};

/* Of run.wmk or directory/ the name run.html, directory.html in the working directory; malloc'd. */
static char *page_name(const struct profile *p)
{
	const char *path = p->sources.count ? p->sources.items[0].path : "waymark", *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
	char *ret;

	return asprintf(&ret, "%.*s.html", dot > name ? (int)(dot - name) : (int)strlen(name), name) < 0 ? NULL : ret;
}

static struct error *show(const char *page)
{
	const char *browser = getenv("BROWSER");
	char *const argv[] = {(char *)(uintptr_t)(browser && *browser ? browser : "xdg-open"), (char *)(uintptr_t)page,
			      NULL};
	int status = 0, failed;
	pid_t pid;

	failed = posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ);
	if (failed)
		return error_os(failed, "%s: cannot be run; open %s in a browser", argv[0], page);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return error_os(errno, "waiting for %s", argv[0]);
	return status == 0 ? NULL : error_create(ERROR_OS, "%s failed; open %s in a browser", argv[0], page);
}

static struct error *write_page(const struct profile *p, struct request *r, const char *path)
{
	struct view_options options = {.metric = r->metric, .keeps_zeros = true};
	struct view view;
	struct output out;
	struct error *err;

	profile_reading_filter(&r->reading, &options);
	err = view_create(p, &options, "waymark " WAYMARK_VERSION, &view);
	if (err)
		return err;
	err = output_open(path, &out);
	if (!err)
		err = output_end(&out, render_view_page(&view, out.file));
	view_deinit(&view);
	return err;
}

static struct error *make_page(const struct profile *p, struct request *r)
{
	char *made = r->output ? NULL : page_name(p);
	const char *path = r->output ?: made;
	struct error *err = path ? write_page(p, r, path) : &error_no_memory;

	if (!err && made)
		message_warn("view", "wrote %s", made);
	if (!err && r->is_open)
		err = show(path);
	free(made);
	return err;
}

static struct error *view(struct request *r, char **operands)
{
	struct profile p;
	struct error *err = profile_init(&p);

	if (err)
		return err;
	p.keeps_events = true;
	err = profile_reading_add(&r->reading, "view", operands, &p) ?: make_page(&p, r);
	profile_deinit(&p);
	return err;
}

static int run(const struct command *command, int argc, char **argv)
{
	struct request r = {0};
	int status;

	profile_reading_init(&r.reading);
	status = options_parse(command, &r, argc, argv);
	if (status == OPTIONS_PARSED && r.is_open && r.output && strcmp(r.output, "-") == 0)
		status = message_usage("view", "--open needs a page in a file, not on standard output");
	else if (status == OPTIONS_PARSED)
		status = message_error("view", view(&r, argv + optind));
	profile_reading_deinit(&r.reading);
	return status;
}

const struct command command_view = {
	.name = "view",
	.summary = "make a page with flame graphs, functions, contexts and a time line",
	.usage = "Usage: waymark view [OPTIONS] [FILE.wmk|DIRECTORY]...\n"
		 "\n"
		 "Writes what recordings have into one page of HTML, NAME.html, which needs no\n"
		 "server: flame graphs of calls and callers, tables of functions and contexts, a\n"
		 "time line, search, threads. Without a file it takes the newest recording in the\n"
		 "working directory.\n",
	.options = option_rows,
	.operands = {{"recording", COMPLETE_FILE, "wmk", true}},
	.run = run,
};

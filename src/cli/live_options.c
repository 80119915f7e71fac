/* live_options.c - the rows of the options of live views. */
#include "cli/live_options.h"

#include <stdlib.h>

static const double seconds_max = 86400;

static struct error *take_seconds(const char *name, const char *text, double least, double *ret)
{
	char *end;

	*ret = strtod(text, &end);
	return end != text && !*end && *ret >= least && *ret <= seconds_max
		       ? NULL
		       : error_create(ERROR_ARGUMENT, "--%s %s: must be seconds, from %g to %g", name, text, least,
				      seconds_max);
}

static struct error *set_interval(void *state, const char *text)
{
	return take_seconds("interval", text, 0.05, &((struct live_options *)state)->interval);
}

static struct error *set_window(void *state, const char *text)
{
	return take_seconds("window", text, 0, &((struct live_options *)state)->window);
}

const struct option_row live_option_rows[] = {
	{.name = "interval",
	 .argument = "=SECONDS",
	 .help = "show it anew so often; less often where reading takes longer",
	 .preset = 1,
	 OPTION_SET(set_interval)},
	{.name = "window",
	 .argument = "=SECONDS",
	 .help = "events of so many last seconds; 0: of all times. Numbers of the heap are of all times",
	 .preset = 10,
	 OPTION_SET(set_window)},
	{.name = "metric",
	 .argument = "=NAME",
	 .help = "as of `waymark report`; live where the heap is recorded",
	 OPTION_TEXT(struct live_options, metric)},
	{.name = "count",
	 .argument = "N",
	 .help = "show it N times, then end",
	 OPTION_NUMBER(struct live_options, count)},
	OPTIONS_END,
};

/*
 * live_view.h - functions and contexts of recordings that grow, shown anew at an interval: on a terminal in its place, else one after the other.
 */
#ifndef WM_CLI_LIVE_VIEW_H
#define WM_CLI_LIVE_VIEW_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/recording_operands.h"

struct live_options {
	const char *metric; /* NULL: live bytes where the heap is recorded, else as a report */
	double interval;    /* seconds from one to the next; more if they take longer to read */
	double window;      /* events of so many last seconds; 0: of all times */
	size_t count;       /* how often; 0: until the end */
};

struct live_source {
	const char *title; /* what is looked at */
	void *data;
	/* The recordings that there are now; *ret is empty before. None: there will be. */
	struct error *(*find)(void *data, struct recording_paths *ret);
	bool (*has_ended)(void *data); /* nothing more will come */
};

/* command: in whose name something is said. Returns at the end, or when the user ends it: by q, ESC, Ctrl+C or SIGTERM. */
struct error *live_view(const char *command, const struct live_options *options, const struct live_source *source);

#endif

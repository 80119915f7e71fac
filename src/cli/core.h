/*
 * core.h - `waymark core` for the command and for the program that slices (slicing/core_slice.c): its options, and how the core is found.
 */
#ifndef WM_CLI_CORE_H
#define WM_CLI_CORE_H

#include "cli/options.h"
#include "cli/path_reading.h"
#include "report/crash/crash_renderer.h"

enum slice_of {
	SLICE_OF_ACTIVE,
	SLICE_OF_STACK,
	SLICE_OF_STATIC,
	SLICES_OF,
};

enum slice_order_by {
	SLICE_ORDER_SOURCE,
	SLICE_ORDER_NEAREST,
};

struct core_request {
	struct path_reading reading;
	const struct crash_renderer *renderer;
	size_t pid; /* 0: a core */
	struct option_count frames;
	struct option_count paths;
	bool has_functions;
	bool has_no_values;
	bool has_slice;
	const char *slice_where;  /* NULL: where the crashed thread stands */
	unsigned int slice_of;    /* enum slice_of */
	unsigned int slice_order; /* enum slice_order_by */
	bool is_explained;
	size_t limit_mb;
	size_t limit_msteps;
	bool has_cache;
	const char *cache_folder; /* NULL: that of the core */
	const char *program;
	const char *core; /* NULL: coredumpctl's */
	const char *output;
};

void core_init(struct core_request *r);
void core_deinit(struct core_request *r);
int core_parse(const struct command *command, struct core_request *r, int argc, char **argv);

/* Opens what the request names, and calls use() with what is known of it. */
typedef struct error *(*core_use)(struct core_request *r, const struct crash *c, void *data);
struct error *core_find(struct core_request *r, core_use use, void *data);

/* Prints it in the format of the request. slice: NULL, or a layer of the page. */
struct error *core_render(struct core_request *r, const struct crash *c, const struct slice_layer *slice);

#endif

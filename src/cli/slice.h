/*
 * slice.h - the options of `waymark slice`, for the command and for the program that does the work (slicing/main.c). That one has LLVM in it,
 * which takes longer to load than other subcommands to run.
 */
#ifndef WM_CLI_SLICE_H
#define WM_CLI_SLICE_H

#include "cli/options.h"
#include "cli/search_options.h"
#include "model/source/source.h"

#define SLICE_PROGRAM "waymark-slice"

enum slice_format {
	SLICE_FORMAT_TEXT,
	SLICE_FORMAT_JSON,
	SLICE_FORMAT_HTML,
	SLICE_FORMAT_SARIF,
	SLICE_FORMATS
};

struct slice_options {
	struct object_search search;
	struct value_vec source_places;
	struct value_vec ran;      /* recordings of paths */
	const struct word *format; /* of slice_formats */
	const char *output;
	size_t limit_mb;
	size_t limit_msteps;
	bool has_cache;
	const char *cache_folder; /* NULL: that of the program */
	bool is_explained;
	bool is_forward;
};

enum {
	SLICE_LIMIT_MB = 2048,     /* of memory for the points-to analysis */
	SLICE_LIMIT_MSTEPS = 3000, /* of work, for the points-to analysis and for a slice each */
};

extern const struct word slice_formats[];

/* Becomes SLICE_PROGRAM, for the subcommand that argv[0] names. Returns only with a message, and the status. */
int slice_hand_over(const char *command, char **argv);

#endif

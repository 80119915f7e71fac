/*
 * path_reading.h - what `waymark paths` and `waymark residual` share: reading recordings into profiles of paths, and the
 * options of where programs and sources are and of how text looks.
 */
#ifndef WM_CLI_PATH_READING_H
#define WM_CLI_PATH_READING_H

#include "cli/options.h"
#include "cli/search.h"
#include "model/paths/path_profile.h"
#include "report/path_listing.h"

enum {
	OPTION_SOURCE_DIR = OPTION_FIRST,
	OPTION_COLOR,
	OPTION_FULL,
	PATH_OPTION_FIRST,
};

#define PATH_OPTIONS                                                                \
	SEARCH_OPTIONS, {"source-dir", required_argument, NULL, OPTION_SOURCE_DIR}, \
		{"color", required_argument, NULL, OPTION_COLOR},                   \
	{                                                                           \
		"full", no_argument, NULL, OPTION_FULL                              \
	}
#define PATH_HELP                                                                            \
	SEARCH_HELP                                                                          \
	"  --source-dir DIR  look for source files under DIR; OLD=NEW: look under NEW for\n" \
	"                    those that were under OLD when the program was built\n"         \
	"  --color=WHEN      auto, always, never\n"                                          \
	"  --full            show each line of each path\n"

enum path_color {
	COLOR_AUTO,
	COLOR_ALWAYS,
	COLOR_NEVER,
};

struct path_reading {
	struct image_cache cache; /* its search serves both kinds of metadata */
	struct sources sources;
	struct glob_vec globs;
	enum path_color color;
	bool is_full;
};

void path_reading_init(struct path_reading *r);
void path_reading_deinit(struct path_reading *r);

/* Takes one of PATH_OPTIONS. */
struct error *path_reading_option(struct path_reading *r, int option);

/* Adds the file to the profile. */
struct error *path_reading_add(struct path_profile *p, const char *path);

/* For text on `out`. */
struct path_style path_reading_style(struct path_reading *r, FILE *out);

#endif

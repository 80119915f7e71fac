/*
 * path_reading.h - what `waymark paths` and `waymark residual` share: reading recordings into profiles of paths, and the
 * options of where programs and sources are and of how text looks.
 */
#ifndef WM_CLI_PATH_READING_H
#define WM_CLI_PATH_READING_H

#include "cli/options.h"
#include "cli/search_options.h"
#include "model/paths/path_profile.h"
#include "report/paths/path_listing.h"

enum path_color {
	COLOR_AUTO,
	COLOR_ALWAYS,
	COLOR_NEVER,
};

struct path_reading {
	struct image_cache cache; /* its search serves both kinds of metadata */
	struct sources sources;
	struct value_vec globs;
	unsigned int color; /* enum path_color */
	bool is_full;
};

void path_reading_init(struct path_reading *r);
void path_reading_deinit(struct path_reading *r);

extern const struct option_row path_reading_options[]; /* of struct path_reading */

/* Adds the file to the profile. */
struct error *path_reading_add(struct path_profile *p, const char *path);

/* For text on `out`. */
struct path_style path_reading_style(struct path_reading *r, FILE *out);

#endif

/*
 * profile_reading.h - what `waymark report` and its neighbours share: which recordings are read into a profile, and which of what is in them
 * counts.
 */
#ifndef WM_CLI_PROFILE_READING_H
#define WM_CLI_PROFILE_READING_H

#include "cli/options.h"
#include "cli/search_options.h"
#include "cli/time_range.h"
#include "model/base/profile_view.h"
#include "model/contexts/context_images.h"

struct profile_reading {
	struct image_cache cache;
	struct pattern_vec functions, modules, threads;
	struct suppressions suppressions;
	struct time_range time;
	bool has_time;
	double min; /* percent */
	bool has_min;
	size_t max_depth;
	bool keeps_columns;
	unsigned int tasks;
	bool is_silent; /* says nothing while it reads */
};

void profile_reading_init(struct profile_reading *r);
void profile_reading_deinit(struct profile_reading *r);

extern const struct option_row profile_reading_options[]; /* of struct profile_reading */

/*
 * Adds the recordings of the operands (recording_operands.h), which end with NULL, to a profile that profile_init has made; p->keeps_* are
 * set before. command: in whose name something is said.
 */
struct error *profile_reading_add(struct profile_reading *r, const char *command, char *const *operands,
				  struct profile *p);

/* Sets the filters of a view. */
void profile_reading_filter(const struct profile_reading *r, struct view_options *view);

#endif

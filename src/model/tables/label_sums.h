/*
 * label_sums.h - the metric in front by the values of a label (`waymark report --group-by=LABEL`), and how unequal they are.
 */
#ifndef WM_MODEL_TABLES_LABEL_SUMS_H
#define WM_MODEL_TABLES_LABEL_SUMS_H

#include "model/base/profile_view.h"

struct label_sum {
	const char *name; /* the frame, as "[rank=3]" */
	uint64_t value;
};

struct label_sums {
	struct label_sum *items; /* the largest first */
	size_t count;
	double imbalance; /* the largest divided by the mean; 0: nothing was counted */
};

/* Of all contexts that match, shown or not. The metric adds up, and the profile has a group_label. */
struct error *label_sums_create(const struct view *v, struct label_sums *ret);
void label_sums_deinit(struct label_sums *s);

#endif

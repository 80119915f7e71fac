/*
 * region_classes.h - regions that no instruction tells apart are one class. What is wanted of memory is then a much smaller set, and a slice by
 * classes is the slice by regions.
 *
 * There are two partitions. By effect: each set of what an instruction changes, overwrites or passes has all of a class or nothing of it. Whoever wants
 * one region of a class wants what changes it, which changes all of the class: what reads tell apart makes no difference to a slice. By all: sets of what
 * is read are split, too, so that a set of classes says of each region whether it is wanted.
 *
 * Each is the coarsest such partition: each set splits the classes that it has only a part of (Paige and Tarjan, SIAM Journal on Computing 1987,
 * section 2, without stability). The cost is the sum of the sets' sizes.
 */
#ifndef WM_ANALYZE_REGION_CLASSES_H
#define WM_ANALYZE_REGION_CLASSES_H

#include "analyze/regions.h"

/* Classes are numbers, by the first region of each: that of REGION_CONTROL is REGION_CONTROL, with no other region in it. */
struct region_classes {
	const struct regions *regions;
	uint32_t count;
	uint32_t *of;             /* [region] */
	uint32_t *first;          /* [class + 1] in `members` */
	uint32_t *members;        /* regions, rising in each class */
	uint64_t *is_first;       /* a bit for each region: it is the first one of its class */
	struct id_set *sets;      /* [set of regions.sets] classes that it has a region of */
	struct id_set *functions; /* [function] those of regions.function_changes; made when they are first asked for */
	bool *has_function;       /* [function] */
	struct id_set *expanded;  /* [class] regions; NULL until one is asked for, as `bits` is */
	uint32_t *asked;          /* scratch: [class] the last question that it was in */
	uint32_t question;
	uint64_t *bits; /* scratch, a bit for each region */
};

enum region_partition {
	REGIONS_BY_EFFECT,
	REGIONS_BY_ALL, /* for region_classes_expand */
};

/* The owner deinits. r lives longer than ret. On failure ret is empty. */
struct error *region_classes_find(const struct regions *r, enum region_partition partition, struct region_classes *ret);
void region_classes_deinit(struct region_classes *c);

/* The set becomes one of regions in place of classes. Of REGIONS_BY_ALL. */
struct error *region_classes_expand(struct region_classes *c, struct id_set *set);

/* What a function and those that it calls can change. *ret lives as long as c. */
struct error *region_classes_of_function(struct region_classes *c, uint32_t function, const struct id_set **ret);

#endif

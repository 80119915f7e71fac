/*
 * regions.h - everything that the analysis says of an image, byte by byte, for what checks it.
 */
#ifndef WM_TESTS_AGENT_REGIONS_H
#define WM_TESTS_AGENT_REGIONS_H

#include "agent/image.h"

enum region_mark {
	REGION_INSIDE = 1,      /* behind the first byte of an entry, lead and site, or room */
	REGION_FIRST = 2,       /* the first byte of one that is replaced */
	REGION_CALL = 4,        /* a call starts here */
	REGION_TAIL = 8,        /* a jump that leaves starts here */
	REGION_UNDERSTOOD = 16, /* of a function that is understood */
	REGION_STAY = 32,       /* a tail jump that may stay */
	REGION_RETURN = 64,     /* a return address */
	REGION_START = 128,     /* of a function */
};

struct region_counts {
	size_t functions, cold, understood, leaves, switching, hooked, parts, insns;
	size_t calls, indirect_calls, tails, indirect_tails, may_stay;
	size_t rooms, entered_rooms, last, short_sites, leads, tails_replaced, dead_flags, dead_r11;
};

struct regions {
	uint8_t *marks;     /* of each byte of the text */
	uint32_t *function; /* of each byte of the text: the number of its function, 1 is the first; 0 for none */
	struct region_counts counts;
};

/* Analyses all functions. Prints those that are not understood when is_verbose. False when regions overlap. */
bool regions_find(const struct image *image, bool is_verbose, struct regions *regions);
void regions_free(struct regions *regions);
static inline uint8_t *regions_at(const struct regions *regions, const struct image *image, uint64_t address)
{
	return &regions->marks[address - image->text.low];
}
static inline uint32_t regions_function_at(const struct regions *regions, const struct image *image, uint64_t address)
{
	return regions->function[address - image->text.low];
}
/* One line of shares. */
void regions_print(const char *name, const struct region_counts *c);

#endif

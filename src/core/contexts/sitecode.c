/* sitecode.c - codes by rank: `group` ones, a zero unless it is the last group, and the number in the group. */
#include "core/contexts/sitecode.h"

#include <stddef.h>

enum {
	LAST_GROUP = 10, /* has the codes that are left: SITECODE_MAX_LENGTH bits */
};

/* Ranks before the group, which has 2^group of them; the last has more. */
static uint32_t first_rank(uint32_t group)
{
	return (UINT32_C(1) << group) - 1;
}

struct sitecode sitecode_of(uint32_t rank)
{
	uint32_t group = 0, head, length;

	while (group < LAST_GROUP && rank >= first_rank(group + 1))
		group++;
	head = group == LAST_GROUP ? group : group + 1;
	length = group == LAST_GROUP ? SITECODE_MAX_LENGTH : 2 * group + 1;
	return (struct sitecode){(rank - first_rank(group)) << head | first_rank(group), length};
}

uint32_t sitecode_rank(uint64_t bits, uint32_t *length)
{
	uint32_t group = 0, head;

	while (group < LAST_GROUP && bits >> group & 1)
		group++;
	head = group == LAST_GROUP ? group : group + 1;
	*length = group == LAST_GROUP ? SITECODE_MAX_LENGTH : 2 * group + 1;
	return first_rank(group) + (uint32_t)(bits >> head & ((UINT64_C(1) << (*length - head)) - 1));
}

/* ---- starts ---- */

/* How the index is written: behind a 1, `head` and so many bits of it. */
struct start {
	uint32_t head, head_bits, index_bits;
};
static const struct start starts[] = {{0, 1, 5}, {2, 2, 10}, {3, 2, 16}};

static uint32_t bit_length(uint64_t payload)
{
	uint32_t ret = 0;

	for (; payload; payload >>= 1)
		ret++;
	return ret;
}

/* The highest bits of the payload say which one; *below: bits below it. NULL: it has none. */
static const struct start *find_start(uint64_t payload, uint32_t *below)
{
	uint32_t len = bit_length(payload);

	for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
		const struct start *start = &starts[i];
		uint32_t bits = 1 + start->head_bits + start->index_bits;

		if (len < bits ||
		    (payload >> (len - 1 - start->head_bits) ^ start->head) != UINT64_C(1) << start->head_bits)
			continue;
		*below = len - bits;
		return start;
	}
	return NULL;
}

bool sitecode_is_start(uint64_t payload)
{
	uint32_t below = 0;

	return find_start(payload, &below) && below == 0;
}

uint32_t sitecode_index(uint64_t word)
{
	uint64_t payload = sitecode_payload(word);
	uint32_t below = 0;
	const struct start *start = find_start(payload, &below);

	return start ? (uint32_t)(payload >> below & ((UINT64_C(1) << start->index_bits) - 1)) : 0;
}

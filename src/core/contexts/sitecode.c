/* sitecode.c - codes by rank: `group` ones, a zero unless it is the last group, and the number in the group. */
#include "core/contexts/sitecode.h"

enum {
	LAST_GROUP = 5, /* has the codes that are left: SITECODE_MAX_LENGTH bits */
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

uint32_t sitecode_index(uint64_t word)
{
	uint64_t payload = sitecode_payload(word);

	if (!payload)
		return 0;
	while (!sitecode_is_start(payload))
		payload >>= 1;
	return (uint32_t)payload & SITECODE_LOST_INDEX;
}

/*
 * stack_prefix.c - what is known of a stack, entry by entry.
 *
 *      sites      a  b  b  b  c              prefixes   B = (A, b, run 3), found when c comes
 *      run        1  1  2  3  1
 *      below      R  A  A  A  B              prefix     0 until it is asked for
 */
#include "jvm/c/stack_prefix.h"

#include <stdlib.h>
#include <string.h>

#include "jvm/c/methods.h"
#include "recorder/prefix_table.h"
#include "waymark/abi.h"

enum {
	LEAST_ROOM = 256,
	BLOCK = 32, /* sites that are compared at once */
};

struct stack_prefix_entry {
	uint32_t below;  /* prefix below the run */
	uint32_t run;    /* equal sites that end here */
	uint32_t prefix; /* up to and with this one; 0: not known yet */
};

static bool grow(void **array, size_t size)
{
	void *grown = realloc(*array, size);

	if (grown)
		*array = grown;
	return grown;
}

bool stack_prefix_reserve(struct stack_prefix *s, size_t depth)
{
	size_t room = s->room ? s->room : LEAST_ROOM;

	if (depth <= s->room)
		return true;
	while (room < depth)
		room *= 2;
	if (!grow((void **)&s->sites, room * sizeof *s->sites) || !grow((void **)&s->fresh, room * sizeof *s->fresh) ||
	    !grow((void **)&s->entries, room * sizeof *s->entries))
		return false;
	s->room = room;
	return true;
}

static size_t common_length(const int32_t *a, const int32_t *b, size_t count)
{
	size_t i = 0;

	while (i + BLOCK <= count && memcmp(a + i, b + i, BLOCK * sizeof *a) == 0)
		i += BLOCK;
	while (i < count && a[i] == b[i])
		i++;
	return i;
}

static uint32_t entry_prefix(struct stack_prefix *s, size_t i)
{
	struct stack_prefix_entry *entry = &s->entries[i];
	uint32_t record;

	if (entry->prefix)
		return entry->prefix;
	record = entry->below == WM_PREFIX_LOST ? 0 : jvm_site_record(s->sites[i]);
	entry->prefix = record ? wmrt_intern(entry->below, JVM_EPOCH, 0, record, entry->run) : WM_PREFIX_LOST;
	return entry->prefix;
}

static void add_entry(struct stack_prefix *s, uint32_t root, size_t i)
{
	struct stack_prefix_entry *entry = &s->entries[i];

	s->sites[i] = s->fresh[i];
	if (i && s->sites[i] == s->sites[i - 1])
		*entry = (struct stack_prefix_entry){.below = entry[-1].below, .run = entry[-1].run + 1};
	else
		*entry = (struct stack_prefix_entry){.below = i ? entry_prefix(s, i - 1) : root, .run = 1};
}

uint32_t stack_prefix_find(struct stack_prefix *s, uint32_t root, size_t depth)
{
	size_t known = common_length(s->sites, s->fresh, s->count < depth ? s->count : depth);

	for (size_t i = known; i < depth; i++)
		add_entry(s, root, i);
	/* Deeper entries may still be right: the next stack may have them again. */
	if (known < depth)
		s->count = depth;
	return depth ? entry_prefix(s, depth - 1) : root;
}

void stack_prefix_deinit(struct stack_prefix *s)
{
	free(s->sites);
	free(s->fresh);
	free(s->entries);
	*s = (struct stack_prefix){0};
}

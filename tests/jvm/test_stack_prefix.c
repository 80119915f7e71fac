/*
 * test_stack_prefix.c - random stacks, each of which shares a part with the one before: the prefix that is found through what is known
 * of earlier stacks spells the stack, and is the one that a thread finds which knows nothing. test_stack_prefix [COUNT [SEED]]
 *
 * The recorder is a list of nodes here.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "jvm/c/methods.h"
#include "jvm/c/stack_prefix.h"
#include "recorder/prefix_table.h"
#include "waymark/abi.h"

enum {
	NODES_MAX = 1 << 16,
	DEPTH_MAX = 1200,
	NO_SITE = 6, /* has no room in the recording */
	RECORD = 1000,
};

struct node {
	uint32_t parent, site, run;
};
static struct node nodes[NODES_MAX];
static uint32_t node_count;
static uint64_t state;

uint32_t jvm_site_record(int32_t site)
{
	return site == NO_SITE ? 0 : RECORD + (uint32_t)site;
}

uint32_t wmrt_intern(uint32_t parent, uint32_t epoch, uint64_t id, uint32_t site, uint32_t run)
{
	CHECK(epoch == JVM_EPOCH && id == 0);
	for (uint32_t i = 0; i < node_count; i++)
		if (nodes[i].parent == parent && nodes[i].site == site && nodes[i].run == run)
			return i + WM_PREFIX_FIRST;
	if (node_count == NODES_MAX)
		return WM_PREFIX_LOST;
	nodes[node_count] = (struct node){parent, site, run};
	return node_count++ + WM_PREFIX_FIRST;
}

static uint32_t random_below(uint32_t n)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(state >> 33) % n;
}

/* Does the prefix spell the stack? Each node is a whole run. */
static bool spells(uint32_t prefix, uint32_t root, const int32_t *sites, size_t depth)
{
	while (prefix >= WM_PREFIX_FIRST) {
		const struct node *node = &nodes[prefix - WM_PREFIX_FIRST];

		if (node->run > depth)
			return false;
		for (uint32_t i = 0; i < node->run; i++)
			if (RECORD + (uint32_t)sites[--depth] != node->site)
				return false;
		if (depth && RECORD + (uint32_t)sites[depth - 1] == node->site)
			return false;
		prefix = node->parent;
	}
	return prefix == root && depth == 0;
}

/* The part below `kept` is as it was. */
static size_t change(int32_t *sites, size_t depth)
{
	size_t kept = depth ? random_below((uint32_t)depth + 1) : 0;
	size_t next = random_below(8) ? kept + random_below(6) : random_below(DEPTH_MAX);

	for (size_t i = kept; i < next; i++)
		sites[i] = (int32_t)(random_below(100) ? random_below(3) : random_below(NO_SITE + 1));
	return next;
}

static bool is_lost(const int32_t *sites, size_t depth)
{
	for (size_t i = 0; i < depth; i++)
		if (sites[i] == NO_SITE)
			return true;
	return false;
}

static uint32_t find(struct stack_prefix *s, const int32_t *sites, size_t depth)
{
	CHECK(stack_prefix_reserve(s, depth));
	if (depth)
		memcpy(s->fresh, sites, depth * sizeof *sites);
	return stack_prefix_find(s, WM_PREFIX_THREAD, depth);
}

static void test_random(uint32_t count)
{
	struct stack_prefix s = {0};
	int32_t sites[DEPTH_MAX + 6];
	size_t depth = 0;

	for (uint32_t i = 0; i < count && !check_failures; i++) {
		struct stack_prefix other = {0};
		uint32_t prefix;

		depth = change(sites, depth % 64); /* mostly short */
		prefix = find(&s, sites, depth);
		CHECK_U64(prefix, find(&other, sites, depth));
		if (is_lost(sites, depth))
			CHECK_U64(prefix, WM_PREFIX_LOST);
		else if (node_count < NODES_MAX)
			CHECK(spells(prefix, WM_PREFIX_THREAD, sites, depth));
		stack_prefix_deinit(&other);
	}
	stack_prefix_deinit(&s);
}

int main(int argc, char **argv)
{
	uint32_t count = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 0) : 1000;

	state = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	printf("%u stacks, seed %llu\n", count, (unsigned long long)state);
	test_random(count);
	return check_status();
}

/*
 * test_region_classes.c - random sets of regions: classes are the regions that the sets of their partition have alike, as few as that allows, and a set
 * of regions becomes the classes that it has a region of. test_region_classes COUNT SEED
 */
#include <stdlib.h>

#include "analyze/region_classes.h"
#include "check.h"
#include "seeds.h"

enum {
	REGIONS = 70,
	SETS = 12,
	INSTRUCTIONS = 9,
};

struct example {
	struct regions r;
	struct memory memory;
	struct code code;
	uint32_t reads[INSTRUCTIONS], changes[INSTRUCTIONS], overwrites[INSTRUCTIONS], passes[INSTRUCTIONS];
	struct id_set function_changes;
};

static void make_sets(struct example *e, uint64_t *seed)
{
	for (uint32_t i = 0; i < REGIONS; i++)
		CHECK_OK(region_vec_append(&e->r.items, (struct region){i, 8}));
	for (uint32_t s = 0; s < SETS; s++) {
		/* Runs of regions, so that classes have more than one. */
		uint32_t first = random_below(seed, REGIONS), count = s ? random_below(seed, REGIONS / 2) : 0;
		struct id_set set = {0};

		for (uint32_t i = first; i < first + count && i < REGIONS; i++)
			CHECK_OK(id_set_add(&set, i, NULL));
		CHECK_OK(id_set_vec_append(&e->r.sets, set));
	}
}

static void make(struct example *e, uint64_t *seed)
{
	*e = (struct example){0};
	make_sets(e, seed);
	for (uint32_t i = 0; i < INSTRUCTIONS; i++) {
		e->reads[i] = random_below(seed, SETS);
		e->changes[i] = random_below(seed, SETS);
		e->overwrites[i] = random_below(seed, 3) ? 0 : random_below(seed, SETS);
		e->passes[i] = random_below(seed, 3) ? 0 : random_below(seed, SETS);
		CHECK_OK(id_set_add_all(&e->function_changes, &e->r.sets.items[e->changes[i]], NULL, NULL));
	}
	e->code = (struct code){.instruction_count = INSTRUCTIONS, .function_count = 1};
	e->memory.code = &e->code;
	e->r.memory = &e->memory;
	e->r.reads = e->reads;
	e->r.changes = e->changes;
	e->r.overwrites = e->overwrites;
	e->r.passes = e->passes;
	e->r.function_changes = &e->function_changes;
}

static void destroy(struct example *e)
{
	for (size_t i = 0; i < e->r.sets.count; i++)
		id_set_deinit(&e->r.sets.items[i]);
	id_set_vec_deinit(&e->r.sets);
	region_vec_deinit(&e->r.items);
	id_set_deinit(&e->function_changes);
}

static bool has_alike(const struct example *e, uint32_t set, uint32_t a, uint32_t b)
{
	return id_set_has(region_set(&e->r, set), a) == id_set_has(region_set(&e->r, set), b);
}

static bool are_alike(const struct example *e, enum region_partition partition, uint32_t a, uint32_t b)
{
	bool alike = (a == REGION_CONTROL) == (b == REGION_CONTROL);

	for (uint32_t i = 0; i < INSTRUCTIONS; i++)
		alike = alike && has_alike(e, e->changes[i], a, b) && has_alike(e, e->overwrites[i], a, b) &&
			has_alike(e, e->passes[i], a, b) &&
			(partition == REGIONS_BY_EFFECT || has_alike(e, e->reads[i], a, b));
	return alike;
}

/* Each class that the set has a region of, and no other one. */
static void check_set(const struct region_classes *c, const struct id_set *regions, const struct id_set *classes)
{
	for (uint32_t class = 0; class < c->count; class ++) {
		bool has = false;

		for (uint32_t i = 0; i < REGIONS; i++)
			has |= c->of[i] == class && id_set_has(regions, i);
		CHECK(id_set_has(classes, class) == has);
	}
}

static void check_partition(struct example *e, enum region_partition partition)
{
	struct region_classes c;
	const struct id_set *changes;

	CHECK_OK(region_classes_find(&e->r, partition, &c));
	for (uint32_t a = 0; a < REGIONS; a++)
		for (uint32_t b = 0; b < REGIONS; b++)
			CHECK((c.of[a] == c.of[b]) == are_alike(e, partition, a, b));
	for (uint32_t s = 0; s < SETS; s++)
		check_set(&c, region_set(&e->r, s), &c.sets[s]);
	CHECK_OK(region_classes_of_function(&c, 0, &changes));
	check_set(&c, &e->function_changes, changes);
	/* Back to what it was. */
	for (uint32_t i = 0; i < INSTRUCTIONS && partition == REGIONS_BY_ALL; i++) {
		struct id_set set = {0};

		CHECK_OK(id_set_add_all(&set, &c.sets[e->reads[i]], NULL, NULL));
		CHECK_OK(region_classes_expand(&c, &set));
		CHECK(id_set_equal(&set, region_set(&e->r, e->reads[i])));
		id_set_deinit(&set);
	}
	region_classes_deinit(&c);
}

static uint32_t probe(uint64_t seed)
{
	struct example e;

	make(&e, &seed);
	check_partition(&e, REGIONS_BY_EFFECT);
	check_partition(&e, REGIONS_BY_ALL);
	destroy(&e);
	return INSTRUCTIONS;
}

int main(int argc, char **argv)
{
	struct seeds seeds = seeds_parse(argc, argv, 300, 1);

	seeds_run(&seeds, probe);
	return check_status();
}

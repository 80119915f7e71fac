/*
 * test_id_set.c - random sets, sparse and dense, beside arrays of truth values: what is added, removed and compared is the same in both.
 *
 * usage: test_id_set [COUNT [SEED]]; every failure names the seed that repeats it with COUNT 1.
 */
#include "core/pointers/id_set.h"
#include "seeds.h"

#include <string.h>

enum {
	SETS = 4,
	NUMBERS = 64 * 80,
	STEPS = 60,
};

struct model {
	struct id_set sets[SETS];
	bool has[SETS][NUMBERS];
};

/* The set is the array, and is kept as id_set.h says: words rise, and none is empty. */
static void compare(const struct id_set *set, const bool *has)
{
	uint32_t size = 0;

	for (uint32_t i = 0; i < NUMBERS; i++) {
		CHECK(id_set_has(set, i) == has[i]);
		size += has[i];
	}
	CHECK(id_set_size(set) == size);
	for (uint32_t i = 0; i < set->count; i++) {
		CHECK(set->words[i].bits != 0);
		CHECK(!i || set->words[i - 1].index < set->words[i].index);
	}
}

/* Few numbers anywhere, a row of them, or most of them. */
static void fill(uint64_t *seed, struct id_set *set, bool *has)
{
	uint32_t kind = random_below(seed, 3), first = random_below(seed, NUMBERS);
	uint32_t count = kind == 0 ? random_below(seed, 6) : random_below(seed, NUMBERS - first);

	id_set_clear(set);
	memset(has, 0, NUMBERS);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t number = kind == 0 ? random_below(seed, NUMBERS) : first + i;

		if (kind == 2 && random_below(seed, 40) == 0)
			i += 64 * random_below(seed, 8);
		CHECK_OK(id_set_add(set, number, NULL));
		has[number] = true;
	}
}

static void add_all(struct model *m, uint32_t to, uint32_t from, const uint32_t *but)
{
	bool has_changed = false, expected = false;

	CHECK_OK(id_set_add_all(&m->sets[to], &m->sets[from], but ? &m->sets[*but] : NULL, &has_changed));
	for (uint32_t i = 0; i < NUMBERS; i++) {
		bool is_added = m->has[from][i] && !(but && m->has[*but][i]) && !m->has[to][i];

		expected |= is_added;
		m->has[to][i] |= is_added;
	}
	CHECK(has_changed == expected);
}

static void check_pair(struct model *m, uint32_t a, uint32_t b)
{
	struct id_set both = {0};
	bool has_both[NUMBERS], meets = false, contains = true;

	for (uint32_t i = 0; i < NUMBERS; i++) {
		has_both[i] = m->has[a][i] && m->has[b][i];
		meets |= has_both[i];
		contains &= m->has[a][i] || !m->has[b][i];
	}
	CHECK(id_set_meets(&m->sets[a], &m->sets[b]) == meets);
	CHECK(id_set_contains(&m->sets[a], &m->sets[b]) == contains);
	CHECK(id_set_equal(&m->sets[a], &m->sets[b]) == (memcmp(m->has[a], m->has[b], NUMBERS) == 0));
	CHECK_OK(id_set_intersect(&m->sets[a], &m->sets[b], &both));
	compare(&both, has_both);
	id_set_deinit(&both);
}

static void step(uint64_t *seed, struct model *m)
{
	uint32_t a = random_below(seed, SETS), b = (a + 1 + random_below(seed, SETS - 1)) % SETS;
	uint32_t but = random_below(seed, SETS);

	switch (random_below(seed, 5)) {
	case 0:
		fill(seed, &m->sets[a], m->has[a]);
		break;
	case 1:
		add_all(m, a, b, NULL);
		break;
	case 2:
		add_all(m, a, b, but == a ? NULL : &but);
		break;
	case 3:
		id_set_remove_all(&m->sets[a], &m->sets[b]);
		for (uint32_t i = 0; i < NUMBERS; i++)
			m->has[a][i] &= !m->has[b][i];
		break;
	default:
		check_pair(m, a, b);
	}
	compare(&m->sets[a], m->has[a]);
}

static uint32_t probe(uint64_t seed)
{
	static struct model m;

	memset(&m, 0, sizeof m);
	for (int i = 0; i < STEPS && check_failures < 20; i++)
		step(&seed, &m);
	for (uint32_t i = 0; i < SETS; i++)
		id_set_deinit(&m.sets[i]);
	return NUMBERS;
}

int main(int argc, char **argv)
{
	struct seeds seeds = seeds_parse(argc, argv, 200, 1);

	seeds_run(&seeds, probe);
	return check_status();
}

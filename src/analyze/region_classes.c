/* region_classes.c - splits classes by one set after the other (region_classes.h). */
#include "analyze/region_classes.h"

#include <stdlib.h>

/* Members of a class are one behind the other; those that the set at hand has come first. */
struct splitting {
	uint32_t region_count, class_count;
	uint32_t *members; /* regions */
	uint32_t *place;   /* [region] in members */
	uint32_t *of;      /* [region] class */
	uint32_t *begin;   /* [class] in members */
	uint32_t *size;    /* [class] */
	uint32_t *has;     /* [class] how many members the set at hand has */
	uint32_t *touched; /* classes of which it has some */
	uint32_t touched_count;
};

static void splitting_deinit(struct splitting *s)
{
	free(s->members);
	free(s->place);
	free(s->of);
	free(s->begin);
	free(s->size);
	free(s->has);
	free(s->touched);
}

static struct error *splitting_init(uint32_t count, struct splitting *ret)
{
	size_t room = (size_t)count + 1;

	*ret = (struct splitting){.region_count = count,
				  .class_count = count > 1 ? 2 : count,
				  .members = calloc(room, sizeof *ret->members),
				  .place = calloc(room, sizeof *ret->place),
				  .of = calloc(room, sizeof *ret->of),
				  .begin = calloc(room + 1, sizeof *ret->begin),
				  .size = calloc(room + 1, sizeof *ret->size),
				  .has = calloc(room, sizeof *ret->has),
				  .touched = calloc(room, sizeof *ret->touched)};
	if (!ret->members || !ret->place || !ret->of || !ret->begin || !ret->size || !ret->has || !ret->touched)
		return &error_no_memory;
	/* REGION_CONTROL is a class of its own from the beginning. */
	for (uint32_t i = 0; i < count; i++) {
		ret->members[i] = ret->place[i] = i;
		ret->of[i] = i > REGION_CONTROL;
	}
	ret->size[0] = 1;
	ret->begin[1] = 1;
	ret->size[1] = count - (count > 0);
	return NULL;
}

static void mark(struct splitting *s, uint32_t region)
{
	uint32_t class = s->of[region], to = s->begin[class] + s->has[class], from = s->place[region];
	uint32_t other = s->members[to];

	s->members[to] = region;
	s->members[from] = other;
	s->place[region] = to;
	s->place[other] = from;
	if (!s->has[class]++)
		s->touched[s->touched_count++] = class;
}

static void split(struct splitting *s, const struct id_set *set)
{
	for (struct id_iterator i = id_set_begin(set); id_set_next(set, &i);)
		mark(s, i.id);
	while (s->touched_count) {
		uint32_t class = s->touched[--s->touched_count], has = s->has[class];

		s->has[class] = 0;
		if (has == s->size[class])
			continue;
		s->begin[s->class_count] = s->begin[class];
		s->size[s->class_count] = has;
		for (uint32_t i = s->begin[class]; i < s->begin[class] + has; i++)
			s->of[s->members[i]] = s->class_count;
		s->begin[class] += has;
		s->size[class] -= has;
		s->class_count++;
	}
}

/* Numbers the classes by their first regions, and lists their members. */
static struct error *number(const struct splitting *s, struct region_classes *ret)
{
	uint32_t *renamed = calloc((size_t)s->class_count + 1, sizeof *renamed), next = 0;

	ret->of = calloc((size_t)s->region_count + 1, sizeof *ret->of);
	ret->first = calloc((size_t)s->class_count + 2, sizeof *ret->first);
	ret->members = calloc((size_t)s->region_count + 1, sizeof *ret->members);
	ret->is_first = calloc((size_t)s->region_count / 64 + 1, sizeof *ret->is_first);
	if (!renamed || !ret->of || !ret->first || !ret->members || !ret->is_first) {
		free(renamed);
		return &error_no_memory;
	}
	ret->count = s->class_count;
	for (uint32_t i = 0; i < s->region_count; i++) {
		uint32_t *name = &renamed[s->of[i]];

		if (!*name) {
			*name = ++next;
			ret->is_first[i / 64] |= UINT64_C(1) << i % 64;
		}
		ret->of[i] = *name - 1;
		ret->first[*name]++;
	}
	for (uint32_t i = 0; i < ret->count; i++)
		ret->first[i + 1] += ret->first[i];
	/* Filled from the end of each class, and so first[] becomes what it was. */
	for (uint32_t i = s->region_count; i-- > 0;)
		ret->members[--ret->first[ret->of[i] + 1]] = i;
	for (uint32_t i = 0; i < ret->count; i++)
		ret->first[i] = ret->first[i + 1];
	ret->first[ret->count] = s->region_count;
	free(renamed);
	return NULL;
}

/* Each class of which the set has a region. */
static struct error *reduce(struct region_classes *c, const struct id_set *regions, struct id_set *ret)
{
	struct error *err = NULL;

	c->question++;
	for (struct id_iterator i = id_set_begin(regions); !err && id_set_next(regions, &i);) {
		uint32_t class = c->of[i.id];

		if (c->asked[class] == c->question)
			continue;
		c->asked[class] = c->question;
		err = id_set_add(ret, class, NULL);
	}
	return err;
}

/* As reduce, of a set that has all of a class or nothing of it. Classes come rising, as their first regions do. */
static struct error *reduce_whole(const struct region_classes *c, const struct id_set *regions, struct id_set *ret)
{
	struct id_word word = {0};
	struct error *err = NULL;

	for (uint32_t i = 0; i < regions->count; i++) {
		const struct id_word *w = &regions->words[i];

		for (uint64_t left = w->bits & c->is_first[w->index]; left && !err; left &= left - 1) {
			uint32_t class = c->of[w->index * 64 + (uint32_t)__builtin_ctzll(left)];

			if (word.bits && word.index != class / 64) {
				err = id_set_append_word(ret, word);
				word.bits = 0;
			}
			word.index = class / 64;
			word.bits |= UINT64_C(1) << class % 64;
		}
	}
	return err || !word.bits ? err : id_set_append_word(ret, word);
}

static struct error *reduce_all(struct region_classes *c)
{
	struct error *err = NULL;

	c->asked = calloc((size_t)c->count + 1, sizeof *c->asked);
	c->sets = calloc(c->regions->sets.count + 1, sizeof *c->sets);
	c->functions = calloc((size_t)c->regions->memory->code->function_count + 1, sizeof *c->functions);
	c->has_function = calloc((size_t)c->regions->memory->code->function_count + 1, sizeof *c->has_function);
	if (!c->asked || !c->sets || !c->functions || !c->has_function)
		return &error_no_memory;
	for (size_t i = 0; i < c->regions->sets.count && !err; i++)
		err = reduce(c, region_set(c->regions, (uint32_t)i), &c->sets[i]);
	return err;
}

static void split_once(struct splitting *s, const struct regions *r, bool *is_split, uint32_t set)
{
	if (!is_split[set])
		split(s, region_set(r, set));
	is_split[set] = true;
}

static struct error *split_all(struct splitting *s, const struct regions *r, enum region_partition partition)
{
	bool *is_split = calloc(r->sets.count + 1, sizeof *is_split);

	if (!is_split)
		return &error_no_memory;
	for (uint32_t i = 0; i < r->memory->code->instruction_count; i++) {
		split_once(s, r, is_split, r->changes[i]);
		split_once(s, r, is_split, r->overwrites[i]);
		split_once(s, r, is_split, r->passes[i]);
		if (partition == REGIONS_BY_ALL)
			split_once(s, r, is_split, r->reads[i]);
	}
	free(is_split);
	return NULL;
}

struct error *region_classes_find(const struct regions *r, enum region_partition partition, struct region_classes *ret)
{
	struct region_classes c = {.regions = r};
	struct splitting s;
	struct error *err = splitting_init((uint32_t)r->items.count, &s);

	if (!err)
		err = split_all(&s, r, partition);
	if (!err)
		err = number(&s, &c);
	splitting_deinit(&s);
	if (!err)
		err = reduce_all(&c);
	if (err)
		region_classes_deinit(&c);
	else
		*ret = c;
	return err;
}

void region_classes_deinit(struct region_classes *c)
{
	for (size_t i = 0; c->sets && i < c->regions->sets.count; i++)
		id_set_deinit(&c->sets[i]);
	for (uint32_t f = 0; c->functions && f < c->regions->memory->code->function_count; f++)
		id_set_deinit(&c->functions[f]);
	for (uint32_t i = 0; c->expanded && i < c->count; i++)
		id_set_deinit(&c->expanded[i]);
	free(c->expanded);
	free(c->asked);
	free(c->bits);
	free(c->of);
	free(c->first);
	free(c->members);
	free(c->is_first);
	free(c->sets);
	free(c->functions);
	free(c->has_function);
	*c = (struct region_classes){0};
}

/* The regions of each class as a set, and a bit for each region. */
static struct error *open_expansion(struct region_classes *c)
{
	struct error *err = NULL;

	c->expanded = calloc((size_t)c->count + 1, sizeof *c->expanded);
	c->bits = calloc(c->regions->items.count / 64 + 1, sizeof *c->bits);
	if (!c->expanded || !c->bits)
		return &error_no_memory;
	for (uint32_t i = 0; i < c->regions->items.count && !err; i++)
		err = id_set_add(&c->expanded[c->of[i]], i, NULL);
	return err;
}

struct error *region_classes_expand(struct region_classes *c, struct id_set *set)
{
	struct id_set regions;
	struct error *err = c->bits ? NULL : open_expansion(c);

	if (err || !set->count)
		return err;
	for (struct id_iterator i = id_set_begin(set); id_set_next(set, &i);)
		id_set_add_to_bits(&c->expanded[i.id], c->bits);
	err = id_set_take_bits(c->bits, (uint32_t)(c->regions->items.count / 64) + 1, &regions);
	if (err)
		return err;
	id_set_trim(&regions);
	id_set_deinit(set);
	*set = regions;
	return NULL;
}

struct error *region_classes_of_function(struct region_classes *c, uint32_t function, const struct id_set **ret)
{
	struct error *err = NULL;

	if (!c->has_function[function])
		err = reduce_whole(c, &c->regions->function_changes[function], &c->functions[function]);
	c->has_function[function] = true;
	*ret = &c->functions[function];
	return err;
}

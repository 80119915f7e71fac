/* heap_classes.c - the bounds of classes, and metrics of their names. */
#include "model/base/heap_classes.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

static const char *const prefixes[] = {[HEAP_CLASS_SIZE] = "size:", [HEAP_CLASS_LIFE] = "life:"};

uint32_t heap_class_count(enum heap_class_kind kind)
{
	return kind == HEAP_CLASS_SIZE ? (uint32_t)HEAP_SIZES : (uint32_t)WMK_LIVES;
}

struct heap_class heap_class_at(enum heap_class_kind kind, uint32_t index)
{
	uint32_t bits = kind == HEAP_CLASS_SIZE ? 1 : 2, shift = kind == HEAP_CLASS_SIZE ? index : 2 * index - 2;
	struct heap_class c;

	if (!index)
		return (struct heap_class){0, kind == HEAP_CLASS_SIZE};
	c.least = UINT64_C(1) << shift;
	c.most = index + 1 == heap_class_count(kind) ? UINT64_MAX : (c.least << bits) - 1;
	return c;
}

const char *heap_class_text(struct heap_class c, char buf[HEAP_CLASS_NAME_MAX])
{
	if (c.least == c.most)
		snprintf(buf, HEAP_CLASS_NAME_MAX, "%" PRIu64, c.least);
	else if (c.most == UINT64_MAX)
		snprintf(buf, HEAP_CLASS_NAME_MAX, "%" PRIu64 "-", c.least);
	else
		snprintf(buf, HEAP_CLASS_NAME_MAX, "%" PRIu64 "-%" PRIu64, c.least, c.most);
	return buf;
}

static void put_name(enum heap_class_kind kind, uint32_t index, const char *suffix, char buf[HEAP_CLASS_NAME_MAX])
{
	char text[HEAP_CLASS_NAME_MAX];

	snprintf(buf, HEAP_CLASS_NAME_MAX, "%s%.50s%s", prefixes[kind],
		 heap_class_text(heap_class_at(kind, index), text), suffix);
}

bool heap_class_is_metric(const char *name)
{
	for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
		if (text_begins(name, prefixes[i]))
			return true;
	return false;
}

bool heap_class_metric(const struct profile *p, enum heap_class_kind kind, uint32_t index, uint32_t *ret)
{
	char name[HEAP_CLASS_NAME_MAX];

	put_name(kind, index, "", name);
	return profile_find_metric(p, name, ret);
}

struct error *heap_classes_add(struct profile *p, uint32_t node, uint32_t size_class, uint64_t count, uint64_t bytes,
			       bool is_estimate)
{
	char names[2][HEAP_CLASS_NAME_MAX];
	const struct metric rows[] = {{.name = names[0], .unit = UNIT_COUNT, .is_of_heap = true},
				      {.name = names[1], .unit = UNIT_BYTES, .is_of_heap = true}};
	uint32_t metric;
	struct error *err;

	if (size_class >= HEAP_SIZES || !count)
		return NULL;
	put_name(HEAP_CLASS_SIZE, size_class, "", names[0]);
	put_name(HEAP_CLASS_SIZE, size_class, ":bytes", names[1]);
	err = profile_add_metrics(p, rows, 2, &metric);
	if (err)
		return err;
	p->metrics.items[metric].is_estimate |= is_estimate;
	p->metrics.items[metric + 1].is_estimate |= is_estimate;
	return profile_add_values(p, node, metric, (uint64_t[]){count, bytes});
}

struct error *heap_classes_add_lives(struct profile *p, uint32_t node, const uint64_t lives[WMK_LIVES])
{
	char names[WMK_LIVES][HEAP_CLASS_NAME_MAX];
	struct metric rows[WMK_LIVES];
	uint64_t any = 0;
	uint32_t metric;
	struct error *err;

	for (uint32_t i = 0; i < WMK_LIVES; i++) {
		any |= lives[i];
		put_name(HEAP_CLASS_LIFE, i, "", names[i]);
		rows[i] = (struct metric){.name = names[i], .unit = UNIT_COUNT, .is_of_heap = true};
	}
	if (!any)
		return NULL;
	err = profile_add_metrics(p, rows, WMK_LIVES, &metric);
	return err ? err : profile_add_values(p, node, metric, lives);
}

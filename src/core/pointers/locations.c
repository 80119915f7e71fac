/* locations.c - locations by number, arithmetic on them, and whether two of them meet. */
#include "core/pointers/locations.h"

#include <limits.h>

enum {
	OFFSET_MAX = 1 << 28, /* beyond it an offset is not followed */
};

void locations_deinit(struct locations *l)
{
	location_vec_deinit(&l->items);
	slotmap_deinit(&l->map);
	location_counts_deinit(&l->of_object);
	location_counts_deinit(&l->whole);
}

struct error *locations_add_object(struct locations *l, uint32_t *ret)
{
	struct error *err = location_counts_append(&l->of_object, 0);

	if (!err)
		err = location_counts_append(&l->whole, 0);
	if (!err)
		*ret = (uint32_t)l->of_object.count - 1;
	return err;
}

static uint64_t hash_of_location(const struct location *x)
{
	return slotmap_hash((uint64_t)x->object << 32 | (uint32_t)x->first,
			    (uint64_t)x->stride << 32 | (uint32_t)x->end);
}

static uint64_t hash_of(const void *keys, uint32_t number)
{
	return hash_of_location(&((const struct location *)keys)[number]);
}

static bool is_same(const void *keys, uint32_t number, const void *key)
{
	const struct location *a = &((const struct location *)keys)[number], *b = key;

	return a->object == b->object && a->first == b->first && a->stride == b->stride && a->end == b->end;
}

/* One form for each set of offsets; stride 1 covers the whole object. */
static struct location normal(struct location x)
{
	if (x.stride && x.end != LOCATION_NO_END && (int64_t)x.first + x.stride >= x.end) {
		x.stride = 0;
	} else if (x.stride == 1 && x.end == LOCATION_NO_END) {
		x.first = 0;
	}
	if (!x.stride)
		x.end = x.first;
	return x;
}

static struct location all_of(uint32_t object)
{
	return (struct location){.object = object, .stride = 1, .end = LOCATION_NO_END};
}

static struct error *find_or_add(struct locations *l, const struct location *x, uint32_t *ret)
{
	struct error *err = slotmap_reserve(&l->map, hash_of, l->items.items);
	uint32_t *slot;

	if (err)
		return err;
	slot = slotmap_find(&l->map, hash_of_location(x), is_same, l->items.items, x);
	if (!*slot) {
		err = location_vec_append(&l->items, *x);
		if (err)
			return err;
		l->of_object.items[x->object]++;
		*slot = ++l->map.count;
		if (x->stride == 1 && x->end == LOCATION_NO_END)
			l->whole.items[x->object] = *slot;
	}
	*ret = *slot - 1;
	return NULL;
}

static bool is_there(struct locations *l, const struct location *x, uint32_t *ret)
{
	uint32_t *slot;

	if (!l->map.slot_count)
		return false;
	slot = slotmap_find(&l->map, hash_of_location(x), is_same, l->items.items, x);
	*ret = *slot - 1;
	return *slot;
}

struct error *locations_get(struct locations *l, const struct location *wanted, uint32_t *ret)
{
	struct location x = normal(*wanted);

	if (is_there(l, &x, ret))
		return NULL;
	if (l->of_object.items[x.object] >= LOCATIONS_MAX || x.first > OFFSET_MAX || x.first < -OFFSET_MAX ||
	    x.stride > OFFSET_MAX || (x.stride && x.end != LOCATION_NO_END && x.end > OFFSET_MAX))
		x = all_of(x.object);
	return find_or_add(l, &x, ret);
}

struct error *locations_restore(struct locations *l, const struct location *x, uint32_t *ret)
{
	return find_or_add(l, x, ret);
}

bool locations_is_covered(const struct locations *l, const struct id_set *set, uint32_t location)
{
	uint32_t whole = l->whole.items[l->items.items[location].object];

	return whole && whole - 1 != location && id_set_has(set, whole - 1);
}

static uint32_t gcd(uint32_t a, uint32_t b)
{
	while (b) {
		uint32_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

struct pointer_step pointer_step_repeated(const struct pointer_step *step)
{
	uint64_t offset = (uint64_t)(step->offset < 0 ? -step->offset : step->offset);

	return (struct pointer_step){
		.stride = offset > UINT32_MAX ? 1 : gcd(step->stride, (uint32_t)offset),
		.is_upwards = step->offset >= 0 && (!step->stride || step->span || step->is_upwards),
	};
}

/* The least offset at or above 0 that differs by multiples of the stride. */
static int64_t residue(int64_t offset, uint32_t stride)
{
	int64_t rest = offset % stride;

	return rest < 0 ? rest + stride : rest;
}

static int32_t clamp(int64_t offset)
{
	return offset > INT32_MAX - 1 ? INT32_MAX - 1 : offset < INT32_MIN + 1 ? INT32_MIN + 1 : (int32_t)offset;
}

struct error *locations_step(struct locations *l, uint32_t from, const struct pointer_step *step, uint32_t *ret)
{
	struct location x = l->items.items[from];
	int64_t first = x.first + step->offset, end = x.end;

	/* From all of an object every step leads to all of it. */
	if (l->whole.items[x.object] == from + 1) {
		*ret = from;
		return NULL;
	}
	if (step->stride == 1 && !step->span && !step->is_upwards && l->whole.items[x.object]) {
		*ret = l->whole.items[x.object] - 1;
		return NULL;
	}
	if (x.stride && end != LOCATION_NO_END)
		end += step->offset;
	if (step->stride) {
		bool is_bound = step->span && (!x.stride || end != LOCATION_NO_END);

		if (is_bound)
			end = (x.stride ? end - 1 : first) + step->span;
		else
			end = LOCATION_NO_END;
		x.stride = gcd(x.stride, step->stride);
		if (!step->span && !step->is_upwards)
			first = residue(first, x.stride);
	}
	x.first = clamp(first);
	x.end = end == LOCATION_NO_END ? LOCATION_NO_END : clamp(end);
	return locations_get(l, &x, ret);
}

static int64_t last_of(const struct location *x)
{
	if (!x->stride)
		return x->first;
	return x->end == LOCATION_NO_END ? INT64_MAX / 2
					 : x->first + (x->end - 1 - (int64_t)x->first) / x->stride * x->stride;
}

/* Some offset of x, as it is or moved by multiples of `stride`, is in [from, to). */
static bool has_between(const struct location *x, uint32_t stride, int64_t from, int64_t to)
{
	int64_t base = x->first;

	if (!stride)
		return base >= from && base < to;
	return residue(base - from, stride) < to - from;
}

bool locations_meet(const struct location *a, uint32_t a_bytes, const struct location *b, uint32_t b_bytes)
{
	uint32_t stride;
	int64_t low, high;

	if (a->object != b->object)
		return false;
	/* All of one may be in front of all of the other. */
	if (last_of(a) + a_bytes <= b->first || last_of(b) + b_bytes <= a->first)
		return false;
	/* b's offset is above a's less b_bytes, and below that of a's last byte and one. */
	stride = gcd(a->stride, b->stride);
	low = (int64_t)a->first - b_bytes + 1;
	high = (int64_t)a->first + a_bytes;
	return has_between(b, stride, low, high);
}

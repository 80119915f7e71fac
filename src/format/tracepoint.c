/*
 * tracepoint.c - records of `.debug_waymark_points` to points by rising address. A record that names a unit says whose the
 * ones behind it are.
 */
#include "format/tracepoint.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "base/vec.h"

static const uint64_t UNIT_ADDRESS = UINT64_MAX;

VEC_DECLARE(point_vec, struct tracepoint);

struct reader {
	struct cursor c;
	const struct tracemeta *m;
	struct point_vec points;
	uint64_t *coverage;
	bool *is_seen; /* [unit] */
	uint32_t unit; /* of the records that follow; unit_count: none yet */
};

void tracepoints_deinit(struct tracepoints *p)
{
	arena_deinit(&p->arena);
	*p = (struct tracepoints){0};
}

static uint8_t register_number(const char *name, size_t len)
{
	/* As the x86-64 psABI numbers them. */
	static const char *const names[] = {"rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp",
					    "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (strlen(names[i]) == len && memcmp(names[i], name, len) == 0)
			return (uint8_t)i;
	return TRACEPOINT_NO_REGISTER;
}

/* "16(%rsp)", "-40(%rbp)", "(%rbx)". */
static void parse_place(const char *text, struct tracepoint *p)
{
	const char *digits = text + (*text == '-'), *at = digits, *close;
	int64_t value = 0;

	p->dwarf_register = TRACEPOINT_NO_REGISTER;
	for (; *at >= '0' && *at <= '9'; at++) {
		value = value * 10 + (*at - '0');
		if (value > INT32_MAX)
			return;
	}
	if ((digits != text && at == digits) || at[0] != '(' || at[1] != '%')
		return;
	close = strchr(at, ')');
	if (!close || close[1])
		return;
	p->dwarf_register = register_number(at + 2, (size_t)(close - at - 2));
	p->displacement = (int32_t)(digits != text ? -value : value);
}

static struct error *read_place(struct reader *r, struct tracepoint *p)
{
	const uint8_t *bytes = r->c.start + r->c.off;
	const uint8_t *end = memchr(bytes, 0, cursor_left(&r->c));

	if (!end)
		return cursor_error(&r->c, "the place of a frame record has no end: the section is damaged");
	parse_place((const char *)bytes, p);
	return cursor_skip(&r->c, (size_t)(end - bytes) + 1);
}

/*
 * A unit's records may come in several parts: link-time optimization mixes the functions of all units. Equal units (a file that
 * is linked twice) are told apart by where their coverage is, and come in the same order in both sections.
 */
static struct error *read_unit(struct reader *r, const struct cursor *at, uint64_t key)
{
	uint32_t next = r->m->unit_count, known = r->m->unit_count;
	uint64_t coverage;
	struct error *err = cursor_u64(&r->c, &coverage);

	if (err)
		return err;
	for (uint32_t i = r->m->unit_count; i-- > 0;) {
		if (r->m->units[i].key != key)
			continue;
		if (!r->is_seen[i])
			next = i;
		else if (r->coverage[i] == coverage)
			known = i;
	}
	r->unit = known < r->m->unit_count ? known : next;
	if (r->unit == r->m->unit_count)
		return cursor_error(at,
				    "a unit with key %016" PRIx64
				    " that .debug_waymark_trace does not have: the section is damaged",
				    key);
	r->is_seen[r->unit] = true;
	r->coverage[r->unit] = coverage;
	return NULL;
}

static bool has_scheme(const struct tracemeta_function *f, uint8_t scheme)
{
	for (uint32_t i = 0; i < f->variant_count; i++)
		if (f->variants[i].scheme == scheme)
			return true;
	return false;
}

/* The count of what the record numbers; 0: the scheme has nothing of the kind. */
static uint32_t count_of(const struct tracemeta_function *f, const struct tracepoint *p)
{
	if (p->kind != WM1_POINT_COVERED)
		return f->node_count;
	return p->scheme & WM1_SCHEME_CALLS ? f->call_count : p->scheme & WM1_SCHEME_BLOCKS ? f->node_count : 0;
}

static struct error *check_point(const struct reader *r, const struct cursor *at, const struct tracepoint *p)
{
	const struct tracemeta_unit *u = &r->m->units[r->unit];
	const struct tracemeta_function *f;

	if (p->function >= u->function_count)
		return cursor_error(at, "function %" PRIu32 " of %" PRIu32 ": the section is damaged", p->function,
				    u->function_count);
	f = &r->m->functions[u->first_function + p->function];
	if (p->kind > WM1_POINT_COVERED || !has_scheme(f, p->scheme) || p->node >= count_of(f, p))
		return cursor_error(at,
				    "a record of kind %u, scheme %u, number %" PRIu32 " of %" PRIu32
				    ": the section is damaged",
				    p->kind, p->scheme, p->node, count_of(f, p));
	return NULL;
}

static struct error *read_point(struct reader *r, const struct cursor *at, uint64_t address, uint64_t value)
{
	struct tracepoint p = {
		.address = address,
		.function = (uint32_t)(value >> WM1_POINT_FUNCTION_SHIFT),
		.node = (uint32_t)value & ((1u << WM1_POINT_NODE_BITS) - 1),
		.scheme = value >> WM1_POINT_SCHEME_SHIFT & ((1 << WM1_SCHEME_BITS) - 1),
		.kind = value >> WM1_POINT_KIND_SHIFT & 7,
	};
	struct error *err;

	if (r->unit == r->m->unit_count)
		return cursor_error(at, "a record before the first unit: the section is damaged");
	err = check_point(r, at, &p);
	if (!err && p.kind == WM1_POINT_FRAME)
		err = read_place(r, &p);
	if (err || !address)
		return err;
	p.function += r->m->units[r->unit].first_function;
	return point_vec_append(&r->points, p);
}

static struct error *read_record(struct reader *r)
{
	struct cursor at = r->c;
	uint64_t address, value;
	struct error *err = cursor_u64(&r->c, &address);

	if (!err)
		err = cursor_u64(&r->c, &value);
	if (err)
		return err;
	return address == UNIT_ADDRESS ? read_unit(r, &at, value) : read_point(r, &at, address, value);
}

/* Stable: `to` gets items[0 .. count - 1] by rising address; both are written. */
static void merge_sort(struct tracepoint *items, struct tracepoint *to, size_t count)
{
	size_t half = count / 2, i = 0, k = half, out = 0;

	if (count < 2) {
		memcpy(to, items, count * sizeof *to);
		return;
	}
	merge_sort(to, items, half);
	merge_sort(to + half, items + half, count - half);
	while (i < half || k < count)
		to[out++] = i < half && (k == count || items[i].address <= items[k].address) ? items[i++] : items[k++];
}

static struct error *keep_all(struct reader *r, struct tracepoints *p)
{
	p->count = r->points.count;
	p->points = arena_copy(&p->arena, r->points.items, p->count, sizeof *p->points);
	if (!p->points)
		return &error_no_memory;
	if (p->count)
		merge_sort(r->points.items, p->points, p->count);
	p->coverage = r->coverage;
	return NULL;
}

struct error *tracepoints_read(const void *bytes, size_t len_bytes, const char *name, const struct tracemeta *m,
			       struct tracepoints *ret)
{
	struct tracepoints parsed = {0};
	struct reader r = {.m = m, .unit = m->unit_count == 1 ? 0 : m->unit_count};
	struct error *err = NULL;

	arena_init(&parsed.arena);
	cursor_init(&r.c, bytes, len_bytes, name);
	r.coverage = arena_calloc(&parsed.arena, (size_t)m->unit_count + 1, sizeof *r.coverage);
	r.is_seen = arena_calloc(&parsed.arena, (size_t)m->unit_count + 1, sizeof *r.is_seen);
	if (!r.coverage || !r.is_seen)
		err = &error_no_memory;
	while (!err && cursor_left(&r.c))
		err = read_record(&r);
	if (!err)
		err = keep_all(&r, &parsed);
	point_vec_deinit(&r.points);
	if (err)
		tracepoints_deinit(&parsed);
	else
		*ret = parsed;
	return err;
}

/*
 * meta.c - bytes of `.debug_waymark` to model. Every count is checked against the bytes that are left before memory is
 * asked for, every index against its table, and chains of inlining for loops, so that users of the model need no checks.
 * It does not check the encoding itself (ranges of ids); callgraph_adopt does.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "format/meta.h"
#include "format/meta_bytes.h"
#include "format/strings.h"

/* The fewest bytes that an element of each table takes. */
enum {
	FUNCTION_MIN_BYTES = 7,
	ALIAS_MIN_BYTES = 2,
	LOCATION_MIN_BYTES = 5,
	SITE_MIN_BYTES = 4,
};

enum {
	INLINING_MAX = 10000, /* far above what compilers do */
};

struct reader {
	struct cursor c;
	struct meta *m;
	struct string_pool strings;
};

void meta_init(struct meta *m)
{
	*m = (struct meta){0};
	arena_init(&m->arena);
}

void meta_deinit(struct meta *m)
{
	arena_deinit(&m->arena);
	*m = (struct meta){0};
}

static struct error *read_string(struct reader *r, const char **ret)
{
	return string_pool_text(&r->strings, &r->c, ret);
}

static struct error *read_function(struct reader *r, struct meta_function *f)
{
	struct cursor at = r->c;
	struct error *err;

	err = read_string(r, &f->link_name) ?:
	      read_string(r, &f->name) ?:
	      read_string(r, &f->file) ?:
	      cursor_uleb32(&r->c, &f->line) ?:
	      cursor_uleb32(&r->c, &f->flags) ?:
	      cursor_uleb128(&r->c, &f->contexts) ?:
	      cursor_uleb128(&r->c, &f->restart);
	if (!err && !f->link_name)
		err = cursor_error(&at, "a function without a name: the section is damaged");
	if (!err && (f->contexts == 0 || f->restart >= f->contexts))
		err = cursor_error(&at,
				   "function %s: restart %" PRIu64 " of %" PRIu64 " contexts: the section is damaged",
				   f->link_name, f->restart, f->contexts);
	if (!err && !f->name)
		f->name = f->link_name;
	return err;
}

static struct error *read_functions(struct reader *r)
{
	struct meta *m = r->m;
	struct error *err = section_count(&r->c, FUNCTION_MIN_BYTES, "functions", &m->function_count);

	if (err)
		return err;
	m->functions = arena_calloc(&m->arena, m->function_count, sizeof *m->functions);
	if (!m->functions)
		return &error_no_memory;
	for (uint32_t i = 0; i < m->function_count && !err; i++)
		err = read_function(r, &m->functions[i]);
	return err;
}

static struct error *read_alias(struct reader *r, struct meta_alias *a)
{
	struct cursor at = r->c;
	struct error *err = read_string(r, &a->link_name);

	if (!err)
		err = cursor_uleb32(&r->c, &a->function);
	if (!err && (!a->link_name || a->function >= r->m->function_count))
		err = cursor_error(&at, "an alias of nothing: the section is damaged");
	return err;
}

static struct error *read_aliases(struct reader *r)
{
	struct meta *m = r->m;
	struct error *err = section_count(&r->c, ALIAS_MIN_BYTES, "aliases", &m->alias_count);

	if (err)
		return err;
	m->aliases = arena_calloc(&m->arena, m->alias_count, sizeof *m->aliases);
	if (!m->aliases)
		return &error_no_memory;
	for (uint32_t i = 0; i < m->alias_count && !err; i++)
		err = read_alias(r, &m->aliases[i]);
	return err;
}

/* How many locations the chain from l has up to one whose depth is known, and to the end. A loop never ends: 0. */
static uint32_t chain_depth(const struct meta *m, const uint32_t *depths, uint32_t l)
{
	uint32_t count = 0;

	for (; l && !depths[l] && count <= INLINING_MAX; l = m->locations[l - 1].inlined_at)
		count++;
	if (count > INLINING_MAX || (l && depths[l] > INLINING_MAX - count))
		return 0;
	return count + (l ? depths[l] : 0);
}

/* Chains of inlined_at must end, and soon: each site's is walked for every frame. Each location is walked once, since a walk
 * stops at what an earlier walk has proved. */
static struct error *check_inlining(struct reader *r)
{
	const struct meta *m = r->m;
	uint32_t *depths = calloc((size_t)m->location_count + 1, sizeof *depths);
	struct error *err = NULL;

	if (!depths)
		return &error_no_memory;
	for (uint32_t i = 1; i <= m->location_count && !err; i++) {
		uint32_t depth = depths[i] ? depths[i] : chain_depth(m, depths, i);

		if (!depth)
			err = cursor_error(&r->c,
					   "location %" PRIu32
					   " is inlined into itself or deeper than %d: the section is damaged",
					   i - 1, INLINING_MAX);
		for (uint32_t l = i; depth && l && !depths[l]; l = m->locations[l - 1].inlined_at)
			depths[l] = depth--;
	}
	free(depths);
	return err;
}

static struct error *read_locations(struct reader *r)
{
	struct meta *m = r->m;
	struct error *err = section_count(&r->c, LOCATION_MIN_BYTES, "locations", &m->location_count);

	if (err)
		return err;
	m->locations = arena_calloc(&m->arena, m->location_count, sizeof *m->locations);
	if (!m->locations)
		return &error_no_memory;
	for (uint32_t i = 0; i < m->location_count && !err; i++) {
		struct meta_location *l = &m->locations[i];
		struct cursor at = r->c;

		err = read_string(r, &l->function) ?:
		      read_string(r, &l->file) ?:
		      cursor_uleb32(&r->c, &l->line) ?:
		      cursor_uleb32(&r->c, &l->column) ?:
		      cursor_uleb32(&r->c, &l->inlined_at);
		if (!err && l->inlined_at > m->location_count)
			err = cursor_error(&at, "location %" PRIu32 " of %" PRIu32 ": the section is damaged",
					   l->inlined_at, m->location_count);
	}
	return err ? err : check_inlining(r);
}

static struct error *check_site(const struct reader *r, const struct cursor *at, uint32_t number,
				const struct meta_site *s)
{
	const struct meta *m = r->m;

	if (s->caller >= m->function_count || s->callee >= m->function_count || s->location > m->location_count)
		return cursor_error(at, "site %" PRIu32 " names what does not exist: the section is damaged", number);
	if (!meta_code_is_possible(s))
		return cursor_error(at,
				    "site %" PRIu32 " has code %" PRIu32 " of %" PRIu32 " bits: the section is damaged",
				    number, s->code, s->bits);
	if (s->kind == META_SITE_FOREIGN && !s->foreign)
		return cursor_error(at, "site %" PRIu32 " calls a function without a name: the section is damaged",
				    number);
	return NULL;
}

static struct error *read_site(struct reader *r, uint32_t number, struct meta_site *s)
{
	struct cursor at = r->c;
	uint32_t kind;
	struct error *err = cursor_uleb32(&r->c, &kind);

	if (!err && kind >= META_SITE_KINDS)
		err = cursor_error(&at, "site %" PRIu32 " is of an unknown kind, %" PRIu32 ": the section is damaged",
				   number, kind);
	if (err)
		return err;
	s->kind = (enum meta_site_kind)kind;
	err = cursor_uleb32(&r->c, &s->flags);
	if (!err)
		err = cursor_uleb32(&r->c, &s->caller);
	if (!err && (kind == META_SITE_CALL || kind == META_SITE_BACK || kind == META_SITE_CUT))
		err = cursor_uleb32(&r->c, &s->callee);
	else if (!err && kind == META_SITE_FOREIGN)
		err = read_string(r, &s->foreign);
	if (!err && kind == META_SITE_CALL)
		err = cursor_uleb128(&r->c, &s->addend);
	if (!err && kind == META_SITE_SELF_CALL) {
		s->callee = s->caller;
		err = cursor_uleb32(&r->c, &s->bits) ?: cursor_uleb32(&r->c, &s->code);
	}
	if (!err)
		err = cursor_uleb32(&r->c, &s->location);
	if (!err)
		err = check_site(r, &at, number, s);
	if (!err && s->kind == META_SITE_BOUND)
		s->foreign = r->m->functions[s->caller].link_name;
	return err;
}

static struct error *read_sites(struct reader *r)
{
	struct meta *m = r->m;
	struct cursor at = r->c;
	struct error *err = cursor_uleb32(&r->c, &m->site_count);

	if (err)
		return err;
	if (m->site_count == 0)
		m->site_count = 1; /* an empty model: site 0 is unused anyway */
	if (m->site_count - 1 > cursor_left(&r->c) / SITE_MIN_BYTES)
		return cursor_error(&at, "%" PRIu32 " sites cannot fit in the %zu bytes left: the section is damaged",
				    m->site_count, cursor_left(&r->c));
	m->sites = arena_calloc(&m->arena, m->site_count, sizeof *m->sites);
	if (!m->sites)
		return &error_no_memory;
	for (uint32_t i = 1; i < m->site_count && !err; i++)
		err = read_site(r, i, &m->sites[i]);
	return err;
}

static struct error *read_stats(struct reader *r)
{
	struct meta_stats *s = &r->m->stats;
	uint64_t *const fields[] = {&s->functions_total,   &s->call_sites_total, &s->call_sites_no_code,
				    &s->ball_larus_max_id, &s->max_id,           &s->cut_nodes,
				    &s->foreign_objects,   &s->foreign_members};
	struct error *err = NULL;

	for (size_t i = 0; i < sizeof fields / sizeof fields[0] && !err; i++)
		err = cursor_uleb128(&r->c, fields[i]);
	return err;
}

/* Sizes of frames are what is left: only hybrid encoding has them. */
static struct error *read_frames(struct reader *r)
{
	struct meta *m = r->m;
	struct error *err = NULL;

	m->is_hybrid = cursor_left(&r->c) && m->function_count;
	for (uint32_t i = 0; m->is_hybrid && i < m->function_count && !err; i++)
		err = cursor_uleb32(&r->c, &m->functions[i].frame_bytes);
	return err;
}

static struct error *read_raw(const uint8_t *raw, size_t raw_bytes, const char *name, struct meta *m)
{
	struct reader r = {.m = m};
	struct error *err;

	cursor_init(&r.c, raw, raw_bytes, name);
	err = string_pool_read(&r.c, &m->arena, &r.strings) ?:
	      read_string(&r, &m->producer) ?:
	      read_string(&r, &m->unit) ?:
	      read_functions(&r) ?:
	      read_aliases(&r) ?:
	      read_locations(&r) ?:
	      read_sites(&r) ?:
	      read_stats(&r) ?:
	      read_frames(&r);
	if (!err && cursor_left(&r.c))
		err = cursor_error(&r.c, "%zu bytes behind the last table: the section is damaged", cursor_left(&r.c));
	string_pool_deinit(&r.strings);
	if (!m->producer)
		m->producer = "an unknown program";
	if (!m->unit)
		m->unit = name;
	return err;
}

/* Checks that nothing follows the first section: `ld -r` would have put sections one after the other. */
static struct error *check_tail(struct cursor *c)
{
	const uint8_t *tail = c->start + c->off;
	size_t left = cursor_left(c);
	size_t zeros = 0;

	while (zeros < left && tail[zeros] == 0)
		zeros++;
	if (left - zeros >= 8 && memcmp(tail + zeros, META_KIND.magic, 8) == 0)
		return cursor_error(c, "a second section follows: files that were linked twice (ld -r of linked files) "
				       "cannot be decoded, link the program once");
	if (left)
		return cursor_error(c, "%zu bytes behind the end of the section: it is damaged", left);
	return NULL;
}

struct error *meta_read(const void *bytes, size_t len_bytes, const char *name, struct meta *m)
{
	struct cursor c;
	struct section s = {0};
	struct meta parsed;
	struct error *err;

	meta_init(&parsed);
	cursor_init(&c, bytes, len_bytes, name);
	err = section_check_units(&c) ?: section_read(&c, &META_KIND, &s) ?: check_tail(&c) ?: read_raw(s.raw, s.raw_bytes, name, &parsed);
	parsed.key = s.key;
	section_deinit(&s);
	if (err) {
		meta_deinit(&parsed);
		return err;
	}
	if (parsed.unit == name) { /* outlive the caller's name */
		parsed.unit = arena_strdup(&parsed.arena, name);
		if (!parsed.unit) {
			meta_deinit(&parsed);
			return &error_no_memory;
		}
	}
	meta_deinit(m);
	*m = parsed;
	return NULL;
}

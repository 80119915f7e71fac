/* frame_table.c - tables of frame sizes: text, search, and what two links have in common. */
#include "format/frame_table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"

void frame_table_init(struct frame_table *t)
{
	*t = (struct frame_table){0};
	arena_init(&t->arena);
}

void frame_table_deinit(struct frame_table *t)
{
	frame_function_vec_deinit(&t->functions);
	frame_jump_vec_deinit(&t->jumps);
	frame_site_vec_deinit(&t->sites);
	arena_deinit(&t->arena);
}

static int by_name(const void *name, const void *function)
{
	return strcmp(name, ((const struct frame_function *)function)->name);
}

const struct frame_function *frame_table_find(const struct frame_table *t, const char *name)
{
	if (!t->functions.count)
		return NULL;
	return bsearch(name, t->functions.items, t->functions.count, sizeof *t->functions.items, by_name);
}

static int compare_jumps(const void *left, const void *right)
{
	const struct frame_jump *l = left, *r = right;

	return compare_u64(l->caller, r->caller) ?: compare_u64(l->callee, r->callee);
}

static struct frame_jump *find_pair(const struct frame_table *t, const char *caller, const char *callee)
{
	const struct frame_function *from = frame_table_find(t, caller), *to = frame_table_find(t, callee);
	struct frame_jump key;

	if (!from || !to || !t->jumps.count)
		return NULL;
	key.caller = (uint32_t)(from - t->functions.items);
	key.callee = (uint32_t)(to - t->functions.items);
	return bsearch(&key, t->jumps.items, t->jumps.count, sizeof key, compare_jumps);
}

const struct frame_jump *frame_table_jump(const struct frame_table *t, const char *caller, const char *callee)
{
	const struct frame_jump *jump = find_pair(t, caller, callee);

	return jump && jump->jumps ? jump : NULL;
}

static int compare_numbers(const void *left, const void *right)
{
	const uint32_t *l = left, *r = right;

	return compare_u64(*l, *r);
}

bool frame_table_has_site(const struct frame_table *t, uint32_t number)
{
	return t->sites.count && bsearch(&number, t->sites.items, t->sites.count, sizeof number, compare_numbers);
}

struct error *frame_table_write_sites(const struct frame_table *t, struct buffer *out)
{
	for (size_t i = 0; i < t->sites.count; i++)
		buffer_printf(out, "site %" PRIu32 "\n", t->sites.items[i]);
	return buffer_error(out);
}

struct error *frame_table_write(const struct frame_table *t, struct buffer *out)
{
	for (size_t i = 0; i < t->functions.count; i++)
		buffer_printf(out, "frame %" PRIu32 " %s\n", t->functions.items[i].frame_bytes,
			      t->functions.items[i].name);
	for (size_t i = 0; i < t->jumps.count; i++) {
		const struct frame_jump *jump = &t->jumps.items[i];

		if (jump->jumps)
			buffer_printf(out, "jump %" PRIu32 " %" PRIu32 " %d\n", jump->caller, jump->callee,
				      jump->calls);
	}
	return buffer_error(out);
}

/* A number and the blank behind it, or the end of the line. */
static bool take_number(const char **at, uint32_t *ret)
{
	char *end;
	unsigned long n = strtoul(*at, &end, 10);

	if (end == *at || **at < '0' || **at > '9' || n > UINT32_MAX || (*end != ' ' && *end != '\n'))
		return false;
	*ret = (uint32_t)n;
	*at = end + 1;
	return true;
}

static bool take_word(const char **at, const char *word)
{
	size_t len = strlen(word);

	if (strncmp(*at, word, len))
		return false;
	*at += len;
	return true;
}

static struct error *read_frame(struct frame_table *t, const char *at, size_t line_len, bool *ret)
{
	const char *end = at + line_len;
	struct frame_function f;

	*ret = take_word(&at, "frame ") && take_number(&at, &f.frame_bytes) && at < end;
	if (!*ret)
		return NULL;
	f.name = arena_strndup(&t->arena, at, (size_t)(end - at));
	if (!f.name)
		return &error_no_memory;
	*ret = !t->functions.count || strcmp(t->functions.items[t->functions.count - 1].name, f.name) < 0;
	return frame_function_vec_append(&t->functions, f);
}

static struct error *read_jump(struct frame_table *t, const char *at, bool *ret)
{
	struct frame_jump jump = {.jumps = true};
	uint32_t calls = 0;

	*ret = take_word(&at, "jump ") && take_number(&at, &jump.caller) && take_number(&at, &jump.callee) &&
	       take_number(&at, &calls) && jump.caller < t->functions.count && jump.callee < t->functions.count;
	jump.calls = calls;
	return *ret ? frame_jump_vec_append(&t->jumps, jump) : NULL;
}

static struct error *read_site(struct frame_table *t, const char *at, bool *ret)
{
	const struct frame_site_vec *sites = &t->sites;
	uint32_t number = 0;

	*ret = take_word(&at, "site ") && take_number(&at, &number) &&
	       (!sites->count || sites->items[sites->count - 1] < number);
	return *ret ? frame_site_vec_append(&t->sites, number) : NULL;
}

static struct error *read_line(struct frame_table *t, const char *at, size_t line_len, bool *ret)
{
	switch (*at) {
	case 'f':
		return read_frame(t, at, line_len, ret);
	case 'j':
		return read_jump(t, at, ret);
	default:
		return read_site(t, at, ret);
	}
}

struct error *frame_table_read(const char *text, const char *name, struct frame_table *t)
{
	uint32_t line = 1;

	for (const char *at = text, *end; *at; at = end + 1, line++) {
		bool is_good = false;
		struct error *err = NULL;

		end = strchr(at, '\n');
		if (end)
			err = read_line(t, at, (size_t)(end - at), &is_good);
		if (err)
			return err;
		if (!is_good)
			return error_create(ERROR_FORMAT, "%s:%" PRIu32 ": no frame, jump or site", name, line);
	}
	return NULL;
}

/* ---- what comes of several links ---- */

static void merge_frames(struct frame_table *t, const struct frame_table *before, enum frame_merge how)
{
	for (size_t i = 0; i < t->functions.count; i++) {
		struct frame_function *f = &t->functions.items[i];
		const struct frame_function *old = frame_table_find(before, f->name);

		if (old && (!old->frame_bytes || (how == FRAME_MERGE_ENDS && old->frame_bytes != f->frame_bytes)))
			f->frame_bytes = 0;
	}
}

static struct error *merge_sites(struct frame_table *t, const struct frame_table *before, enum frame_merge how)
{
	const size_t count = how == FRAME_MERGE_FREE ? 0 : t->sites.count;
	struct error *err = NULL;

	t->sites.count = count;
	for (size_t i = 0; i < before->sites.count && how != FRAME_MERGE_FREE && !err; i++) {
		const uint32_t *known = count ? bsearch(&before->sites.items[i], t->sites.items, count,
							sizeof *t->sites.items, compare_numbers)
					      : NULL;

		if (!known)
			err = frame_site_vec_append(&t->sites, before->sites.items[i]);
	}
	if (t->sites.count)
		qsort(t->sites.items, t->sites.count, sizeof *t->sites.items, compare_numbers);
	return err;
}

/* added: what no pair of this link is. */
static struct error *merge_jump(struct frame_table *t, const struct frame_table *before, const struct frame_jump *old,
				struct frame_jump_vec *added)
{
	const char *caller = before->functions.items[old->caller].name;
	const char *callee = before->functions.items[old->callee].name;
	const struct frame_function *from = frame_table_find(t, caller), *to = frame_table_find(t, callee);
	struct frame_jump *same = find_pair(t, caller, callee);
	struct frame_jump jump = *old;

	if (same) {
		same->calls |= old->calls;
		same->jumps = true;
	}
	if (same || !from || !to)
		return NULL;
	jump.caller = (uint32_t)(from - t->functions.items);
	jump.callee = (uint32_t)(to - t->functions.items);
	return frame_jump_vec_append(added, jump);
}

void frame_table_sort(struct frame_table *t)
{
	if (t->jumps.count)
		qsort(t->jumps.items, t->jumps.count, sizeof *t->jumps.items, compare_jumps);
}

struct error *frame_table_merge(struct frame_table *t, const struct frame_table *before, enum frame_merge how)
{
	struct frame_jump_vec added = {0};
	struct error *err = merge_sites(t, before, how);

	merge_frames(t, before, how);
	for (size_t i = 0; i < before->jumps.count && !err; i++)
		if (before->jumps.items[i].jumps)
			err = merge_jump(t, before, &before->jumps.items[i], &added);
	for (size_t i = 0; i < added.count && !err; i++)
		err = frame_jump_vec_append(&t->jumps, added.items[i]);
	frame_table_sort(t);
	frame_jump_vec_deinit(&added);
	return err;
}

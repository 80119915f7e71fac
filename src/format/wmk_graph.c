/*
 * wmk_graph.c - reads the records of recorded code: functions, sites, lines, and the dictionary of each epoch. Each record is
 * checked by itself; src/model/contexts/recorded_graph.c checks what they refer to.
 */
#include <inttypes.h>

#include "format/wmk.h"
#include "format/wmk_bytes.h"

struct error *wmk_check_site(struct wmk_file *w, struct cursor *c, size_t off)
{
	uint32_t kind = wmk_load_u32(w->bytes + off + 4);

	switch (kind) {
	case WMK_SITE_CALL:
	case WMK_SITE_INDIRECT:
	case WMK_SITE_FOREIGN:
	case WMK_SITE_CAPTURE:
	case WMK_SITE_ENTRY:
		return NULL;
	default:
		c->off = off;
		return cursor_error(
			c, "a call site of unknown kind, %" PRIu32 ": the file is damaged or of a newer waymark", kind);
	}
}

struct error *wmk_check_edge(struct wmk_file *w, struct cursor *c, size_t off)
{
	uint32_t kind = wmk_load_u32(w->bytes + off + 20);

	if (kind <= WMK_EDGE_CUT)
		return NULL;
	c->off = off;
	return cursor_error(c, "a call of unknown kind, %" PRIu32 ": the file is damaged or of a newer waymark", kind);
}

/* The number of the record that the walk has just passed. */
static uint32_t number_of(const struct wmk_file *w, const struct wmk_walk *walk, enum wmk_kind kind)
{
	size_t size = wmk_kinds[kind].record_bytes;

	return (uint32_t)(w->chunks.items[walk->chunk].first + (walk->off - size) / size);
}

bool wmk_next_function(const struct wmk_file *w, struct wmk_walk *walk, uint32_t *ret_number, struct wmk_function *ret)
{
	const uint8_t *p = wmk_next_record(w, walk, WMK_FUNCTIONS);

	if (!p)
		return false;
	*ret_number = number_of(w, walk, WMK_FUNCTIONS);
	*ret = (struct wmk_function){WMK_FUNCTION_FIELDS(WMK_LOAD_FIELD).state = WMK_STATE_WHOLE};
	return true;
}

bool wmk_next_site(const struct wmk_file *w, struct wmk_walk *walk, uint32_t *ret_number, struct wmk_site *ret)
{
	const uint8_t *p = wmk_next_record(w, walk, WMK_SITES);

	if (!p)
		return false;
	*ret_number = number_of(w, walk, WMK_SITES);
	*ret = (struct wmk_site){WMK_SITE_FIELDS(WMK_LOAD_FIELD).state = WMK_STATE_WHOLE};
	return true;
}

bool wmk_next_line(const struct wmk_file *w, struct wmk_walk *walk, struct wmk_line *ret)
{
	const uint8_t *p = wmk_next_record(w, walk, WMK_LINES);

	if (p)
		*ret = (struct wmk_line){WMK_LINE_FIELDS(WMK_LOAD_FIELD).state = WMK_STATE_WHOLE};
	return p;
}

bool wmk_next_epoch(const struct wmk_file *w, struct wmk_walk *walk, struct wmk_epoch *ret)
{
	const uint8_t *p = wmk_next_record(w, walk, WMK_EPOCHS);

	if (p)
		*ret = (struct wmk_epoch){WMK_EPOCH_FIELDS(WMK_LOAD_FIELD).state = WMK_STATE_WHOLE};
	return p;
}

bool wmk_next_epoch_function(const struct wmk_file *w, struct wmk_walk *walk, struct wmk_epoch_function *ret)
{
	const uint8_t *p = wmk_next_record(w, walk, WMK_EPOCH_FUNCTIONS);

	if (p)
		*ret = (struct wmk_epoch_function){WMK_EPOCH_FUNCTION_FIELDS(WMK_LOAD_FIELD).state = WMK_STATE_WHOLE};
	return p;
}

bool wmk_next_epoch_edge(const struct wmk_file *w, struct wmk_walk *walk, struct wmk_epoch_edge *ret)
{
	const uint8_t *p = wmk_next_record(w, walk, WMK_EPOCH_EDGES);

	if (p)
		*ret = (struct wmk_epoch_edge){WMK_EPOCH_EDGE_FIELDS(WMK_LOAD_FIELD).state = WMK_STATE_WHOLE};
	return p;
}

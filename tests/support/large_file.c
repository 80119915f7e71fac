/* large_file.c - records one after the other, in chunks that a new one follows when it is full. */
#include "support/large_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	FIRST_SITE = 20,
	LEVELS = 23, /* 2^23 contexts */
	LONG_BYTES = 60000,
	SHORT_NAMES = 1 << 24,
	RUN = 1000000, /* frames of one record */
	CHUNK_RECORDS = (WMK_CHUNK_BYTES - WMK_CHUNK_HEADER_BYTES) /
			sizeof(struct wmk_heap), /* of any kind here: the largest */
};

/* A chunk for each CHUNK_RECORDS records. first: the number of record 0. */
static void room_for(struct wmk_builder *b, enum wmk_kind kind, uint64_t first, uint32_t record)
{
	if (record % CHUNK_RECORDS == 0)
		build_chunk(b, kind, first + record, kind == WMK_EVENTS);
}

static void add_function(struct wmk_builder *b, uint32_t number, uint32_t name, uint32_t owner)
{
	room_for(b, WMK_FUNCTIONS, 0, number);
	build_recorded_function(b, &(struct wmk_function){.name = name,
							  .owner = owner,
							  .descriptor = WMK_NO_STRING,
							  .file = WMK_NO_STRING,
							  .line = number + 1});
}

static void add_loader(struct wmk_builder *b)
{
	build_chunk(b, WMK_IMAGES, 0, 0);
	build_image(b, 0, 0, 0, 0, NULL, 0);
	build_image_kind(b, WMK_IMAGE_LOADER);
}

/* f0 calls f1 from two places, and so on; the last one captures. Its ids are all numbers below 2^LEVELS. */
void large_contexts(struct wmk_builder *b, uint32_t count)
{
	uint32_t names[LEVELS + 1];
	char name[16];

	build_wmk_init(b, 1, "/bin/large");
	build_chunk(b, WMK_STRINGS, 0, 0);
	build_string(b, 0, "loader");
	for (uint32_t i = 0; i <= LEVELS; i++) {
		snprintf(name, sizeof name, "f%u", i);
		names[i] = (uint32_t)build_string(b, 0, name);
	}
	add_loader(b);
	for (uint32_t i = 0; i <= LEVELS; i++)
		add_function(b, i, names[i], WMK_NO_STRING);
	build_chunk(b, WMK_SITES, FIRST_SITE, 0);
	for (uint32_t i = 0; i < 2 * LEVELS; i++)
		build_recorded_site(b, i / 2, WMK_SITE_CALL, WMK_NO_STRING, i, 10 + i, 0);
	build_recorded_site(b, LEVELS, WMK_SITE_CAPTURE, WMK_NO_STRING, 0, 7, 0);
	build_chunk(b, WMK_EPOCH_FUNCTIONS, 0, 0);
	for (uint32_t i = 0; i <= LEVELS; i++)
		build_epoch_function(b, 1, i, UINT64_C(1) << i, 0, i ? 0 : WMK_EPOCH_ROOT | WMK_EPOCH_HAS_DUMMY);
	build_chunk(b, WMK_EPOCH_EDGES, 0, 0);
	for (uint32_t i = 0; i < 2 * LEVELS; i++)
		build_epoch_edge(b, 1, FIRST_SITE + i, i / 2 + 1, WMK_EDGE_ENCODED, i % 2 ? UINT64_C(1) << i / 2 : 0);
	build_chunk(b, WMK_EPOCHS, 0, 0);
	build_epoch_record(b, 1, LEVELS + 1, 2 * LEVELS);
	for (uint32_t i = 0; i < count; i++) {
		room_for(b, WMK_HEAP, 0, i);
		build_heap(b, i % (1u << LEVELS), WM_PREFIX_PROCESS, FIRST_SITE + 2 * LEVELS, 1, 16, 0, 0, 16);
		build_epoch(b, 1);
	}
	build_wmk_finish(b);
}

static bool is_of_pushes(enum crafted kind)
{
	return kind == CRAFTED_RUNS || kind == CRAFTED_REPEATS;
}

/* Functions, each of which calls the next, or pushes to itself, or is pushed to by the first; each captures. Ids are all 0. */
static void add_row(struct wmk_builder *b, enum crafted kind, uint32_t count, uint32_t name, uint32_t owner)
{
	bool is_recursive = is_of_pushes(kind);

	add_loader(b);
	for (uint32_t i = 0; i < count; i++)
		add_function(b, i, name, owner);
	for (uint32_t i = 0; i < 2 * count; i++) {
		room_for(b, WMK_SITES, FIRST_SITE, i);
		build_recorded_site(b, i / 2, i % 2 ? WMK_SITE_CAPTURE : WMK_SITE_CALL, WMK_NO_STRING, 0, 1 + i, 0);
	}
	for (uint32_t i = 0; i < count; i++) {
		room_for(b, WMK_EPOCH_FUNCTIONS, 0, i);
		build_epoch_function(b, 1, i, 1, 0, is_recursive || !i ? WMK_EPOCH_ROOT | WMK_EPOCH_HAS_DUMMY : 0);
	}
	for (uint32_t i = 0; i + !is_recursive < count; i++) {
		room_for(b, WMK_EPOCH_EDGES, 0, i);
		build_epoch_edge(b, 1, FIRST_SITE + (kind == CRAFTED_REPEATS ? 0 : 2 * i), is_recursive ? i : i + 1,
				 is_recursive ? WMK_EDGE_BACK : WMK_EDGE_ENCODED, 0);
	}
	build_chunk(b, WMK_EPOCHS, 0, 0);
	build_epoch_record(b, 1, count, count - 1);
}

static uint32_t long_string(struct wmk_builder *b, char c, uint64_t number)
{
	char text[LONG_BYTES + 1];

	memset(text, c, LONG_BYTES);
	text[LONG_BYTES] = '\0';
	build_chunk(b, WMK_STRINGS, number, 0);
	return (uint32_t)build_string(b, number, text);
}

/* Number of the i-th of many names of eight bytes with their heads: chunks of strings begin at multiples of their size. */
static uint32_t short_name(uint32_t i)
{
	return SHORT_NAMES + i / CHUNK_RECORDS * WMK_CHUNK_BYTES + i % CHUNK_RECORDS * 16;
}

static void add_short_names(struct wmk_builder *b, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		uint32_t first = short_name(i / CHUNK_RECORDS * CHUNK_RECORDS);
		char text[16];

		if (i % CHUNK_RECORDS == 0)
			build_chunk(b, WMK_STRINGS, first, 0);
		snprintf(text, sizeof text, "e%u", i);
		if (build_string(b, first, text) != short_name(i))
			abort();
	}
}

/* The prefix that event i stands on, the function that it is in, its epoch and its name. */
static void add_event(struct wmk_builder *b, enum crafted kind, uint32_t i, uint32_t count, uint32_t name)
{
	uint32_t prefix = WM_PREFIX_PROCESS, function = i;

	if (kind == CRAFTED_RUNS)
		prefix = WM_PREFIX_FIRST + i;
	if (kind == CRAFTED_REPEATS)
		prefix = WM_PREFIX_FIRST;
	if (kind == CRAFTED_CHAINS)
		function = count - 1 - i % 8;
	room_for(b, WMK_EVENTS, 0, i);
	build_event(b, i, 1, 0, prefix, FIRST_SITE + 2 * function + 1, kind == CRAFTED_METRICS ? short_name(i) : name);
	build_epoch(b, kind == CRAFTED_EPOCHS ? 2 + i : 1);
}

void large_crafted(struct wmk_builder *b, enum crafted kind, uint32_t bytes)
{
	uint32_t count = bytes / 256, tick, name, owner = WMK_NO_STRING;

	build_wmk_init(b, 1, "/bin/crafted");
	build_chunk(b, WMK_STRINGS, 0, 0);
	build_string(b, 0, "loader");
	tick = (uint32_t)build_string(b, 0, "tick");
	name = (uint32_t)build_string(b, 0, "f");
	if (kind == CRAFTED_NAMES) {
		name = long_string(b, 'a', 1 << 20);
		owner = long_string(b, 'b', 2 << 20);
	}
	if (kind == CRAFTED_METRICS)
		add_short_names(b, count);
	add_row(b, kind, count, name, owner);
	for (uint32_t i = 0; i < count && kind == CRAFTED_EPOCHS; i++) {
		room_for(b, WMK_EPOCHS, 0, i);
		build_epoch_record(b, 2 + i, 0, 0);
	}
	for (uint32_t i = 0; i < count && is_of_pushes(kind); i++) {
		room_for(b, WMK_NODES, WM_PREFIX_FIRST, i);
		build_node(b, WM_PREFIX_PROCESS, 0, FIRST_SITE + 2 * i, RUN);
		build_epoch(b, 1);
	}
	for (uint32_t i = 0; i < count; i++)
		add_event(b, kind, i, count, tick);
	build_wmk_finish(b);
}

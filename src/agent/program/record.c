/* record.c - numbers of what was discovered, and dictionaries. */
#include "agent/program/record.h"

#include <string.h>

#include "agent/program/symbol.h"
#include "agent/os/address_map.h"
#include "recorder/code.h"
#include "recorder/prefix_table.h"
#include "recorder/text.h"
#include "waymark/abi.h"

/* Under the agent's lock. */
static struct address_map captures, calls; /* address -> site number */
static struct address_map pairs;           /* site number and callee -> epoch whose dictionary has a record of them */
static uint32_t whole_epoch; /* the last one whose dictionary is no difference: those behind it have its records, too */
static uint32_t function_records, edge_records; /* of the present dictionary */
static uint64_t chain_records;                  /* of the dictionaries from whole_epoch on */
enum {
	CHAIN_SHARE = 2, /* a reader of an epoch reads so many times the records of a whole dictionary at most */
};

static uint32_t present(void)
{
	return agent_program.encoder.epoch;
}

void record_image(struct agent_image *image)
{
	if (image->record == UINT32_MAX && !image->is_gone)
		image->record = wmrt_code_image(image->ehdr, image->path, WMK_IMAGE_BINARY);
}

void record_forget(uintptr_t low, uintptr_t high)
{
	address_map_forget_range(&captures, low, high, 64);
	/* A call is known by where it returns to. */
	address_map_forget_range(&calls, low, high + 1, 64);
}

/* Where the file may have changed until somebody reads the recording. NULL: the reader finds it in the file. */
static const char *name_of(const struct agent_function *f)
{
	struct agent_image *image = f->image;

	if (!image->is_late || image->is_gone)
		return NULL;
	if (!image->names.items)
		symbol_index_make(image, &image->names);
	return symbol_index_find(&image->names, f->start - image->bias);
}

/* The recorded number of the function, in the present epoch's dictionary too. 0: there was no room. */
static uint32_t record_function(uint32_t function)
{
	struct agent_function *f = agent_function(function);

	if (!f->record) {
		record_image(f->image);
		f->record = wmrt_code_function(f->image->record, f->start - (uintptr_t)f->image->ehdr, name_of(f));
	}
	if (f->record && f->record_epoch < whole_epoch) {
		wmrt_code_epoch_function(present(), f->record, 0, 0, WMK_EPOCH_ROOT | WMK_EPOCH_HAS_DUMMY);
		f->record_epoch = present();
		function_records++;
	}
	return f->record;
}

static uint32_t position(const struct agent_function *f, uintptr_t address)
{
	return (uint32_t)(address - f->start);
}

static enum wmk_edge_kind kind_of(const struct callgraph_edge *edge)
{
	return edge->kind == EDGE_ENCODED ? WMK_EDGE_ENCODED : edge->kind == EDGE_CUT ? WMK_EDGE_CUT : WMK_EDGE_BACK;
}

/* rank: among the encoded calls of the callee, by addend; of one that pushes 0. */
static void record_edge(struct agent_call *call, uint32_t rank)
{
	enum wmk_edge_kind kind = kind_of(&agent_program.encoder.graph.edges[call->edge]);

	if (call->record_epoch >= whole_epoch && call->record_kind == kind && call->record_rank == rank)
		return;
	record_function(agent_site(call->site)->function);
	record_function(call->callee);
	wmrt_code_epoch_edge(present(), agent_site(call->site)->record, agent_function(call->callee)->record, kind,
			     rank);
	call->record_epoch = present();
	call->record_kind = (uint8_t)kind;
	call->record_rank = rank;
	edge_records++;
}

/* The name of the function at that address; image+0xoffset when no symbol is there. Cut to size. Under the agent's lock. */
static void name_address(uintptr_t address, char *name, size_t size)
{
	const struct agent_image *image = agent_image_at(address);
	const char *found = image ? symbol_name(image, address) : NULL;
	struct wmrt_text text = {name, size, 0};
	const char *slash;

	if (found) {
		wmrt_text_add(&text, found);
		return;
	}
	slash = image ? strrchr(image->path, '/') : NULL;
	wmrt_text_add(&text, slash ? slash + 1 : image ? image->path : "code");
	wmrt_text_add(&text, "+0x");
	wmrt_text_number(&text, image ? address - (uintptr_t)image->ehdr : address, 16, 1);
}

bool record_call(struct agent_call *call)
{
	struct agent_site *site = agent_site(call->site);
	const struct agent_function *f;
	uint32_t flags = site->kind == SCAN_TAIL || site->kind == SCAN_TAIL_INDIRECT ? WMK_SITE_TAIL : 0;
	uint32_t function = record_function(site->function);
	char name[SYMBOL_MAX];

	f = agent_function(site->function);
	if (call->edge == AGENT_NONE) {
		name_address(agent_call_start(call), name, sizeof name);
		call->foreign = wmrt_code_site(function, WMK_SITE_FOREIGN, position(f, site->address), flags, name);
		return true;
	}
	if (!site->record)
		site->record = wmrt_code_site(function, WMK_SITE_CALL, position(f, site->address), flags, NULL);
	record_edge(call, 0); /* it is new: it pushes */
	return true;
}

uint32_t record_point(uint32_t function, uintptr_t address, bool is_call)
{
	struct address_map *known = is_call ? &calls : &captures;
	uint32_t record = record_function(function), number;

	if (address_map_find(known, address, &number))
		return number;
	/* A call is known by where it returns to. */
	number = wmrt_code_site(record, is_call ? WMK_SITE_CALL : WMK_SITE_CAPTURE,
				position(agent_function(function), address - is_call), 0, NULL);
	address_map_set(known, address, number);
	return number;
}

uint32_t record_foreign_call(uint32_t function, uintptr_t address, const char *name)
{
	uint32_t record = function == AGENT_NONE ? 0 : record_function(function);

	return record ? wmrt_code_site(record, WMK_SITE_FOREIGN, position(agent_function(function), address), 0, name)
		      : 0;
}

uint32_t record_root(uint32_t prefix, uintptr_t entry)
{
	uint32_t function = agent_function_at(entry), record, site, ret;

	if (prefix == WM_PREFIX_LOST || !agent_function_is(function, AGENT_FUNCTION_FOREIGN) ||
	    agent_function(function)->image->kind != AGENT_IMAGE_CODE)
		return prefix;
	record = record_function(function);
	site = record ? wmrt_code_site(record, WMK_SITE_FOREIGN, 0, WMK_SITE_SELF, NULL) : 0;
	ret = site ? wmrt_intern(prefix, present(), 0, site, 1) : WM_PREFIX_LOST;
	return ret == WM_PREFIX_LOST ? prefix : ret;
}

uint32_t record_point_call(uint32_t function, uintptr_t address, uint32_t callee)
{
	uint32_t site = record_point(function, address, true), to = record_function(callee), epoch = 0;
	uint64_t pair = (uint64_t)site << 32 | to;

	if (!site || !to || (address_map_find(&pairs, pair, &epoch) && epoch >= whole_epoch))
		return site;
	wmrt_code_epoch_edge(present(), site, to, WMK_EDGE_BACK, 0);
	edge_records++;
	address_map_set(&pairs, pair, present());
	return site;
}

/* The encoded calls of each function by rising addend, then those that push. */
static void record_edges(const struct agent_program *p)
{
	const struct callgraph *g = &p->encoder.graph;

	for (uint32_t n = 0; n < g->node_count; n++) {
		uint32_t rank = 0;

		for (uint32_t i = g->range_start[n]; i < g->range_start[n + 1]; i++)
			if (g->ranges[i].edge != CALLGRAPH_DUMMY)
				record_edge(agent_call(p->edge_calls[g->ranges[i].edge]), rank++);
	}
	for (uint32_t e = 0; e < g->edge_count; e++)
		if (g->edges[e].kind != EDGE_ENCODED)
			record_edge(agent_call(p->edge_calls[e]), 0);
}

void record_epoch(void)
{
	const struct agent_program *p = &agent_program;
	const struct callgraph *g = &p->encoder.graph;
	uint32_t base = present() - 1;

	chain_records += function_records + edge_records;
	function_records = edge_records = 0;
	if (chain_records >= CHAIN_SHARE * ((uint64_t)g->node_count + g->edge_count)) {
		base = 0;
		whole_epoch = present();
		chain_records = 0;
	}
	wmrt_code_begin();
	for (uint32_t n = 0; n < g->node_count; n++)
		record_function(p->node_functions[n]);
	record_edges(p);
	wmrt_code_epoch_commit_ranks(present(), base, function_records, edge_records);
	wmrt_code_end();
}

bool record_first_epoch(void)
{
	whole_epoch = present();
	return wmrt_code_epoch_commit_ranks(present(), 0, 0, 0);
}

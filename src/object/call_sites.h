/*
 * call_sites.h - the calls of a function, as its debug information has them: where each is, what it calls, which are tail calls.
 *
 * DWARF 5 has DW_TAG_call_site, GNU's extension of DWARF 4 the same. Addresses are those of the module (debug_lines.h). Not thread-safe.
 */
#ifndef WM_OBJECT_CALL_SITES_H
#define WM_OBJECT_CALL_SITES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "object/debug_lines.h"

struct call_site {
	uint64_t address; /* in the instruction: of a call its last byte */
	bool is_tail;
	uint64_t callee;         /* where it begins; 0: not known */
	const char *callee_name; /* link name of one that is defined elsewhere; NULL: not known */
};

struct call_sites {
	uint64_t entry;          /* where the function begins */
	bool has_all_tail_calls; /* the debug information says that none is left out */
	uint32_t count;
	const struct call_site *sites;
};

struct call_site_index;

/* Of a module's lines, which outlive *ret. */
struct error *call_site_index_create(struct debug_lines *lines, struct call_site_index **ret);
/* NULL is passed over. */
void call_site_index_destroy(struct call_site_index *x);

/* The calls of the function whose code is at `address`; they are x's. NULL: no function is known there. */
struct error *call_sites_at(struct call_site_index *x, uint64_t address, const struct call_sites **ret);

#endif

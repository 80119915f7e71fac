/*
 * debug_lines.h - what the DWARF of a module says of an address: the function, the functions that were inlined there, and the line of each.
 *
 * The chain of inlined functions is that of addr2line and gdb: the innermost entry of the debug information that covers the address, and the
 * entries that it is nested in, up to the function. A range of an inlined function may lie outside of its caller's range (gcc).
 *
 * The ranges of units are sorted when the index is made, those of a unit when the first address is in it. A lookup is a binary search.
 * Addresses are those of the module, which libdwfl has placed. Not thread-safe.
 */
#ifndef WM_OBJECT_DEBUG_LINES_H
#define WM_OBJECT_DEBUG_LINES_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "object/locate.h"

struct debug_lines;

struct debug_line {
	const char *function; /* linkage name, else name; NULL: not known */
	const char *file;     /* NULL: not known */
	uint32_t line;        /* 0: not known */
	uint32_t column;
};

/*
 * A module without DWARF has an empty index. The module outlives *ret. `search` (may be NULL): where a file that several debug files share
 * (dwz) is looked for if libdwfl has not found it.
 */
struct error *debug_lines_create(Dwfl_Module *module, const struct object_search *search, struct debug_lines **ret);
/* NULL is passed over. */
void debug_lines_destroy(struct debug_lines *x);

/*
 * Says which .dwo file of split debug information was not found, the first one: functions that were inlined in such units have no names. NULL:
 * none. It is x's.
 */
const struct error *debug_lines_lost(const struct debug_lines *x);

/*
 * Functions and lines of the instruction at `address`, innermost first; each next line is where the one before it was inlined. The last one is
 * the function itself; its name is NULL where only a line is known (assembly). *ret_count is 0 where nothing is known. The array
 * is the arena's; strings live as long as x and the module.
 */
struct error *debug_lines_at(struct debug_lines *x, uint64_t address, struct arena *arena,
			     const struct debug_line **ret, uint32_t *ret_count);

/* Entries of the debug information. */
struct debug_place {
	Dwarf_Die unit;     /* has the lines */
	Dwarf_Die contents; /* has the functions; that of a split unit is another one */
	uint64_t bias;      /* of the module's addresses over those in the debug information */
	uint32_t count;     /* 0: no function is known there */
};
/*
 * The entries around `address`, outermost first: the function, its blocks, what was inlined, blocks of that. Of more than
 * `room` the innermost ones are left out.
 */
struct error *debug_lines_scopes(struct debug_lines *x, uint64_t address, Dwarf_Die *dies, uint32_t room,
				 struct debug_place *ret);
/* The linkage name of a function's entry, else its name; NULL: it has none. */
const char *debug_link_name(Dwarf_Die *die);
/* Calls visit for each unit until it returns false. */
void debug_lines_each_unit(struct debug_lines *x, bool (*visit)(void *data, Dwarf_Die *contents), void *data);

#endif

/*
 * pathmeta_bytes.h - the layout of a unit of `.debug_waymark_paths`, for its writer and its reader. docs/format.md has the
 * rest.
 *
 * The frame is that of section.h, once for each unit; zeros may stand between two. The raw body, every number uleb128 but the
 * two keys (u64), every string a reference (0 = none, else index + 1):
 *
 *     string_count pool_bytes pool (each string ends with a NUL)
 *     producer name stage
 *     function_count {
 *             bytes           of the rest of this function: one that is known already is passed over
 *             name_key cfg_key path_count
 *             link_name name file line kind bits flags interesting interval
 *             planned         0: no plan; else 1 + how many numbers follow: the first, then how far each is from the last
 *             node_count edge_count line_count
 *             for each node { out_edges lines
 *                     for each line { 4 * zigzag(line - line before) + LINE_* bits  [function file]  column }
 *                     for each out-edge { to  how (EDGE_*)  [zigzag(value) of a case] [cases] }
 *                     cases: { 2 * ranges + has_more { zigzag(first - last before, at first 0)  last - first } }
 *             }
 *             selects switch_tables
 *             test_count { node - (node before + 1)  flags  compare  function file  line column  name  number count  [from] }
 *             hiding (HIDING_*)
 *             hidden_count { name }
 *             [firm_count { index - index before }: with HIDING_OPTIMIZED]
 *     }
 *     skipped_count { name reason }
 *
 * Private to src/format.
 */
#ifndef WM_FORMAT_PATHMETA_BYTES_H
#define WM_FORMAT_PATHMETA_BYTES_H

#include "format/section.h"

#define PATHMETA_KIND ((struct section_kind){"\x89WMP\r\n\x1a\n", 1, 1})

enum {
	LINE_ELSEWHERE = 1,
	LINE_BRANCH_ONLY = 2,
	LINE_SHIFT = 2,
};

/* Flags of a function: facts that its code does not tell. */
enum {
	HIDING_UNSEEN = 1,
	HIDING_OPTIMIZED = 2,
	HIDING_MAX = 3,
};

/* How an edge is: one number. */
enum {
	EDGE_CUT_MASK = 7,
	EDGE_FIXED = 1 << 3,
	EDGE_OUTCOME_SHIFT = 4,
	EDGE_HOW_MAX = (1 << 8) - 1,
};

#endif

/*
 * paths.h - in-process ABI of path counters: what instrumented code, the runtime and the file format agree on. Included by
 * abi.h's users; stdint only.
 *
 * Each instrumented function has a descriptor (constant data) and, in each thread, a slot (8 bytes of thread-local storage)
 * that points to the thread's table of the function, NULL until the thread first enters it. Tables lie in the mapped .wmk:
 * a killed process loses nothing, and no two threads ever write to the same one.
 *
 *      entry of the function                          end of a path, number (or packed number) in r
 *
 *        table = slot;                                  ARRAY  table[2 + r]++
 *        if (!table)                                    PAIRS  i = top `bits` bits of (r, or r * WM1_PATH_HASH);
 *                table = wm1_path_enter(d, &slot);              if (table[2 + 2 i] == r)  table[2 + 2 i + 1]++
 *        table[0]++;   (activations begun)                      else wm1_path_miss(d, table, r)
 *                                                               (or wm1_path_residual, when a plan chose the pairs)
 *
 * Functions of one object may share a slot (`more`): it points to the first one's table, the others' follow, each behind its
 * record in the file (struct wmk_paths, a multiple of 16 bytes with its words).
 *
 * Counters are incremented by one instruction each (`incq mem`), so a signal handler on the thread may do the same.
 *
 *      table:  word 0   activations begun: entries of the function, and returns of calls that return more than once
 *              word 1   the runtime's
 *              word 2.. ARRAY: entry_count counters.  PAIRS: entry_count pairs (check, counter)
 */
#ifndef WAYMARK_PATHS_H
#define WAYMARK_PATHS_H

#include <stdint.h>

enum wm1_path_kind {
	WM1_PATHS_ARRAY = 1, /* counters indexed by Ball-Larus number */
	WM1_PATHS_HASH = 2,  /* pairs; r is Ball-Larus number + 1, the index a hash of it; filled as paths are met */
	WM1_PATHS_PLAN =
		3, /* pairs; r is packed (core/paths/ppp.h); checks are given, filled in when the table is made */
};

enum wm1_path_flag {
	/* One path, and nothing in it that may stop it (calls, faults): entries[0] is counted at entry, word 0 is not. */
	WM1_PATHS_AT_ENTRY = 1 << 0,
	/* A call in it returns twice, and paths that were under way when it did are counted as left (cfg.may_be_left). Of the
	 * metadata only. */
	WM1_PATHS_LEFT = 1 << 1,
};

/* The hash of r: (r * WM1_PATH_HASH) >> (64 - bits). With entry_count 0 every path goes to wm1_path_miss. */
#define WM1_PATH_HASH 0x9e3779b97f4a7c15u

enum {
	WM1_PATHS_MAX_BITS = 16,          /* of a table of pairs: 2^16 of them are 1 MiB */
	WM1_PATHS_MAX_COUNTERS = 1 << 17, /* of an array: 1 MiB */
	WM1_PATHS_ARRAY_DEFAULT = 16384,  /* functions with more paths than this get pairs (--wm-path-array) */
	WM1_PATHS_HASH_BITS_DEFAULT = 8,
};

/* 56 bytes. Constant but for `ehdr`, which is relocated. */
struct wm1_path_function {
	uint32_t abi_version; /* WM1_ABI_VERSION */
	uint8_t kind;
	uint8_t bits; /* pairs: entry_count is 2^bits, or 0 */
	uint16_t flags;
	uint64_t name_key; /* FNV-1a-64 of the link name; of a local function, of "unit:name" */
	uint64_t cfg_key;  /* of its control flow: another one means other paths */
	uint64_t path_count;
	const void *ehdr;       /* ELF header of the image in memory (__ehdr_start) */
	const uint64_t *checks; /* PLAN: entry_count words; else NULL */
	uint32_t entry_count;
	uint32_t more; /* descriptors that follow this one and share its slot, all of ARRAY; 0 in those */
};

#endif

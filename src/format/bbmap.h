/*
 * bbmap.h - the machine blocks of each function and where they lead to: section .llvm_bb_addr_map (LLVM 19, version 2, with
 * branch probabilities, which name the successors; https://llvm.org/docs/Extensions.html#sht-llvm-bb-addr-map-section).
 */
#ifndef WM_FORMAT_BBMAP_H
#define WM_FORMAT_BBMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"

struct bbmap_block {
	uint64_t address; /* as linked */
	uint64_t len_bytes;
	uint32_t *successors; /* indices in the function's blocks; NULL when the section has no probabilities */
	uint32_t successor_count;
	bool is_landing_pad;
	bool falls_through; /* into the next block in the order of the code */
	bool is_end;        /* returns or leaves by a tail call */
};

struct bbmap_function {
	uint64_t address;           /* its entry */
	struct bbmap_block *blocks; /* [0] is the entry; ranges of a split function may lie apart */
	uint32_t block_count;
	bool has_successors;
};

/* A run of blocks of one function in the code. */
struct bbmap_range {
	uint64_t start, end;
	uint32_t function; /* index */
	uint32_t first_block, block_count;
};

struct bbmap {
	struct arena arena;
	struct bbmap_function *functions; /* by rising address; discarded ones (address 0) are left out */
	size_t function_count;
	struct bbmap_range *ranges; /* by rising start */
	size_t range_count;
};

/*
 * Version 2, and version 1 (LLVM 16), which has no successors. Others are an ERROR_FORMAT that says so, as is anything damaged.
 * ret is written only on success.
 */
struct error *bbmap_read(const void *bytes, size_t len_bytes, const char *name, struct bbmap *ret);
void bbmap_deinit(struct bbmap *m);

/* The function and the block in which the address is; NULL: none. */
const struct bbmap_function *bbmap_find(const struct bbmap *m, uint64_t address, uint32_t *ret_block);

#endif

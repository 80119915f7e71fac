/*
 * switches.h - test only: what a program that switch_pass.cpp changed tells of one run, in the file that SWITCH_OUT names.
 *
 *      struct switch_header; a byte for each block, which is 1 if it ran; struct switch_value for each instruction, and again for where it writes
 *
 * SWITCH_AT is the number of a conditional branch and SWITCH_TIME which of its executions goes the other way (Zhang, Gupta and Gupta, Locating
 * Faults Through Automated Predicate Switching, ICSE 2006). Instructions are numbered from 1 in the module's order, debug intrinsics not counted,
 * and so are blocks.
 */
#ifndef WM_TESTS_ANALYZE_SWITCHES_H
#define WM_TESTS_ANALYZE_SWITCHES_H

#include <stdint.h>

enum {
	SWITCH_BLOCKS = 1 << 16,
	SWITCH_VALUES = 1 << 18,
	SWITCH_STEPS = 1 << 20, /* blocks that a run may go through */
	SWITCH_MAGIC = 0x68637773,
};

struct switch_header {
	uint32_t magic;
	uint32_t last; /* the block that ran last */
	uint32_t steps;
	uint32_t is_cut; /* by SWITCH_STEPS */
};

/*
 * How often it ran, and the values that it made, in their order; of values that are no numbers of 32 bits or less only how often. `places` has the
 * addresses that stores and functions of libraries are given.
 */
struct switch_value {
	uint64_t values;
	uint64_t count;
};

struct switch_run {
	struct switch_header header;
	uint8_t blocks[SWITCH_BLOCKS];
	struct switch_value values[SWITCH_VALUES], places[SWITCH_VALUES];
};

#endif

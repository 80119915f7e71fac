/*
 * image.h - an ELF file as the analysis of functions wants it, for tests: its segments at the addresses that the file names, with
 * relocations applied, the ranges of its .eh_frame, landing pads, and what data words point to.
 *
 * Reads .eh_frame by itself, so that what it says is independent of the agent's reader. Trusts the file.
 */
#ifndef WM_TESTS_AGENT_IMAGE_H
#define WM_TESTS_AGENT_IMAGE_H

#include "agent/scan/scan.h"

struct image_range {
	uint64_t low, high;
	uint64_t lsda; /* 0: none */
	int entry_cfa_off_bytes;
	const uint8_t *program, *program_end; /* of the FDE */
	const struct image_rules *rules;
};

/* A CIE. */
struct image_rules {
	uint64_t off;
	uint64_t code_align;
	int64_t data_align;
	uint8_t fde_encoding, lsda_encoding;
	bool has_augmentation, is_signal;
	const uint8_t *program, *program_end;
};

struct image {
	uint8_t *bytes; /* of address 0 on, so to say: low .. */
	uint64_t low, high;
	bool is_pie;
	uint64_t entry;
	struct scan_range text; /* the last that is executable */
	struct scan_range data[8];
	struct image_range *ranges;
	size_t range_count;
	struct image_rules *rules;
	size_t rule_count;
	uint64_t *pointers; /* sorted; into the text */
	size_t pointer_count;
	struct scan_image scan;
};

/* False, with a message on stderr, when the file is not a dynamic ELF file for x86-64 with .eh_frame. Do not move *image. */
bool image_load(const char *path, struct image *image);
void image_unload(struct image *image);

#endif

/*
 * eh_frame.h - .eh_frame_hdr and .eh_frame of an ELF image that is mapped in this process, x86-64: functions, landing pads.
 *
 * Everything here is safe in signal handlers and threads: no allocation, no locks, no libc but memcpy. A table is a view of the
 * image; it owns nothing, is not written after eh_table_init and is void once the image is unmapped. Damaged bytes make a
 * function return false; nothing outside [low, high) of the image is read. Out-parameters are unspecified after false.
 *
 * Source: Linux Standard Base Core 5, "Exception Frames" and "eh_frame_hdr"; the LSDA as gcc's except.cc writes it.
 */
#ifndef WM_NATIVE_EH_FRAME_H
#define WM_NATIVE_EH_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Addresses [low, high) of code. */
struct eh_text {
	uintptr_t low, high;
};

/* Where things are in memory. */
struct eh_image {
	const uint8_t *hdr; /* what PT_GNU_EH_FRAME says; NULL: the image has none */
	size_t hdr_bytes;
	/* All of it mapped and readable. It holds hdr and .eh_frame, and the LSDAs that eh_landing_pads is to read. */
	const uint8_t *low;
	const uint8_t *high;
	/* The executable segments, all of them mapped and readable. */
	const struct eh_text *texts;
	size_t text_count;
};

struct eh_table {
	struct eh_image image;
	const uint8_t *entries; /* pairs of 4 bytes, relative to hdr: start of a function, its FDE; sorted by start */
	size_t count;
};

/* Views of an FDE and its CIE. */
struct eh_function {
	uintptr_t start; /* a part of a function that lies elsewhere (.cold) is a function here */
	uintptr_t end;
	const uint8_t *fde;
	uintptr_t lsda; /* 0: none */
	bool is_signal_frame;

	/* The data that CFI needs (cfi.h). */
	const uint8_t *cie_code, *cie_code_end;
	const uint8_t *fde_code, *fde_code_end;
	uint64_t code_align;
	int64_t data_align;
	uint8_t return_column;
	uint8_t pointer_encoding;
};

/*
 * false: there is no binary search table (linkers other than ld, gold and lld may write none) or it is damaged. The table is then
 * empty but usable: nothing is found in it, and image says where the code is.
 */
bool eh_table_init(struct eh_table *ret, const struct eh_image *image);

/* The executable segment that has the address; NULL: none has. */
static inline const struct eh_text *eh_text_of(const struct eh_image *image, uintptr_t address)
{
	for (size_t i = 0; i < image->text_count; i++)
		if (address >= image->texts[i].low && address < image->texts[i].high)
			return &image->texts[i];
	return NULL;
}

/* The function that has the address: a binary search. */
bool eh_find(const struct eh_table *t, uintptr_t address, struct eh_function *ret);

/* All functions, in rising order of start: index below t->count. false: this entry is damaged; others may not be. */
bool eh_function_at(const struct eh_table *t, size_t index, struct eh_function *ret);

enum {
	EH_ENTRY_UNKNOWN = INT32_MIN,
};

/* CFA - rsp at the first instruction, by the CFI: 8 in a function that is called. EH_ENTRY_UNKNOWN: the CFA is not that simple. */
int32_t eh_entry_cfa_offset(const struct eh_table *t, const struct eh_function *f);

/*
 * Visits the landing pads of the function's LSDA, which lie in the text; one may be visited several times. visit returns false to
 * stop. false: the LSDA is damaged, has an unknown encoding or lies outside [low, high); visited pads are right even then.
 */
bool eh_landing_pads(const struct eh_table *t, const struct eh_function *f,
		     bool (*visit)(void *data, uintptr_t address), void *data);

#endif

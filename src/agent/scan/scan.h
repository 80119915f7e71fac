/*
 * scan.h - the analysis of one function of a mapped image: where it calls and jumps away, what of its bytes can be replaced.
 *
 * Bytes can be replaced by a jump when control comes to them only through their first. A function is decoded from start to end with
 * all its parts; where control can come is then, with more rather than fewer targets when in doubt:
 *   direct branches of all parts; landing pads; endbr64; entries of jump tables (relative to the table or to a label whose address
 *   the function takes, and absolute ones); each data word, lea and 32-bit immediate that points into the function.
 * Calls and jumps that leave the function are its sites. Bytes around them:
 *
 *            prefix          site             suffix
 *     ... [whole insns] [call *8(%rax)] [whole insns, 5 bytes and more] ...
 *                                       ^ return address
 *
 * The regions of a function (entry, leads, sites, rooms) do not overlap, and none holds a call, or a target behind its first byte.
 *
 * A cold part is a range of .eh_frame of its own. It starts with a frame (a CFA other than rsp + 8), or jumps into the interior of
 * its function.
 *
 * All memory comes from the allocator that is handed in. Nothing locks; functions may be analysed in several threads when callbacks,
 * allocator and caches permit. What a function reads must stay mapped.
 */
#ifndef WM_AGENT_SCAN_H
#define WM_AGENT_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/scan/insn_cache.h"
#include "base/allocator.h"

enum {
	SCAN_MAX_CHUNKS = 16,
	/* A CFA that is not the stack pointer and a constant, or not known. */
	SCAN_CFA_UNKNOWN = -1,
};

/* Addresses [low, high) and their bytes: at low's own address in-process. */
struct scan_range {
	uint64_t low, high;
	const uint8_t *bytes;
};

struct scan_image {
	/* What is executable. */
	const struct scan_range *texts;
	size_t text_count;
	/* Data, read-only or not, with relocations applied: where jump tables are. */
	const struct scan_range *data;
	size_t data_count;
	struct insn_cache *cache;  /* may be that of other images, too; NULL: each instruction is decoded */
	bool is_without_registers; /* nobody asks which are live: all are said to be */
	void *state;               /* of the callbacks */
	/* The range [*start, *end) of .eh_frame that holds address, and the CFA's distance from the stack pointer at its start, or
	 * SCAN_CFA_UNKNOWN. False when none does. */
	bool (*function_at)(void *state, uint64_t address, uint64_t *start, uint64_t *end, int *entry_cfa_off_bytes);
	/* The second entry of the range that starts at start (inner.h), as it was before anything was written there; 0: it has none. */
	uint64_t (*inner_of)(void *state, uint64_t start);
	/* The CFA's distance from the stack pointer before the instruction at address, or SCAN_CFA_UNKNOWN. */
	int (*cfa_offset_at)(void *state, uint64_t address);
	/* Calls visit for each landing pad of the range of .eh_frame that starts at start, whatever range that is in. */
	void (*landing_pads)(void *state, uint64_t start, void (*visit)(void *visitor, uint64_t address),
			     void *visitor);
	/* The lowest address in [low, high) that some data word of the image (relocated, or of a non-PIE any aligned one) holds; 0 when
	 * there is none. */
	uint64_t (*next_data_target)(void *state, uint64_t low, uint64_t high);
};

static inline bool scan_range_has(const struct scan_range *range, uint64_t address)
{
	return address >= range->low && address < range->high;
}

/* The executable range that has the address; NULL: none has. */
static inline const struct scan_range *scan_text_of(const struct scan_image *image, uint64_t address)
{
	for (size_t i = 0; i < image->text_count; i++)
		if (scan_range_has(&image->texts[i], address))
			return &image->texts[i];
	return NULL;
}

enum scan_result {
	SCAN_OK,
	SCAN_NO_MEMORY,
	SCAN_NO_FUNCTION, /* no range of .eh_frame starts there, or one of a PLT, or of a cold part whose function is not
			   * found */
};

enum scan_kind {
	SCAN_CALL,          /* direct */
	SCAN_CALL_INDIRECT, /* through a register or memory */
	SCAN_TAIL,          /* a direct jump that leaves the function, perhaps a conditional one (insn.kind says) */
	SCAN_TAIL_INDIRECT,
};

struct scan_site {
	uint64_t address;
	uint64_t target; /* of direct ones; it may be a PLT entry (scan_is_plt) or no function's start */
	struct insn insn;
	uint8_t kind; /* enum scan_kind */
	/* Bytes of whole instructions behind the site. For calls these are at the return address, at least 5 (but for is_short_suffix),
	 * and can be replaced by a jump. For tails that are not conditional: bytes that nothing reaches, so that these and the site have at least 5; 0 when the
	 * site alone has. */
	uint8_t suffix_bytes;
	uint8_t room_count; /* instructions in it */
	/* Bytes of whole instructions before a site of less than 5 bytes, so that lead and site have at least 5 and nothing comes to
	 * the site but through the prefix, whose first byte may be a target. Of calls none writes the stack pointer. 0 when the site has 5
	 * bytes, or there is none. */
	uint8_t prefix_bytes;
	uint8_t prefix_count;
	bool prefix_needs_stack : 1; /* some instruction of the prefix reads the stack pointer, or branches: no return address may be pushed */
	bool has_suffix : 1;
	/* SCAN_CALL_INDIRECT, where there is no room: site and suffix_bytes together have at least 5, but not the latter. */
	bool is_short_suffix : 1;
	bool is_entered : 1; /* something comes to the site other than from the instruction before it */
	/* A branch or pointer leads to the return address itself: what stands there must ask who came. */
	bool is_suffix_entered : 1;
	/* The function's part ends behind the call, or ud2 or the like follows: the callee does not return. */
	bool is_last : 1;
	/* SCAN_TAIL_INDIRECT: the target may also be in this function (a computed goto): what stands there must compare. */
	bool may_stay : 1;
	/* What may be read after the return before it is written, conservatively: of general registers as a mask, of the status flags
	 * as bits of EFLAGS. Values that callers keep in caller-saved registers over calls of local functions (gcc's -fipa-ra) count: of a direct call those
	 * that the callee's function clobbers (regs_clobbered) are dead as well, except rax and rdx.
	 * For calls only. */
	uint16_t regs_live;
	uint16_t flags_live;
};

struct scan_chunk {
	uint64_t low, high;
};

struct scan_function {
	uint64_t start;
	/* The part at start first, then cold parts. */
	struct scan_chunk chunks[SCAN_MAX_CHUNKS];
	size_t chunk_count;
	/* By address in each chunk, chunks in order. From the allocator: scan_function_release. */
	struct scan_site *sites;
	size_t site_count;
	/* Addresses of the image's other code that it takes, some of them more than once; of functions, perhaps. The same. */
	uint64_t *taken;
	size_t taken_count;
	size_t insn_count;
	/* NULL: understood. Otherwise nothing of the function may be changed, sites are those found, and this says why. */
	const char *reason;
	uint64_t reason_address; /* of what was not understood */
	bool is_leaf;            /* no sites */
	bool switches_stack;     /* some instruction may leave another stack */
	bool entry_is_target;    /* something in the function goes back to its start */
	/* Bytes from entry_address, which is behind endbr64 if that is there, that a jump can replace; 0: there are none. */
	uint64_t entry_address;
	uint8_t entry_bytes;
	uint8_t entry_count;
	/* General registers that a call of the function may change: with calls of what is not known, all that the ABI lets it. */
	uint16_t regs_clobbered;
};

/*
 * The function that the range of .eh_frame at start belongs to, which is the start of that range. For a cold part ret->start is
 * another one when its function is found: it jumps there. A part that does not is no function; but one that starts without a frame
 * looks like a function until a function has it among its chunks, so ask for what is called. *ret is filled in with SCAN_OK only.
 */
enum scan_result scan_function(const struct scan_image *image, uint64_t start, const struct allocator *allocator,
			       struct scan_function *ret);
/* Frees what scan_function allocated. */
void scan_function_release(struct scan_function *f, const struct allocator *allocator);

/*
 * True for an entry of a procedure linkage table (.plt, .plt.sec, .plt.got): [endbr64] [bnd] jmp *slot(%rip). *slot is the address of
 * its word of the global offset table. A function that consists of such a jump is the same to its callers.
 */
bool scan_is_plt(const struct scan_image *image, uint64_t address, uint64_t *slot);

#endif

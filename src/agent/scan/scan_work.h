/*
 * scan_work.h - what the steps of scan_function share: the decoded parts of a function, and marks for their bytes.
 *
 * Private to src/agent/scan*.c.
 */
#ifndef WM_AGENT_SCAN_WORK_H
#define WM_AGENT_SCAN_WORK_H

#include "agent/scan/scan.h"

/* Of each byte of a part. */
enum scan_mark {
	SCAN_MARK_INSN = 1,    /* an instruction starts here */
	SCAN_MARK_TARGET = 2,  /* control may come here other than from the instruction before */
	SCAN_MARK_SITE = 4,    /* a site starts here */
	SCAN_MARK_TAKEN = 8,   /* belongs to a region or a site */
	SCAN_MARK_STAY = 16,   /* an indirect jump that may stay in the function, although it may leave it */
	SCAN_MARK_LEAVE = 32,  /* a jump that leaves the function */
	SCAN_MARK_BRANCH = 64, /* a target of a direct jump of the function */
	SCAN_MARK_LABEL = 128, /* data or instructions hold its address, or the distance to it */
};

struct scan_part {
	uint64_t low, high;
	const uint8_t *bytes;
	uint8_t *marks;      /* high - low of them */
	size_t first, count; /* its instructions */
};

/* A range of .eh_frame that was asked for jumps into the parts known then. */
struct scan_asked {
	uint64_t low;
	size_t part_count;
	bool jumps_back;
};

enum {
	SCAN_ASKED = 8,
	SCAN_CALLER_SAVED = 0x0fc7, /* rax rcx rdx rsi rdi r8 .. r11 */
};

struct scan_work {
	const struct scan_image *image;
	const struct allocator *allocator;
	uint64_t start;
	uint64_t inner;     /* the function's second entry; 0: it has none */
	struct insn *insns; /* of all parts, in the order of parts */
	size_t insn_count, insn_capacity;
	struct scan_part parts[SCAN_MAX_CHUNKS];
	size_t part_count;
	uint64_t inside_of; /* the start of a range of .eh_frame into whose interior a jump leads that is no part; 0: none */
	struct scan_asked asked[SCAN_ASKED]; /* a ring */
	size_t asked_count;
	bool has_labels; /* data or instructions hold addresses inside the function */
	bool entry_is_target;
	bool has_frame_pointer; /* at the instruction that scan_stack.c looks at */
	bool no_memory;
	const char *reason; /* the first one */
	uint64_t reason_address;
};

void scan_refuse(struct scan_work *w, uint64_t address, const char *reason);
/* The part that holds address; NULL when none does. */
struct scan_part *scan_part_of(struct scan_work *w, uint64_t address);
uint8_t *scan_mark_of(struct scan_work *w, uint64_t address);
/* The index of the instruction at address in w->insns; SIZE_MAX when none starts there. */
size_t scan_find(struct scan_work *w, uint64_t address);
/* Decodes [low, high) as another part. False when there is no more room for it; that refuses. */
bool scan_add_part(struct scan_work *w, uint64_t low, uint64_t high);

/* scan_targets.c: finds the parts and marks all targets in them, and the jumps that leave the function. */
void scan_mark_targets(struct scan_work *w);
/* scan_jumps.c: says of each indirect jump whether it stays. */
void scan_mark_jumps(struct scan_work *w);
/* scan_stack.c: some instruction may leave another stack. */
bool scan_switches_stack(struct scan_work *w);
/* scan_regions.c: sites, and the bytes around them. False when memory is short. */
bool scan_add_sites(struct scan_work *w, struct scan_function *f);
/* scan_taken.c: addresses of other code that it takes. False when memory is short. */
bool scan_add_taken(struct scan_work *w, struct scan_function *f);
/* scan_live.c: fills in what is live behind the calls. */
void scan_add_liveness(struct scan_work *w, struct scan_function *f);

/* The eight or four bytes of data at address. False when these are not in the image's data. */
bool scan_read_data(const struct scan_image *image, uint64_t address, void *ret, size_t size_bytes);
/* Of an address in the text. */
static inline const uint8_t *scan_text_at(const struct scan_image *image, uint64_t address)
{
	const struct scan_range *text = scan_text_of(image, address);

	return text->bytes + (address - text->low);
}

#endif

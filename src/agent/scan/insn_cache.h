/*
 * insn_cache.h - decoded instructions by their shape: the bytes in front of displacement and immediate, which say all else of it.
 *
 *      48 8b 44 24 | 08        mov 8(%rsp), %rax           shape 48 8b 44 24, a displacement of one byte
 *      48 8b 44 24 | 10        mov 16(%rsp), %rax          the same
 *
 * The decoder sees a shape once; of the next instruction that begins with these bytes only displacement and immediate are read. What
 * comes out is what insn_decode says. Compiled code has a few thousand shapes.
 *
 * A cache is changed by each use: one thread at a time. All zero is empty.
 */
#ifndef WM_AGENT_INSN_CACHE_H
#define WM_AGENT_INSN_CACHE_H

#include "agent/scan/insn.h"

enum {
	INSN_CACHE_BITS = 12,
};

/* What all instructions of a shape have in common. */
struct insn_cached {
	uint64_t shape; /* its bytes, and their number in the highest; 0: none */
	uint8_t common[sizeof(struct insn) - INSN_COMMON_AT];
	struct insn_fields fields;
	uint8_t imm; /* that no byte says */
};

struct insn_cache {
	struct insn_cached slots[1 << INSN_CACHE_BITS];
};

/* Instructions of all images of this process. Under the agent's lock. */
extern struct insn_cache agent_insns __attribute__((visibility("hidden")));

/* As insn_decode. cache: NULL for none. */
bool insn_decode_cached(struct insn_cache *cache, const uint8_t *bytes, size_t available_bytes, uint64_t address,
			struct insn *ret);

#endif

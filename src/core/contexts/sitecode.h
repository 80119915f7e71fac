/*
 * sitecode.h - a chain of calls as a word of bits, without a call graph: each call adds a code to the word that its caller was entered with.
 *
 * A word, as it is when a call enters its callee:
 *
 *      bits 63..14   payload:  0 .. 0 | 1 | index | code of the outermost call .. code of the last call
 *      bits 13..0    space of the last code
 *
 * A function has the payload where it is in the word, with zeros below it (P):
 *
 *      entry       P = word - own space; is P & mask not 0, the word is pushed, and the payload starts anew. mask: the bits of a space,
 *                  and as many of the highest ones as the longest code has that the function itself adds
 *      call        word = (P << length) + (bits << 14 | space)
 *      return      the word is what it was at the entry
 *
 * The space is in the low bits since constants of instructions are short: a space, and a code of up to 17 bits with one.
 *
 * Spaces. A space is a set of calls that have codes of their own, none of which begins another (read from the low end). Each function has
 * a space, and the calls that are known to enter it, by name, are in that space: so a word has no bits for who was called. Whoever is
 * entered by a call of another space, over code that has no calls here, sees it by one subtraction: of what is left, bits of the space are
 * not 0. It pushes the whole word, with its space. So a word is right whatever was entered, and in whatever way: what decodes the last code
 * is the space of the function that it has entered, or that of a pushed word. Functions may share a space. Where spaces have no room for a
 * call it goes into any other one, at the price that its callee pushes.
 *
 * Nothing is ever numbered anew: a code is given once, when a call is first seen. Calls of a space get codes in their order, shorter ones
 * first: this is what they pay for being known late, and what a numbering of the whole graph (callgraph.h) spares.
 *
 *      rank        code (low bit right)      length
 *      0                      0              1
 *      1 .. 2                x01             3
 *      3 .. 6              xx011             5
 *      7 .. 14           xxx0111             7
 *      15 .. 30        xxxx01111             9
 *      31 .. 62      xxxxx011111            11
 *      63 .. 126   xxxxxx0111111            13
 *      ..
 *      511 .. 1022 x(9) 0111111111          19
 *      1023 .. 5118 x(12) 1111111111        22        the sum of 2 ^ -length is 1
 *
 * Index: how many words are pushed below this one. A thread has an array of them, and nothing is popped: returning restores the word,
 * with the index. It is 0 and 5 bits, 10 and 10 bits, or 11 and 16 bits, whatever has room for it: most stacks are small. At
 * SITECODE_LOST_INDEX nothing is pushed any more, and contexts are not known until the calls have returned.
 * The word 0: no call yet, as in a new thread.
 *
 * Pure: no memory, no locks.
 */
#ifndef WM_CORE_CONTEXTS_SITECODE_H
#define WM_CORE_CONTEXTS_SITECODE_H

#include <stdbool.h>
#include <stdint.h>

enum {
	SITECODE_SPACE_BITS = 14,
	SITECODE_PAYLOAD_BITS = 64 - SITECODE_SPACE_BITS,
	SITECODE_LEAST_START = 7, /* bits of a payload without calls */
	SITECODE_MAX_LENGTH = 22,
	SITECODE_SPACES = 1 << SITECODE_SPACE_BITS, /* 0 is none */
	SITECODE_RANKS = 5119,
	SITECODE_LOST_INDEX = UINT16_MAX,
	SITECODE_MAX_CALLS = SITECODE_PAYLOAD_BITS - SITECODE_LEAST_START, /* of a word, at a bit each */
};

struct sitecode {
	uint32_t bits;
	uint32_t length;
};

/* rank: below SITECODE_RANKS. */
struct sitecode sitecode_of(uint32_t rank);
/* The rank of the code at the low end, and its length. */
uint32_t sitecode_rank(uint64_t bits, uint32_t *length);

static inline uint32_t sitecode_space(uint64_t word)
{
	return (uint32_t)word & (SITECODE_SPACES - 1);
}

static inline uint64_t sitecode_payload(uint64_t word)
{
	return word >> SITECODE_SPACE_BITS;
}

static inline uint64_t sitecode_word(uint64_t payload, uint32_t space)
{
	return payload << SITECODE_SPACE_BITS | space;
}

/* The word that a caller with this payload stores for a call. */
static inline uint64_t sitecode_call(uint64_t payload, uint32_t space, struct sitecode code)
{
	return sitecode_word(payload << code.length | code.bits, space);
}

/* longest: of the codes of a function's calls, 1 to 50. */
static inline uint64_t sitecode_mask(uint32_t longest)
{
	return ~(UINT64_MAX >> longest) | (SITECODE_SPACES - 1);
}

/* May a function of that space go on with the word, or is it to push? */
static inline bool sitecode_enters(uint64_t word, uint32_t space, uint32_t longest)
{
	return ((word - space) & sitecode_mask(longest)) == 0;
}

/* Does the payload, which is not 0, have no code? */
bool sitecode_is_start(uint64_t payload);
/* The index of a word; of the word 0, 0. */
uint32_t sitecode_index(uint64_t word);

#endif

/*
 * memo.h - numbers of keys that were looked up before: a direct-mapped table, where a later key takes the place of an earlier one.
 *
 * One table for all threads and handlers; nobody waits. state changes with each write to its place, so who finds the same state before and
 * after it has compared the key has seen one whole key. While a place is written its number is 0, and its version odd: others look the key up
 * where it comes from. (So do forked children forever, if another thread was writing at the fork.) All zero is empty.
 *
 *      state    63 .. 32 version | 31 .. 0 number, 0: there is none
 */
#ifndef WM_RECORDER_MEMO_H
#define WM_RECORDER_MEMO_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "recorder/process.h"

enum {
	WMRT_MEMO_PLACES = 2048, /* a power of two */
	WMRT_MEMO_WORDS = 4,
};

struct wmrt_memo_key {
	uint64_t words[WMRT_MEMO_WORDS];
};

/* A cache line each. */
struct wmrt_memo_place {
	_Alignas(64) _Atomic uint64_t state;
	_Atomic uint64_t words[WMRT_MEMO_WORDS];
};

struct wmrt_memo {
	struct wmrt_memo_place places[WMRT_MEMO_PLACES];
};

/* The number that was set for the key; 0: it is not there. hash: of the key, the same each time. */
static inline __attribute__((always_inline)) uint32_t wmrt_memo_find(struct wmrt_memo *memo, uint64_t hash,
								     const struct wmrt_memo_key *key)
{
	struct wmrt_memo_place *place = &memo->places[hash % WMRT_MEMO_PLACES];
	uint64_t state = atomic_load_explicit(&place->state, memory_order_acquire);

	for (int i = 0; i < WMRT_MEMO_WORDS; i++)
		if (WMRT_UNLIKELY(atomic_load_explicit(&place->words[i], memory_order_acquire) != key->words[i]))
			return 0;
	return WMRT_LIKELY(atomic_load_explicit(&place->state, memory_order_relaxed) == state) ? (uint32_t)state : 0;
}

/* number: not 0. */
void wmrt_memo_set(struct wmrt_memo *memo, uint64_t hash, const struct wmrt_memo_key *key, uint32_t number);
/* Forgets all. Nobody uses it meanwhile. */
void wmrt_memo_clear(struct wmrt_memo *memo);

#endif

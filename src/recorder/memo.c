/* memo.c - writing to a memo. See memo.h. */
#include "recorder/memo.h"

#include <string.h>

#define ONE_VERSION (UINT64_C(1) << 32)

void wmrt_memo_set(struct wmrt_memo *memo, uint64_t hash, const struct wmrt_memo_key *key, uint32_t number)
{
	struct wmrt_memo_place *place = &memo->places[hash % WMRT_MEMO_PLACES];
	uint64_t was = atomic_load_explicit(&place->state, memory_order_relaxed);
	uint64_t version = was & ~(ONE_VERSION - 1);

	if (version & ONE_VERSION || !atomic_compare_exchange_strong(&place->state, &was, version + ONE_VERSION))
		return;
	for (int i = 0; i < WMRT_MEMO_WORDS; i++)
		atomic_store_explicit(&place->words[i], key->words[i], memory_order_release);
	atomic_store_explicit(&place->state, (version + 2 * ONE_VERSION) | number, memory_order_release);
}

void wmrt_memo_clear(struct wmrt_memo *memo)
{
	memset((void *)memo, 0, sizeof *memo);
}

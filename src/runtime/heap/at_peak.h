/*
 * at_peak.h - what each context held when the process held the most.
 *
 * The peak P is the largest number of live bytes so far (heap_peak_bytes). P only rises, so it names its moment. What a context held at that
 * moment is
 *
 *      at_peak_bytes    if at_peak_of == P
 *      its live bytes   else
 *
 * A call that reaches a new peak writes P alone: what any context held at an earlier one is void by that. Any other call allocates or frees after
 * the peak. The first of those in a context stores what the context holds (at_peak_keep) before it changes that, and P beside it; for the next
 * ones it is one comparison. No call looks at another context, however many there are.
 *
 * Exactness. With one thread, both are exact. With several, each call takes its place in the order of all calls when it changes
 * heap_live_bytes, or, of a call that reaches a peak, when it writes P: together with a look that heap_live_bytes is P at that moment, so the
 * peak is a number that the live bytes had. The live bytes of its context change a few instructions later. So what a context is said to have
 * held at the peak can differ from the truth by the calls that other threads were in at that moment, or when it was stored for the first time: at
 * most one call of each thread. Errors do not add up: each peak begins anew. A handler that allocates while it interrupts such a call counts as
 * another thread.
 *
 * at_peak_bytes and at_peak_of change together, by one instruction: of two calls that store at once, one does. One that comes late,
 * with an older P, does not store at all.
 *
 * The live bytes of a context are what was allocated less what was freed, several words that are read one after the other. A call of another
 * thread that begins meanwhile does not tear them: before it changes one, it has itself stored, and this store is none, or reached a new peak,
 * which voids both.
 */
#ifndef WM_RUNTIME_HEAP_AT_PEAK_H
#define WM_RUNTIME_HEAP_AT_PEAK_H

#include <stddef.h>

#include "recorder/process.h"
#include "runtime/heap/counter.h"
#include "waymark/wmk.h"

_Static_assert(offsetof(struct wmk_header, heap_live_bytes) % 16 == 0 &&
		       offsetof(struct wmk_header, heap_peak_bytes) ==
			       offsetof(struct wmk_header, heap_live_bytes) + 8 &&
		       offsetof(struct wmk_heap, at_peak_bytes) % 16 == 0 &&
		       offsetof(struct wmk_heap, at_peak_of) == offsetof(struct wmk_heap, at_peak_bytes) + 8 &&
		       sizeof(struct wmk_heap) % 16 == 0 && WMK_CHUNK_HEADER_BYTES % 16 == 0,
	       "pairs that one instruction writes");

/* An allocation has made the live bytes `all`, which are more than the peak was. */
static inline void at_peak_raise(bool is_alone, struct wmk_header *header, uint64_t all)
{
	uint64_t *pair = &header->heap_live_bytes, was[2];

	if (is_alone) {
		counter_raise(is_alone, &header->heap_peak_bytes, all);
		return;
	}
	was[0] = __atomic_load_n(&pair[0], __ATOMIC_RELAXED);
	was[1] = __atomic_load_n(&pair[1], __ATOMIC_RELAXED);
	while (was[0] > was[1] && !counter_replace_pair(is_alone, pair, was, was[0], was[0]))
		;
}

static inline uint64_t at_peak_live_bytes(const struct wmk_heap *record)
{
	return __atomic_load_n(&record->bytes, __ATOMIC_ACQUIRE) +
	       __atomic_load_n(&record->inherited_bytes, __ATOMIC_ACQUIRE) -
	       __atomic_load_n(&record->freed_bytes, __ATOMIC_ACQUIRE) -
	       __atomic_load_n(&record->inherited_freed_bytes, __ATOMIC_ACQUIRE);
}

static __attribute__((noinline, preserve_most)) void at_peak_store(struct wmk_heap *record, uint64_t peak)
{
	uint64_t was[2];

	was[1] = __atomic_load_n(&record->at_peak_of, __ATOMIC_ACQUIRE);
	was[0] = __atomic_load_n(&record->at_peak_bytes, __ATOMIC_ACQUIRE);
	while (was[1] < peak &&
	       !counter_replace_pair(counter_is_alone(), &record->at_peak_bytes, was, at_peak_live_bytes(record), peak))
		;
}

/* A call that reaches no peak has changed the live bytes of the process, and is about to change those of its context. */
static inline void at_peak_keep(const struct wmk_header *header, struct wmk_heap *record)
{
	uint64_t peak = __atomic_load_n(&header->heap_peak_bytes, __ATOMIC_ACQUIRE);

	if (WMRT_UNLIKELY(__atomic_load_n(&record->at_peak_of, __ATOMIC_ACQUIRE) < peak))
		at_peak_store(record, peak);
}

#endif

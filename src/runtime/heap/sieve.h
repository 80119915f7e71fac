/*
 * sieve.h - tells most blocks that were not sampled at the price of one load: it counts sampled blocks by a hash of their address. A count that
 * has reached its end stays there. All zero is empty.
 *
 * A block goes from one thread to another by ways of the program's, so a block that is in the sieve is found there.
 */
#ifndef WM_RUNTIME_HEAP_SIEVE_H
#define WM_RUNTIME_HEAP_SIEVE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum {
	SIEVE_BITS = 14,
};

struct sieve {
	_Atomic uint8_t counts[1 << SIEVE_BITS];
};

static inline _Atomic uint8_t *sieve_at(struct sieve *s, const void *block)
{
	return &s->counts[((uintptr_t)block >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> (64 - SIEVE_BITS)];
}

static inline bool sieve_may_have(struct sieve *s, const void *block)
{
	return atomic_load_explicit(sieve_at(s, block), memory_order_relaxed) != 0;
}

static inline void sieve_step(struct sieve *s, const void *block, int step)
{
	_Atomic uint8_t *count = sieve_at(s, block);
	uint8_t was = atomic_load_explicit(count, memory_order_relaxed);

	while (was != UINT8_MAX && !atomic_compare_exchange_weak(count, &was, (uint8_t)(was + step)))
		;
}

static inline void sieve_add(struct sieve *s, const void *block)
{
	sieve_step(s, block, 1);
}

/* Of a block that is in it. */
static inline void sieve_remove(struct sieve *s, const void *block)
{
	sieve_step(s, block, -1);
}

#endif

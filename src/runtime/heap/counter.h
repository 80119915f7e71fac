/*
 * counter.h - words that threads and signal handlers add to. While the process has one thread, a locked instruction costs ten times what it
 * protects, so that one instruction without the lock does: a handler comes before it or behind it. The C library says whether there is one
 * thread (glibc 2.32), and its own malloc relies on that.
 */
#ifndef WM_RUNTIME_HEAP_COUNTER_H
#define WM_RUNTIME_HEAP_COUNTER_H

#include <stdbool.h>
#include <stdint.h>

extern char __libc_single_threaded __attribute__((weak, visibility("default")));

static inline bool counter_is_alone(void)
{
	return &__libc_single_threaded && __libc_single_threaded;
}

/* Returns what it was. is_alone: counter_is_alone(), which a call that changes several words asks once. */
static inline uint64_t counter_fetch_add(bool is_alone, uint64_t *counter, uint64_t n)
{
	if (!is_alone)
		return __atomic_fetch_add(counter, n, __ATOMIC_RELAXED);
	__asm__ volatile("xaddq %0, %1" : "+r"(n), "+m"(*counter) : : "cc");
	return n;
}

static inline void counter_add(bool is_alone, uint64_t *counter, uint64_t n)
{
	if (!is_alone)
		__atomic_fetch_add(counter, n, __ATOMIC_RELAXED);
	else
		__asm__ volatile("addq %1, %0" : "+m"(*counter) : "er"(n) : "cc");
}

/* From *was to n. False: it was something else, which *was is now. */
static inline bool counter_replace(bool is_alone, uint64_t *counter, uint64_t *was, uint64_t n)
{
	uint64_t before = *was;

	if (!is_alone)
		return __atomic_compare_exchange_n(counter, was, n, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
	__asm__ volatile("cmpxchgq %2, %1" : "+a"(*was), "+m"(*counter) : "r"(n) : "cc", "memory");
	return *was == before;
}

/*
 * Both words of the pair at once, which lies at a multiple of 16. False: they were not `was`, which is what they are now.
 */
static inline bool counter_replace_pair(bool is_alone, uint64_t pair[2], uint64_t was[2], uint64_t first,
					uint64_t second)
{
	bool ok;

	if (is_alone)
		__asm__ volatile("cmpxchg16b %1"
				 : "=@ccz"(ok), "+m"(*(uint64_t(*)[2])pair), "+a"(was[0]), "+d"(was[1])
				 : "b"(first), "c"(second)
				 : "memory");
	else
		__asm__ volatile("lock cmpxchg16b %1"
				 : "=@ccz"(ok), "+m"(*(uint64_t(*)[2])pair), "+a"(was[0]), "+d"(was[1])
				 : "b"(first), "c"(second)
				 : "memory");
	return ok;
}

/* Makes it at least n. */
static inline void counter_raise(bool is_alone, uint64_t *counter, uint64_t n)
{
	uint64_t was = __atomic_load_n(counter, __ATOMIC_RELAXED);

	while (was < n && !counter_replace(is_alone, counter, &was, n))
		;
}

#endif

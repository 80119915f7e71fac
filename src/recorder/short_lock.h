/* short_lock.h - a lock that is held for a few microseconds, by threads with all signals blocked. All zero is free. */
#ifndef WM_RECORDER_SHORT_LOCK_H
#define WM_RECORDER_SHORT_LOCK_H

#include <stdatomic.h>
#include <stdint.h>

#include "recorder/sys.h"

static inline void short_lock(_Atomic uint32_t *lock)
{
	while (atomic_exchange_explicit(lock, 1, memory_order_acquire))
		wmrt_sys3(SYS_sched_yield, 0, 0, 0);
}

static inline void short_unlock(_Atomic uint32_t *lock)
{
	atomic_store_explicit(lock, 0, memory_order_release);
}

#endif

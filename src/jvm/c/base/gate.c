/* gate.c - counts who is inside; a bit of the same word says that it is closed, so that nobody comes in between the question and the count. */
#include "jvm/c/base/gate.h"

#include <stdatomic.h>
#include <time.h>

#include "recorder/clock.h"

enum {
	LOOK_NS = 100000,
};
#define CLOSED (UINT64_C(1) << 63)

static _Atomic uint64_t inside;

bool jvm_gate_enter(void)
{
	if (!(atomic_fetch_add_explicit(&inside, 1, memory_order_acquire) & CLOSED))
		return true;
	jvm_gate_leave();
	return false;
}

void jvm_gate_leave(void)
{
	atomic_fetch_sub_explicit(&inside, 1, memory_order_release);
}

void jvm_gate_open(void)
{
	atomic_fetch_and_explicit(&inside, ~CLOSED, memory_order_release);
}

void jvm_gate_close(void)
{
	atomic_fetch_or_explicit(&inside, CLOSED, memory_order_acq_rel);
}

bool jvm_gate_wait(uint64_t limit_ns)
{
	const struct timespec look = {.tv_nsec = LOOK_NS};
	uint64_t end_ns = wmrt_now_ns() + limit_ns;

	while (atomic_load_explicit(&inside, memory_order_acquire) & ~CLOSED) {
		if (wmrt_now_ns() >= end_ns)
			return false;
		clock_nanosleep(CLOCK_MONOTONIC, 0, &look, NULL);
	}
	return true;
}

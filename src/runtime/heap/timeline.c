/* timeline.c - the last record of the time line, updated in place. See timeline.h. */
#include "runtime/heap/timeline.h"

#include "recorder/clock.h"
#include "recorder/file.h"
#include "recorder/mapping.h"
#include "recorder/process.h"
#include "recorder/thread.h"

enum {
	STEP_SHIFT = 6,
	FIRST_DISTANCE_NS = 100000,
	RECORDS_PER_DISTANCE = 1024,
};

struct wmrt_timeline_window wmrt_timeline_window = {0, WMK_HEAP_STEP_MIN};

/* Where its thread's wmrt_timeline_add is. Its own thread's. */
static _Thread_local uintptr_t frame __attribute__((tls_model("initial-exec")));

/* Address of the `frame` of the thread that works on the rest; 0: none does. */
static _Atomic uintptr_t owner;
static struct {
	struct wmk_chunk_header *chunk; /* NULL: none yet */
	uint32_t units;                 /* that it has: one, then as many as a chunk may have */
	uint32_t count;                 /* of records in it */
	uint32_t count_at_distance;
	uint64_t distance_ns;
	uint64_t began_ns;   /* when the last record did */
	uint64_t live_bytes; /* at the last call */
} line = {.distance_ns = FIRST_DISTANCE_NS};

static void set_window(uint64_t low, uint64_t span)
{
	atomic_store_explicit(&wmrt_timeline_window.low, low, memory_order_relaxed);
	atomic_store_explicit(&wmrt_timeline_window.span, span, memory_order_relaxed);
}

static void put_window_around(uint64_t live_bytes)
{
	uint64_t step = live_bytes >> STEP_SHIFT;
	uint64_t low;

	step = step < WMK_HEAP_STEP_MIN ? WMK_HEAP_STEP_MIN : step;
	low = live_bytes < step ? 0 : live_bytes - step;
	set_window(low, live_bytes + step - low);
}

static struct wmk_heap_time *last_record(void)
{
	return (struct wmk_heap_time *)(void *)wmrt_chunk_body(line.chunk) + line.count - 1;
}

/* False: there is no room. */
static bool new_chunk(void)
{
	struct wmk_chunk_header *chunk, *full = line.chunk;
	uint32_t full_units = line.units, units = full ? WMRT_UNITS_MAX : 1;
	struct wmrt_guard guard;

	wmrt_lock(&guard);
	chunk = wmrt_file_chunk(WMK_HEAP_TIMES, units, 0, 0);
	wmrt_unlock(&guard);
	if (!chunk)
		return false;
	line.chunk = chunk;
	line.units = units;
	line.count = 0;
	wmrt_mapping_drop(full, (size_t)full_units * WMK_UNIT_BYTES);
	return true;
}

/* False: there is no room. */
static bool new_record(uint64_t now_ns)
{
	if ((!line.chunk || (line.count + 1) * sizeof(struct wmk_heap_time) > wmrt_body_bytes(line.units)) &&
	    !new_chunk())
		return false;
	line.count++;
	line.began_ns = now_ns;
	if (++line.count_at_distance == RECORDS_PER_DISTANCE) {
		line.count_at_distance = 0;
		line.distance_ns *= 2;
	}
	return true;
}

static void put_numbers(struct wmk_heap_time *record, uint64_t now_ns, uint64_t live_bytes, bool is_new)
{
	if (is_new)
		record->low_bytes = record->high_bytes = line.live_bytes;
	record->time_ns = now_ns;
	record->live_bytes = line.live_bytes = live_bytes;
	if (live_bytes < record->low_bytes)
		record->low_bytes = live_bytes;
	if (live_bytes > record->high_bytes)
		record->high_bytes = live_bytes;
}

/* False: another thread is at work, or this one, which a handler has interrupted. One that a handler has left by siglongjmp is not. */
static bool begin(uintptr_t here)
{
	uintptr_t was = 0;

	if (!atomic_compare_exchange_strong_explicit(&owner, &was, (uintptr_t)&frame, memory_order_acquire,
						     memory_order_relaxed) &&
	    (was != (uintptr_t)&frame || frame > here || wmrt_is_on_alt_stack(here) != wmrt_is_on_alt_stack(frame)))
		return false;
	frame = here;
	return true;
}

void wmrt_timeline_add(uint64_t live_bytes)
{
	uint64_t now_ns;
	bool is_new;

	if (!begin((uintptr_t)__builtin_frame_address(0)))
		return;
	put_window_around(live_bytes);
	now_ns = wmrt_now_ns();
	is_new = !line.chunk || now_ns - line.began_ns >= line.distance_ns;
	if (is_new && !new_record(now_ns)) {
		set_window(0, UINT64_MAX);
	} else {
		put_numbers(last_record(), now_ns, live_bytes, is_new);
		if (is_new) {
			__atomic_store_n(&last_record()->state, 1, __ATOMIC_RELEASE);
			wmrt_chunk_raise_used(line.chunk, line.count * (uint32_t)sizeof(struct wmk_heap_time));
		}
	}
	atomic_store_explicit(&owner, 0, memory_order_release);
}

void wmrt_timeline_begin(void)
{
	wmrt_mapping_drop(line.chunk, (size_t)line.units * WMK_UNIT_BYTES);
	line = (__typeof(line)){.distance_ns = FIRST_DISTANCE_NS};
	set_window(0, WMK_HEAP_STEP_MIN);
	atomic_store(&owner, 0);
}

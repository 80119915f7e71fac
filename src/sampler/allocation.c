/*
 * allocation.c - the context of each allocation, by the thread's trail (trail.h); where that cannot tell it, by a walk in full.
 */
#include <stdatomic.h>

#include "native/own_stack.h"
#include "recorder/process.h"
#include "sampler/block.h"
#include "sampler/host.h"
#include "sampler/record.h"
#include "sampler/sample.h"
#include "waymark/runtime.h"

struct reading {
	struct trail *trail;
	uint64_t pc;
};

static void read_row(void *data)
{
	const struct reading *reading = data;

	trail_read_row(reading->trail, reading->pc);
}

static void look_up_row(struct trail *t, uint64_t pc)
{
	uint64_t mask = wmrt_block_signals();

	own_stack_call(block_own->stack + BLOCK_STACK_BYTES, read_row, &(struct reading){t, pc});
	wmrt_unblock_signals(mask);
}

struct allocation {
	uint32_t function;
	const char *name;
	wm_context *ret;
	enum record_result result;
};

static void record_new(void *data)
{
	struct allocation *a = data;

	a->result = record_trail(&block_own->trail, block_own->root, a->function, a->name, true, a->ret);
}

/* By the thread's trail. False: there is another way. */
static bool follow_trail(struct block *b, const struct wm1_caller *caller, struct allocation *a)
{
	struct trail_start from = {caller->pc, caller->sp, caller->rbp, b->range.low, b->stack_top};
	bool ok;

	if (from.sp < from.low || from.sp >= from.high || !trail_enter(&b->trail, from.sp, from.low, from.high))
		return false;
	ok = trail_walk(&b->trail, &from, look_up_row);
	if (ok)
		a->result = record_trail(&b->trail, b->root, a->function, a->name, false, a->ret);
	if (ok && a->result == RECORD_NEW) {
		uint64_t mask = wmrt_block_signals();

		own_stack_call(b->stack + BLOCK_STACK_BYTES, record_new, a);
		wmrt_unblock_signals(mask);
	}
	trail_leave(&b->trail);
	return ok;
}

/* Of a trail beside a walk in full, where WAYMARK_HEAP asks for that. */
static void compare(const wm_context *found, const struct wm1_caller *caller, const char *name)
{
	struct wmk_header *header = host->header();
	wm_context full = {0};

	if (!header || !sample_call(caller->pc, name, true, &full))
		return;
	__atomic_fetch_add(&header->samples_checked, 1, __ATOMIC_RELAXED);
	if (found->prefix == full.prefix && found->site == full.site && found->epoch == full.epoch)
		__atomic_fetch_add(&header->samples_agreed, 1, __ATOMIC_RELAXED);
}

bool sample_allocation(const struct wm1_caller *caller, uint32_t function, const char *name, bool is_checked,
		       wm_context *ret)
{
	struct allocation a = {function, name, ret, RECORD_LOST};
	struct block *b = block_own;

	if (!sample_is_on())
		return false;
	if (!b || !b->root || !follow_trail(b, caller, &a)) {
		if (!sample_call(caller->pc, name, false, ret))
			return false;
	} else {
		if (__builtin_expect(is_checked, 0))
			compare(ret, caller, name);
		if (a.result != RECORD_OK)
			return false;
	}
	*ret = host_in_task(*ret);
	return true;
}

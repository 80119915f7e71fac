/*
 * heap.c - the client of libwaymark-heap.so for allocations in contexts of walks (WAYMARK_HEAP=every, or BYTES), and of allocator.c after attach: the
 * stack is walked from the call of the allocator.
 *
 * Records of the heap are those of the recording that samples go to (host.h): the program's own runtime keeps them, if it has one, else the
 * copy in this library. Before the sampler has begun, the context of an allocation is that of the process alone, as under the agent.
 */
#include "sampler/heap.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "native/unfit_here.h"
#include "recorder/sys.h"
#include "runtime/heap/heap.h"
#include "sampler/allocator.h"
#include "sampler/host.h"
#include "sampler/walk/images.h"
#include "sampler/sample.h"
#include "waymark/abi.h"
#include "waymark/run.h"

static const char *const names[WM1_HEAP_FUNCTIONS] = {
	WM1_HEAP_FUNCTION_NAMES,
};

static const struct wm1_heap_records *records; /* written once, before allocations are told of */
static bool has_begun;                         /* stacks can be walked */
static bool is_paused;                         /* what allocates is this library */
static bool is_checked; /* WAYMARK_HEAP=every-check: each trail beside a walk in full, for tests */

/* Not in use: what is told comes with its context. */
wm_context wmrt_heap_context(const void *return_address, enum wm1_heap_function function, bool *ret_is_settled)
{
	(void)return_address;
	(void)function;
	*ret_is_settled = false;
	return (wm_context){.prefix = WM_PREFIX_LOST};
}

bool wmrt_heap_point(const void *return_address, enum wm1_heap_function function, struct wmrt_memo_key *ret)
{
	(void)return_address;
	(void)function;
	(void)ret;
	return false;
}

static wm_context context_of(const struct wm1_caller *caller, enum wm1_heap_function function)
{
	wm_context context = {.prefix = WM_PREFIX_LOST};

	if (!has_begun)
		context.prefix = wmrt_gettid() == wmrt_getpid() ? WM_PREFIX_PROCESS : WM_PREFIX_THREAD;
	else if ((uint32_t)function >= WM1_HEAP_FUNCTIONS ||
		 !sample_allocation(caller, function, names[function], is_checked, &context))
		context.prefix = WM_PREFIX_LOST;
	return context;
}

/* Not after a filter of system calls. */
static inline bool is_open(void)
{
	return (sample_is_on() || !has_begun) && !is_paused;
}

static void alloc(void *block, size_t size_bytes, uint32_t count, const struct wm1_caller *caller,
		  enum wm1_heap_function function)
{
	if (!is_open())
		return;
	wmrt_heap_prefetch(block);
	records->alloc(block, size_bytes, count, context_of(caller, function));
}

static struct wm1_heap_block take(void *block)
{
	return is_open() ? records->take(block) : (struct wm1_heap_block){0, 0, 0};
}

static void put_back(void *block, struct wm1_heap_block taken)
{
	if (is_open())
		records->put_back(block, taken);
}

static void freed(struct wm1_heap_block taken)
{
	if (is_open())
		records->freed(taken);
}

bool heap_is_asked(void)
{
	const char *text = getenv("WAYMARK_HEAP");

	return text && (strncmp(text, WM1_HEAP_EVERY, strlen(WM1_HEAP_EVERY)) == 0 || strtoull(text, NULL, 10));
}

static const struct wm1_heap_walked walked = {alloc, take, put_back, freed};

static enum wmk_agent start_records(void)
{
	if (records)
		return WMK_AGENT_OK;
	host_find();
	records = host_heap();
	if (!records)
		return WMK_AGENT_EARLIER;
	if (records->start(strtoull(getenv("WAYMARK_HEAP") ?: "", NULL, 10)))
		return WMK_AGENT_OK;
	records = NULL;
	return WMK_AGENT_NO_RECORDING;
}

const struct wm1_heap_walked *wm1_heap_walked_early(void)
{
	return !unfit_here() && start_records() == WMK_AGENT_OK ? &walked : NULL;
}

void heap_pause(bool on)
{
	is_paused = on;
}

bool heap_attach(bool is_compared)
{
	sampler_images_start();
	records = &wmrt_heap_records;
	is_checked = is_compared;
	has_begun = true;
	return wmrt_heap_begin() && allocator_take(&walked);
}

void heap_detach(void)
{
	allocator_give_back();
	wmrt_heap_end();
}

enum wmk_agent heap_start(void)
{
	enum wmk_agent state;

	if (!wm1_heap_walk || unfit_here())
		return WMK_AGENT_OK;
	state = start_records();
	if (state != WMK_AGENT_OK)
		return state;
	is_checked = strcmp(getenv("WAYMARK_HEAP") ?: "", "every-check") == 0;
	has_begun = true;
	wm1_heap_walk(&walked);
	return WMK_AGENT_OK;
}

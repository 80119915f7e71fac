/*
 * heap.c - the client of libwaymark-heap.so for sampled allocations (WAYMARK_HEAP=BYTES): the context is a walk from the call of the allocator.
 *
 * Records of the heap are those of the recording that samples go to (host.h): the program's own runtime keeps them, if it has one, else the
 * copy in this library.
 */
#include "sampler/heap.h"

#include <stddef.h>
#include <stdlib.h>

#include "native/unfit_here.h"
#include "runtime/heap/heap.h"
#include "sampler/host.h"
#include "sampler/sample.h"

static const char *const names[WM1_HEAP_FUNCTIONS] = {
	WM1_HEAP_FUNCTION_NAMES,
};

static const struct wm1_heap_records *records; /* written once, before allocations are sampled */

static wm_context context_of(const void *return_address, enum wm1_heap_function function)
{
	wm_context context = {.prefix = WM_PREFIX_LOST};

	if ((uint32_t)function < WM1_HEAP_FUNCTIONS)
		sample_call((uintptr_t)return_address, names[function], &context);
	return context;
}

wm_context wmrt_heap_context(const void *return_address, enum wm1_heap_function function, bool *ret_is_settled)
{
	*ret_is_settled = false;
	return context_of(return_address, function);
}

bool wmrt_heap_point(const void *return_address, enum wm1_heap_function function, struct heap_point *ret)
{
	(void)return_address;
	(void)function;
	(void)ret;
	return false;
}

static void alloc(void *block, size_t size_bytes, uint32_t count, const void *return_address,
		  enum wm1_heap_function function)
{
	if (sample_is_on())
		records->alloc(block, size_bytes, count, context_of(return_address, function));
}

static struct wm1_heap_block take(void *block)
{
	return sample_is_on() ? records->take(block) : (struct wm1_heap_block){0, 0, 0};
}

static void put_back(void *block, struct wm1_heap_block taken)
{
	if (sample_is_on())
		records->put_back(block, taken);
}

static void freed(struct wm1_heap_block taken)
{
	if (sample_is_on())
		records->freed(taken);
}

bool heap_is_asked(void)
{
	const char *text = getenv("WAYMARK_HEAP");

	return text && strtoull(text, NULL, 10);
}

enum wmk_agent heap_start(void)
{
	static const struct wm1_heap_sampled client = {alloc, take, put_back, freed};

	if (!wm1_heap_sample || unfit_here())
		return WMK_AGENT_OK;
	records = host_heap();
	if (!records)
		return WMK_AGENT_EARLIER;
	if (!records->start(strtoull(getenv("WAYMARK_HEAP") ?: "", NULL, 10)))
		return WMK_AGENT_NO_RECORDING;
	wm1_heap_sample(&client);
	return WMK_AGENT_OK;
}

/*
 * push.h - what instrumented code does, by hand: tests of the runtime need no instrumenter.
 */
#ifndef WM_TESTS_RUNTIME_PUSH_H
#define WM_TESTS_RUNTIME_PUSH_H

#include <stdint.h>
#include <string.h>

#include "waymark.h"
#include "waymark/abi.h"
#include "waymark/runtime.h"

enum {
	PUSH_SITES = 1000,
};

extern const char __ehdr_start[];

static struct wm1_image push_image = {
	.abi_version = WM1_ABI_VERSION,
	.site_count = PUSH_SITES,
	.meta_key = 0x1122334455667788,
};

__attribute__((constructor, unused)) static void push_register(void)
{
	push_image.ehdr = __ehdr_start;
	wm1_register(&push_image);
}

/* What the frame of a caller keeps. */
struct push {
	struct wm1_entry *top;
	uint64_t id;
};

/* The stores of a push site, in its order. */
static inline __attribute__((always_inline, unused)) struct push push_at(uint32_t site, uint64_t id, uint64_t restart)
{
	struct push kept = {wm1_thread_state.top, id};
	volatile struct wm1_entry *e = kept.top;

	if (((uintptr_t)e & (WM1_SEGMENT_BYTES - 1)) == 0)
		e = wm1_grow();
	e->id = id;
	e->sp = (uint64_t)(uintptr_t)__builtin_frame_address(0);
	e->site = push_image.site_base + site;
	e->prefix = 0;
	e->run = 0;
	e->history = wm1_thread_state.history;
	*(struct wm1_entry *volatile *)&wm1_thread_state.top = (struct wm1_entry *)e + 1;
	*(volatile uint64_t *)&wm1_thread_state.id = restart;
	return kept;
}

static inline __attribute__((always_inline, unused)) void push_end(struct push kept)
{
	*(struct wm1_entry *volatile *)&wm1_thread_state.top = kept.top;
	*(volatile uint64_t *)&wm1_thread_state.id = kept.id;
}

/* Calls with (id, site) pushed; id is the thread's now. */
#define PUSHED(site, call)                                                       \
	do {                                                                     \
		struct push push_kept = push_at((site), wm1_thread_state.id, 0); \
		call;                                                            \
		push_end(push_kept);                                             \
	} while (0)

static inline __attribute__((unused)) int push_same(wm_context a, wm_context b)
{
	return memcmp(&a, &b, sizeof a) == 0;
}

#endif

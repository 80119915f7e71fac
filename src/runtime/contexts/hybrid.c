/* hybrid.c - where main's stack began, and offsets from there or from a push. */
#include "runtime/contexts/hybrid.h"

#include "waymark/runtime.h"

enum {
	TAIL_SLOT =
		8, /* the sp of a push before a tail call is that of a return address, and its low bits are an ordinal */
};

/* Of no function, whatever calls add to it. */
#define NO_NUMBER (UINT64_C(1) << 63)

/* The frame of main; 0: it has not been entered, or is no place to count from. Written once, by main's thread, before what it calls reads it. */
static uint64_t main_frame;

/* The callee of a tail call, and its caller before it, have the frame that begins above the return address. */
static uint64_t stack_pointer_of(uint64_t sp)
{
	return sp & TAIL_SLOT ? (sp & ~(uint64_t)WM1_TAIL_ORDINALS) + sizeof(uint64_t) : sp;
}

uint64_t wmrt_hybrid_id_slow(uint64_t id, uint64_t sp, const struct wm1_entry *below)
{
	const uint64_t from = !below || wmrt_entry_is_slot(below) ? main_frame : below->sp;
	const uint64_t offset = from - stack_pointer_of(sp);

	if (id >> WM1_HYBRID_OFFSET_SHIFT || offset % WM1_HYBRID_OFFSET_UNIT || offset >= WM1_HYBRID_OFFSET_END)
		return UINT64_MAX;
	return offset / WM1_HYBRID_OFFSET_UNIT << WM1_HYBRID_OFFSET_SHIFT | id;
}

uint64_t wm1_hybrid_main(uint64_t frame)
{
	if (main_frame)
		return NO_NUMBER;
	main_frame = frame;
	return WM1_HYBRID_PLACED;
}

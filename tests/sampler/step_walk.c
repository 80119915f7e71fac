/*
 * step_walk.c - preloaded into a program that stepper.c steps: walks its stack by the sampler's own code, when the stepper enters it.
 */
#include "step_walk.h"

#include <stdlib.h>
#include <string.h>

#include "native/maps.h"
#include "sampler/walk/walk.h"

enum {
	RED_ZONE_BYTES = 128,
};

static struct step_area area __attribute__((aligned(64)));
static struct walk_frame frames[STEP_FRAMES];
static struct unwind_cache cache;
static struct walk_code code;

static bool find_stack(void *data, uintptr_t sp, struct unwind_stack *ret)
{
	struct maps_range range;

	(void)data;
	if (!maps_find(sp, &range) || !range.is_readable)
		return false;
	*ret = (struct unwind_stack){range.low, range.high};
	if (ret->low > sp - RED_ZONE_BYTES)
		ret->low = sp - RED_ZONE_BYTES;
	return true;
}

static void walk_from_area(void)
{
	struct walk walk = {
		.frames = frames, .max = STEP_FRAMES, .cache = &cache, .code = &code, .stack_of = find_stack};
	struct unwind_regs regs = {.pc = area.pc, .known = UNWIND_ALL_KNOWN}, first;
	struct unwind_stack stack;
	struct unwind_frame frame;
	struct sampler_image *image;

	memcpy(regs.r, area.r, sizeof area.r);
	first = regs;
	area.end = walk_stack(&walk, &regs);
	area.count = (uint32_t)walk.count;
	for (size_t i = 0; i < walk.count; i++) {
		image = frames[i].image;
		area.frames[i].pc = frames[i].pc;
		area.frames[i].flags = frames[i].flags;
		area.frames[i].is_in_libgcc = image && image->path && strstr(image->path, "libgcc_s") != NULL;
	}
	image = frames[0].image;
	area.is_in_register = image && find_stack(NULL, first.r[CFI_RSP], &stack) &&
			      unwind_step(&image->table, &stack, NULL, &first, &frame) == UNWIND_OK &&
			      !frame.return_slot;
}

__attribute__((noreturn)) static void enter(void)
{
	walk_from_area();
	for (;;)
		__asm__ volatile("int3");
}

__attribute__((constructor)) static void start(void)
{
	if (!getenv("WAYMARK_STEP"))
		return;
	unsetenv("WAYMARK_STEP");
	unsetenv("LD_PRELOAD");
	__asm__ volatile("int3" : : "D"(&area), "S"(enter));
}

/* unit.c - starts the agent's parts as life/start.c does, which is left out: it would instrument the test. */
#include "agent/program/image.h"
#include "agent/program/program.h"
#include "agent/unit/unit.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>

#include "agent/code/code.h"
#include "agent/context/segment.h"
#include "agent/follow/create.h"
#include "agent/follow/stub_calls.h"
#include "agent/os/memory.h"
#include "agent/os/state.h"
#include "agent/patch/reach.h"
#include "agent/program/program.h"
#include "agent/program/no_callback.h"
#include "agent/threads/entry.h"
#include "agent/threads/threads.h"
#include "agent/threads/thread.h"
#include "core/contexts/adaptive.h"
#include "recorder/client.h"

const struct wmrt_client *const wmrt_clients[] = {NULL};

unit_function unit_functions[UNIT_FUNCTIONS];
int (*unit_leaf)(int);
static uint32_t state = 1;

void unit_seed(uint32_t seed)
{
	state = seed * 2 + 1;
}

uint32_t unit_roll(uint32_t below)
{
	state = state * 1664525 + 1013904223;
	return (state >> 8) % below;
}

size_t unit_path(uint8_t path[UNIT_PATH_MAX + 1])
{
	size_t len = 1 + unit_roll(UNIT_PATH_MAX - 1);

	for (size_t i = 0; i < len; i++)
		path[i] = (uint8_t)unit_roll(UNIT_FUNCTIONS);
	path[len] = UNIT_FUNCTIONS;
	return len;
}

bool unit_start(const char *library)
{
	void *handle = dlopen(library, RTLD_NOW);

	if (!handle) {
		fprintf(stderr, "%s\n", dlerror());
		return false;
	}
	for (int i = 0; i < UNIT_FUNCTIONS; i++) {
		char name[] = "graph0";

		name[5] = (char)('0' + i);
		*(void **)&unit_functions[i] = dlsym(handle, name);
	}
	*(void **)&unit_leaf = dlsym(handle, "graph_leaf");
	create_start();
	agent_entry_init();
	if (!code_has_address_space() || !agent_images_begin() || !no_callback_init() ||
	    !code_init(&stub_calls_entries)) {
		fprintf(stderr, "the agent cannot work here\n");
		exit(77);
	}
	/* As the agent's library, it is called and never changed. */
	agent_image_at((uintptr_t)unit_start)->kind = AGENT_IMAGE_OWN;
	adaptive_init(&agent_program.encoder, &agent_allocator, 1);
	agent_program.encoder.max_id = AGENT_MAX_ID;
	agent_is_on = true;
	return unit_leaf && unit_functions[0];
}

void unit_run(const uint8_t *path, void (*end)(int n))
{
	/* The code that calls is not changed, so nothing there puts the id back (as in run_main of life/start.c). */
	agent_thread.id = AGENT_FOREIGN_ID;
	unit_functions[0](path, end);
	agent_thread.id = AGENT_FOREIGN_ID;
}

bool unit_reach(void)
{
	struct agent_guard guard;
	bool ok = true;

	agent_lock(&guard);
	for (int i = 0; i < UNIT_FUNCTIONS; i++) {
		uint32_t function = agent_function_at((uintptr_t)unit_functions[i]);

		if (function != AGENT_NONE)
			reach_function(function);
		if (!agent_function_is(function, AGENT_FUNCTION_INSTRUMENTED)) {
			const char *reason = function == AGENT_NONE ? NULL : agent_program.functions[function].reason;

			fprintf(stderr, "graph%d: %s\n", i, reason ? reason : "not reached");
			ok = false;
		}
	}
	agent_unlock(&guard);
	return ok;
}

size_t unit_text(uintptr_t *ret_start)
{
	const struct agent_image *image = agent_image_at((uintptr_t)unit_functions[0]);

	*ret_start = image->scan.texts[0].low;
	return image->scan.texts[0].high - image->scan.texts[0].low;
}

void unit_lock(struct agent_guard *guard, struct unwind_regs *regs, struct lock_place *place)
{
	segment_regs_here(regs);
	*place = (struct lock_place){.regs = regs};
	agent_lock_at(guard, place);
}

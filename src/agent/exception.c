/*
 * exception.c - exceptions, forced unwinding and cleanups land in the agent first: a personality routine tells the unwinder the landing
 * pad by _Unwind_SetIP, and the agent gives it another (land.h). An unwinder that is linked into the program is not seen here.
 *
 * Between that call and the landing only the unwinder runs.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <unwind.h>

#include "agent/jump.h"
#include "agent/land.h"
#include "agent/program.h"
#include "agent/thread.h"
#include "recorder/interpose.h"

static _Atomic(void *) next_set;

static void own_set(struct _Unwind_Context *context, _Unwind_Ptr pad)
{
	void (*next)(struct _Unwind_Context *, _Unwind_Ptr) = wmrt_next(&next_set, "_Unwind_SetIP", (void *)own_set);

	next(context, agent_is_on && agent_thread.base ? land_at(pad, 0) : pad);
}

WMRT_INTERPOSE(_Unwind_SetIP, own_set);

/* Of the C++ ABI. */
struct cxa_globals {
	void *caught;
	unsigned int uncaught_count;
};

static struct cxa_globals *(*globals)(void); /* written at start */

bool exception_is_thrown(void)
{
	return globals && globals()->uncaught_count > 0;
}

void exception_start(void)
{
	void *library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_NOLOAD);

	if (library && !globals) {
		globals = (struct cxa_globals * (*)(void)) dlsym(library, "__cxa_get_globals");
		exception_is_thrown(); /* its memory is there from now on */
	}
	if (library)
		dlclose(library);
	wmrt_next(&next_set, "_Unwind_SetIP", (void *)own_set);
}

/*
 * exception.c - exceptions, forced unwinding and cleanups land in the agent first: a personality routine tells the unwinder the landing
 * pad by _Unwind_SetIP, and the agent gives it another (land.h). An unwinder that is linked into the program is not seen here.
 *
 * Between that call and the landing only the unwinder runs.
 */
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

void exception_start(void)
{
	wmrt_next(&next_set, "_Unwind_SetIP", (void *)own_set);
}

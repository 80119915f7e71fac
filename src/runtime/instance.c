/* instance.c - this instance of the runtime, as an agent in the process finds it. */
#include <stddef.h>

#include "waymark/runtime.h"

extern const char __start_wm1_runtime_text[] __attribute__((weak, visibility("hidden")));
extern const char __stop_wm1_runtime_text[] __attribute__((weak, visibility("hidden")));

/* By code: lld makes the address of what is not there 0 for good in the data of a program that is not position-independent. */
static const struct wm1_agent *agent(void)
{
	return &wm1_agent;
}

const struct wm1_runtime wm1_runtime = {agent, __start_wm1_runtime_text, __stop_wm1_runtime_text};

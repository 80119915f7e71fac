/* sample.c - the client `sample`: an event `cpu` at the context of each tick, whose value is the time of the thread. */
#include "agent/clients/client.h"
#include "recorder/event.h"
#include "recorder/task.h"

static void record(const struct agent_sample *sample)
{
	wmrt_event(wmrt_in_task(sample->context), "cpu", sample->time_ns);
}

const struct agent_client agent_client_sample = {.on_sample = record};

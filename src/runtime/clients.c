/* clients.c - the clients of the recorder in compiled programs. */
#include "runtime/clients.h"

#include <stddef.h>

#include "recorder/task.h"

const struct wmrt_client *const wmrt_clients[] = {
	&wmrt_stacks, &wmrt_signals,    &wmrt_faults, &wmrt_jumps,       &wmrt_coroutines, &wmrt_creators, &wmrt_paths,
	&wmrt_heap,   &wmrt_heap_files, &wmrt_filter, &wmrt_task_client, &wmrt_whole,      NULL,
};

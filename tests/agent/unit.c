/* unit.c - what tests of the agent's own objects need besides them: the agent's start, which would instrument the test, is left out. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/threads/threads.h"
#include "recorder/client.h"

const struct wmrt_client *const wmrt_clients[] = {NULL};

bool threads_is_main(uintptr_t pc)
{
	(void)pc;
	return false;
}

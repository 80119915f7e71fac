/*
 * filter.c - a compiled program that asks for a filter of system calls (seccomp) is recorded until then: what the recorder needs may be
 * forbidden from then on, and a call that is ends the program.
 *
 * The recording is closed before the filter is in force. Code counts and pushes on in memory that is there, without system calls: a
 * context stack that would need more is discarded, path counters lie in memory that nobody reads.
 */
#include "recorder/filter.h"

#include <stdbool.h>

#include "recorder/bus.h"
#include "recorder/file.h"
#include "recorder/image.h"
#include "recorder/mapping.h"
#include "recorder/process.h"
#include "runtime/clients.h"
#include "waymark/wmk.h"

/* A child of vfork asks for itself: the memory is its parent's, who goes on. */
void wmrt_before_filter(void)
{
	struct wmrt_guard guard;
	bool is_first;

	if (!wmrt_is_active() || wmrt_is_vfork_child() || wmrt_process.is_sealed)
		return;
	wmrt_file_close(WMK_FLAG_FILTERED);
	wmrt_bus_give_back();
	wmrt_lock(&guard);
	is_first = !wmrt_process.is_sealed;
	if (is_first)
		wmrt_seal();
	wmrt_unlock(&guard);
	if (is_first)
		wmrt_mapping_clear_all();
}

const struct wmrt_client wmrt_filter = {.start = wmrt_filter_start};

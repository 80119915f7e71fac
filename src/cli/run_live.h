/*
 * run_live.h - `waymark run --watch`: the view of what is recorded has the terminal while the program runs; what the program prints there is
 * kept, and printed behind it.
 */
#ifndef WM_CLI_RUN_LIVE_H
#define WM_CLI_RUN_LIVE_H

#include <spawn.h>
#include <sys/types.h>

#include "cli/find_recordings.h"

struct run_live {
	int output; /* a temporary file for standard output and error; -1: neither is a terminal */
	posix_spawn_file_actions_t actions; /* of the program */
};

struct error *run_live_begin(struct run_live *l);
/* Until the program ends, whose status is *ret_status then, or the user ends the view: false in *ret_has_ended. */
struct error *run_live_show(const struct recordings_place *place, const char *program, pid_t pid, int *ret_status,
			    bool *ret_has_ended);
/* When the program has ended: prints what it has printed. */
void run_live_end(struct run_live *l);

#endif

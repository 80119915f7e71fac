/*
 * tune_cores.h - functions that stand on the stacks of a core dump, to keep paths from the next run on.
 */
#ifndef WM_CLI_TUNE_CORES_H
#define WM_CLI_TUNE_CORES_H

#include "object/find.h"
#include "object/tunables.h"

struct tune_from {
	uint32_t functions; /* that stand on its stacks and keep paths from now on, each once */
	uint32_t pathless;  /* that have no scheme with paths compiled in: they stay as they are */
	char example[128];  /* one of those; cut to size */
	uint32_t nameless;  /* frames in t whose function is not known */
};

/*
 * For each function of t on a stack of any thread chooses a scheme with paths: with the coverage that is chosen now, if there
 * is such a scheme, else with the most. t may be the program or one of its shared libraries; ERROR_MISMATCH: it is neither.
 */
struct error *tune_from_core(const struct tune_image *t, const struct object_search *search, const char *core,
			     struct tune_from *ret);

#endif

/* wait_options.h - --wall and --off-cpu, for `waymark run` and `waymark attach`: the sampler alone does them. */
#ifndef WM_CLI_WAIT_OPTIONS_H
#define WM_CLI_WAIT_OPTIONS_H

#include <stdint.h>

#include "base/vec.h"
#include "cli/options.h"

struct wait_choices {
	uint32_t wall_hz, off_cpu_hz; /* 0: not asked for */
};

/* The options' rows: their state is a struct wait_choices. */
extern const struct option_row wait_options[];

/* The option that was given, without its dashes; NULL: none. */
const char *wait_option(const struct wait_choices *choices);
/* What tells the sampler, as WAYMARK_SAMPLE has it. cpu_hz: 0: no samples of CPU time. */
void wait_choices_print(const struct wait_choices *choices, uint32_t cpu_hz, struct buffer *text);

#endif

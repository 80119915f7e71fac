/* agent_options.h - the options of the agent's clients (waymark/agent.h), for `waymark run` and `waymark attach`. */
#ifndef WM_CLI_AGENT_OPTIONS_H
#define WM_CLI_AGENT_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/vec.h"
#include "cli/options.h"
#include "waymark/agent.h"

struct agent_choice {
	bool is_on;
	bool is_given;   /* by its own option */
	uint32_t number; /* of the heap: bytes between samples; 0: every allocation is recorded */
};

struct agent_choices {
	struct agent_choice of[WM1_AGENT_CLIENT_COUNT]; /* by enum wm1_agent_client */
};

/* The options' rows: their state is a struct agent_choices. */
extern const struct option_row run_agent_options[];
extern const struct option_row attach_agent_options[];

/* The number of --NAME=TEXT. */
struct error *client_number_parse(const char *name, const char *text, uint32_t least, uint32_t most, uint32_t *ret);

/* Switches the client on with its preset, unless it is on. */
void agent_choices_add(struct agent_choices *choices, enum wm1_agent_client client);
bool agent_choices_is_any(const struct agent_choices *choices);
/* The words of those that are on, with commas between them. */
void agent_choices_print(const struct agent_choices *choices, struct buffer *text);

#endif

/* options.h - what WAYMARK_AGENT says: key=value, separated by commas. */
#ifndef WM_AGENT_OPTIONS_H
#define WM_AGENT_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "waymark/agent.h"

struct agent_client_option {
	bool is_on;
	uint32_t number; /* 0 of a client that takes none */
};

struct agent_options {
	struct agent_client_option clients[WM1_AGENT_CLIENT_COUNT];
	bool is_verbose;  /* numbers at the end */
	bool is_restless; /* encodes anew at every tick, for tests */
	bool is_wall; /* samples by the clock, for more than the kernel's 250 or so a second of CPU time; blocked calls may see EINTR */
};
extern struct agent_options agent_options __attribute__((visibility("hidden")));

/* From WAYMARK_AGENT. */
void agent_options_read(void);
/* The same from a text that says all of it. NULL: nothing. */
void agent_options_parse(const char *text);
/* The first option in WAYMARK_AGENT that is not known, with what follows it; NULL: there is none. */
const char *agent_options_unknown(void);

#endif

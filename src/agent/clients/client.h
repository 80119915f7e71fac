/*
 * client.h - a client of the agent: what it does in each phase of the process, and with each sample.
 *
 * A client is one file of this folder that defines `const struct agent_client agent_client_NAME`, and the row NAME in include/waymark/agent.h,
 * from which come its number, the word of WAYMARK_AGENT, and the options of `waymark run` and `waymark attach` with their help.
 */
#ifndef WM_AGENT_CLIENT_H
#define WM_AGENT_CLIENT_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/context/capture.h"
#include "recorder/text.h"
#include "waymark/attach.h"
#include "waymark/wmk.h"

/* A tick of a thread. */
struct agent_sample {
	const struct unwind_regs *regs;
	struct capture_point point;
	wm_context context;
	uint64_t time_ns; /* of the thread, since its last tick */
};

/* Functions may be NULL. A client that is off is called where that is said. */
struct agent_client {
	bool logs; /* lines by log_line */

	/* ---- the process begins ---- */
	/* In the recorder's constructor, on or off: looks up by name what it calls. */
	void (*look_up)(void);
	/*
	 * Under the lock, when the agent's tables are there: before any code is looked at, and again at each attach. *is_new: set if functions
	 * that called nothing back are no longer known to. False without memory.
	 */
	bool (*prepare)(bool *is_new);
	/* `waymark run`: under the lock, before main, when code may be changed. */
	void (*start)(void);

	/* ---- attached and detached: under the lock, while no other thread runs ---- */
	/* WM1_ATTACH_DONE: it can work in this process. Nothing of the program was changed yet. */
	enum wm1_attach_result (*find)(void);
	/* When all else works. False: it cannot. `detach` follows. */
	bool (*attach)(void);
	/* Also behind an attach that failed, with or without its own `attach`. */
	void (*detach)(void);

	/* ---- in between ---- */
	/* On or off: what the thread does until `resume` is the agent's. */
	void (*pause)(void);
	void (*resume)(void);
	/* Under the lock. While a client that is on has this, ticks take samples. */
	void (*on_sample)(const struct agent_sample *sample);

	/* ---- its numbers, on or off ---- */
	/* To 0: in a forked child, and when the agent is attached again. */
	void (*reset)(void);
	/* Into the recording, after each tick that samples. */
	void (*publish)(struct wmk_header *header);
	/* To the line of WAYMARK_AGENT=verbose. */
	void (*add_numbers)(struct wmrt_text *text);
};

#endif

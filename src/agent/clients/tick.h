/*
 * tick.h - what a thread does when its timer has run out (threads/timers.h): takes a sample for the clients, and looks whether a
 * new epoch is due.
 */
#ifndef WM_AGENT_TICK_H
#define WM_AGENT_TICK_H

#include "recorder/text.h"

/* The agent's signal comes here. Once, at start. */
void tick_init(void);
/* Ends all timers, and what the signal did before is as it was. All signals are blocked, and other threads stand still. */
void tick_stop(void);
/* How many samples there were is 0 again, also of the clients. */
void tick_reset(void);
/* Adds it to a line of WAYMARK_AGENT=verbose. */
void tick_add_numbers(struct wmrt_text *text);

#endif

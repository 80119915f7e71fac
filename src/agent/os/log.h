/*
 * log.h - lines of WAYMARK_AGENT=verbose and check, on the standard error that the process began with, or had when the agent was attached.
 *
 * Signal-safe. A line goes nowhere when the program has closed that file, and never into another.
 */
#ifndef WM_AGENT_LOG_H
#define WM_AGENT_LOG_H

#include <stdbool.h>

#include "recorder/text.h"

/* is_kept: log_line will be called. Keeps a descriptor of standard error for it, out of the way of the program's: programs close theirs
 * before they end. */
void log_open(bool is_kept);
/* The same, also where log_open was not called: on standard error if that is still what it was at the start. */
void log_always(struct wmrt_text *text);
void log_close(void);
/* The text and a newline; nothing when it was cut. */
void log_line(struct wmrt_text *text);

#endif

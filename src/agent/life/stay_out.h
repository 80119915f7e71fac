/*
 * stay_out.h - processes that the agent does not work in: those of a sanitizer or of OCaml (base/unfit.h), and those that were given a filter of system calls since
 * `waymark run`.
 */
#ifndef WM_AGENT_STAY_OUT_H
#define WM_AGENT_STAY_OUT_H

#include <stdbool.h>

/* Looks whether this process is one. Then the agent is sealed (seccomp.h), nothing is recorded, and one line on standard error says why.
 * Calls nothing of the C library's that a sanitizer stands in front of. Once, at start. */
bool stay_out(void);

#endif

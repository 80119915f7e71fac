/*
 * slots.h - the words by which loaded images reach functions of others (their GOT), in a process that the agent was attached to: its
 * symbols are bound already, so what the agent interposes (longjmp, _Unwind_SetIP, sigaction and others) is put into those
 * words, and taken out at the end.
 *
 * A word that is bound lazily is bound here, as LD_BIND_NOW does for programs that start under the agent: calls through the PLT are
 * known by what their word says. That is not undone.
 *
 * The caller holds the agent's lock. No other thread runs, and this one is not in the loader.
 */
#ifndef WM_AGENT_SLOTS_H
#define WM_AGENT_SLOTS_H

#include <stdbool.h>

/* Binds words that are bound lazily, from where it was left. False: it is late; or a word cannot be written. */
bool slots_bind(bool (*is_late)(void));
/* In all loaded images, once all is bound. False without memory: some words may be as they were. */
bool slots_take(void);
/* Words that still have what slots_take put there have again what they had. */
void slots_give_back(void);
/*
 * Libraries that a program of `waymark run` opens are bound to the agent and the heap client, too. slots_late_start: once, at start.
 * slots_late: the loader is about to add libraries, or has mapped them (_r_debug says which). Under the agent's lock.
 */
void slots_late_start(void);
void slots_late(void);

#endif

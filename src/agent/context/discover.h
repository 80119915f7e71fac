/*
 * discover.h - calls as they are first made: a site's thunk leads here.
 */
#ifndef WM_AGENT_DISCOVER_H
#define WM_AGENT_DISCOVER_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/program/program.h"
#include "agent/context/walk.h"

/* Adds what the site calls at `target`, reaching its function; the call that is there already is given again. Does not write the
 * site. NULL without memory. Under the agent's lock. */
struct agent_call *discover_call(uint32_t site, uintptr_t target);
/* Instruments functions of the stack of that thread, adds the calls in progress, and hooks what foreign code has entered. False: not all could be
 * written, or is_late said so, which may be NULL. Under the agent's lock; other threads may go on meanwhile. */
bool discover_frames(struct walk *w, const struct agent_thread *thread, bool (*is_late)(void));
/*
 * How the thread came to these registers, by its stack: instruments functions that are on it, adds the calls in progress, and hooks
 * what foreign code has entered. Under the agent's lock.
 */
bool discover_chain(const struct unwind_regs *regs, struct walk *w, struct walk_chain *ret);
/* Makes the thread's state what its stack says. False: that is not known, and the state is as it was. Under the agent's lock. */
bool discover_repair(const struct unwind_regs *regs);
/* The code at these addresses was unloaded: what was written there is gone with it. */
void discover_forget(uintptr_t low, uintptr_t high);
/*
 * What is of no image that is listed was unloaded, or may have given way to an image that was loaded just now: no call is known to lead
 * there, and no hook to be entered from there. Code that was made at run time is found again.
 */
void discover_forget_unlisted(void);
typedef void (*discover_fn)(uintptr_t from, uintptr_t to);
/* From now on `call` hears of each call that is found, from the site's address to its target, and `entry` of each function that foreign code
 * enters which comes back to `from`. Under the agent's lock. Once, at start. */
void discover_tell(discover_fn call, discover_fn entry);
/*
 * What another process of the family has found (fork_log.h): adds the call of the site at that address, or what enters the function there from
 * foreign code, and writes code for it. False: it is known, or is not so here. Under the agent's lock.
 */
bool discover_import_call(uintptr_t site, uintptr_t target);
bool discover_import_entry(uintptr_t function, uintptr_t return_address);
/* Return addresses on stacks that are aimed at trampolines, or ought to be, may be old since calls were added; asked once. Under the agent's lock. */
bool discover_take_old_returns(void);
/* Nothing can be done behind the call that has entered the function, or its caller itself is not known: it is not to ask any more. */
void discover_leave_caller(uint32_t function, uintptr_t return_address);
/* Instruments the function and hooks its entry: foreign code is about to call it. Under the agent's lock. */
bool discover_entry(uintptr_t function);

#endif

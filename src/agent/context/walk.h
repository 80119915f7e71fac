/*
 * walk.h - a thread's true stack, and the context that it means.
 *
 * The stack is always there to fall back on: where code cannot keep the context (a callback that was not known, longjmp, an exception,
 * a new encoding) it is computed again from the frames. The caller holds the agent's lock; memory is the agent's, used again by each
 * walk.
 */
#ifndef WM_AGENT_WALK_H
#define WM_AGENT_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/program/program.h"
#include "agent/threads/thread.h"
#include "native/unwind/unwind.h"

struct walk_frame {
	uintptr_t pc; /* of the innermost and of interrupted frames where it is, of others where the call returns to */
	size_t entries;      /* of the thread, from its base on: of frames outside of it and its own */
	uintptr_t slot;      /* where its return address is; 0 of the outermost */
	uint32_t function;   /* AGENT_NONE: code of no function */
	uint32_t site;       /* of the call in progress; AGENT_NONE in the innermost and where no site is known */
	bool is_interrupted; /* pc is where it goes on, and follows no call: the innermost, or a signal interrupted it */
};

/* Innermost first. */
struct walk {
	struct walk_frame *frames;
	size_t count, capacity;
	size_t inside; /* frames of the running segment: those outside of it belong to what a handler interrupted */
	bool is_whole; /* down to the segment's first frame */
};

/* How a thread came to a frame: the calls of the graph, and where foreign code is in between. Outermost first. */
enum walk_step_kind {
	WALK_START, /* foreign code, or the thread's first code, entered `number`, a function; frame_slot: 1 if its hook sets the id */
	WALK_CALL,    /* `number`, a call of the graph */
	WALK_FOREIGN, /* `number`, a call of what is not instrumented */
	WALK_SIGNAL,  /* a signal's handler runs */
	WALK_CUT,     /* `number`, the record of a site, made a tail call; it and more of them are not known */
	WALK_RESUME,  /* the last of them entered `number`, a function */
};

struct walk_step {
	uint8_t kind;
	bool has_gap; /* WALK_CALL: an entry says what was left out in front of its piece: this one's if there is none before it */
	uint32_t number;
	uint64_t frame_slot;
};

struct walk_chain {
	struct walk_step *steps;
	size_t count, capacity;
	uint32_t function;  /* at the end; AGENT_NONE: foreign code */
	uint32_t innermost; /* of the frames, that is instrumented */
	uint32_t no_callback_tail; /* site of the tail call by which `function` went on to no-callback code; AGENT_NONE: none */
};

/* What a thread's id and context stack are to be. */
struct walk_state {
	uint64_t id;
	struct agent_entry *entries; /* base first */
	size_t count, capacity;
	uint32_t function;  /* as of the chain */
	bool is_behind_gap; /* tail calls are left out, and no entry says so yet */
};

/* The program's registers of a thread whose own are `from`. Under the agent's lock. */
struct unwind_regs walk_thread_regs(const struct thread_record *r, const struct unwind_regs *from);
/* Walks from these registers of the thread. False: no frame could be looked at. Functions are added as they are met; none is reached. */
bool walk_stack(struct walk *w, const struct unwind_regs *regs, struct agent_thread *thread);
/*
 * How it came to the frame with that index. old: the thread's entries now, which say over which tail calls a frame was entered; the
 * encoding is that in which they were pushed. False: a call is not known, or memory is short.
 */
bool walk_find_chain(struct walk *w, size_t frame, const struct agent_thread *old, struct walk_chain *ret);
/*
 * The state at its end, as the code in place would have made it: ids are sums over that of foreign code where a function was entered
 * that has no hook for it. is_captured: as if each had one, which is what a capture says.
 */
bool walk_replay(const struct walk_chain *chain, const struct agent_entry *base, bool is_captured,
		 struct walk_state *ret);
/*
 * The calls over which the site came to code that is not instrumented at `target` (0: to any no-callback function), and whose frames are gone:
 * one of the graph, tail calls of the graph, and last a tail call of that code. path has room for WALK_MAX_TAILS. 0: no such way was
 * seen, or several.
 */
enum {
	WALK_MAX_TAILS = 16,
};
enum walk_pushes {
	WALK_PUSHES_ANY,
	WALK_PUSHES_FIRST, /* the first of them pushes now, and no other of the graph */
	WALK_PUSHES_NONE,
};
size_t walk_tail_path(uint32_t site, uintptr_t target, enum walk_pushes pushes, const struct agent_call **path);
/* At least one such way was seen, or one to a no-callback function. */
bool walk_may_lead(uint32_t site, uintptr_t target, enum walk_pushes pushes);
/* Some calls lead over tail calls of the graph, and in one way only, to the instrumented function. */
bool walk_finds_tails(uint32_t site, uint32_t callee);
/* Finds where each frame's entries are, from that frame outwards: walk_find_chain does that, too. */
void walk_place_entries(struct walk *w, size_t frame, const struct agent_thread *old);
/* What the site pushed last for the frame that it called is for foreign code. */
bool walk_is_foreign_tail(uint32_t site, const struct walk_frame *f, const struct agent_thread *old);
/* Return addresses of calls whose trampoline came into use, or went out of it, while they were in progress. */
void walk_retarget_returns(const struct walk *w);
/* All of them as the program has them. */
void walk_put_back_returns(const struct walk *w);
/* Code was unloaded: forgets how frames in it were unwound. */
void walk_forget(void);
/* The thread, which is at these registers, is called from code that was at [low, high) and is unloaded: its frames end there. */
void walk_strand(const struct unwind_regs *regs, struct agent_thread *thread, uintptr_t low, uintptr_t high);
/* Makes it the thread's. */
void walk_install(const struct walk_state *state, struct agent_thread *thread);

#endif

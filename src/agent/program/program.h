/*
 * program.h - what the agent knows of the program: functions that were reached, their sites, the calls that were seen.
 *
 *      function --- sites (in a row) --- calls (a list) --- callee
 *         |                                  |
 *        node       of the adaptive graph   edge
 *
 * Numbers are indices and never change. Tables only grow; the caller holds the agent's lock to add to them. Readers without the
 * lock (samples) see whole items: tables of pointers would not be needed for that, since a thread that samples has the lock.
 */
#ifndef WM_AGENT_PROGRAM_H
#define WM_AGENT_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/program/image.h"
#include "core/contexts/adaptive.h"
#include "waymark/wmk.h"

#define AGENT_NONE UINT32_MAX

enum {
	AGENT_KNOWN_CALLERS = 4,
};

enum agent_function_state {
	AGENT_FUNCTION_SEEN = 0, /* it was met on a stack, or its address is known; not looked at */
	AGENT_FUNCTION_NO_CALLBACK, /* neither it nor what it calls leaves instrumented code or captures: it is never changed */
	AGENT_FUNCTION_FOREIGN,      /* of an image that is not instrumented, or its code is not understood */
	AGENT_FUNCTION_INSTRUMENTED, /* a node of the graph */
	AGENT_FUNCTION_GONE, /* its image was unloaded. A node, if it was one: contexts from before, and tail calls that it made, have it */
};

struct agent_function {
	uintptr_t start, end;
	uintptr_t inner; /* its second entry (inner.h), 0: it has none */
	struct agent_image *image;
	uint32_t parent; /* of a cold part: the function it belongs to; else AGENT_NONE */
	uint32_t node;   /* INSTRUMENTED */
	uint32_t first_site, site_count;
	uint32_t first_caller; /* call of it, not 0 but 1 more; 0: none */
	uint32_t record;       /* of wmrt_code_function, 0 until needed */
	uint32_t record_epoch; /* the last epoch whose dictionary has a record of it */
	uintptr_t entry_address;
	uint32_t entry_original; /* in the pool of bytes */
	uint8_t entry_bytes;
	uint8_t state;         /* enum agent_function_state */
	bool is_being_read;    /* its callees are looked at to see if it calls back */
	bool calls_back;       /* it is known not to be a no-callback function */
	bool is_hooked;        /* callbacks are found at its entry */
	bool leaves_tails;     /* it, or what it calls as tail calls, may leave an entry behind */
	const char *reason;    /* FOREIGN: why */
	uintptr_t behind_hook; /* in the hook's or the detour's stub: the function goes on as if it had none */
	uintptr_t callers[AGENT_KNOWN_CALLERS]; /* return addresses in foreign code that the hook knows */
	uint8_t left_callers; /* bits, of these: behind them nothing can be done, so the id stays that of foreign code */
};

struct agent_site {
	uintptr_t address;
	uintptr_t target; /* of direct calls, through the PLT; 0: indirect */
	uint32_t function;
	uint32_t first_call; /* AGENT_NONE: none. Those that are gone come behind the others */
	uint32_t record;     /* of wmrt_code_site, 0: none yet */
	uint32_t added_call; /* the call, of them, that has an addend in this epoch (addends.h); AGENT_NONE: none has */
	uint8_t kind;        /* enum scan_kind */
	uint8_t len_bytes;
	uint8_t prefix_bytes, suffix_bytes;
	bool has_suffix : 1;
	bool keeps_flags : 1;      /* they are live at the return address: code there keeps them */
	bool is_entered : 1;       /* control comes to the return address from elsewhere too */
	bool is_last : 1;          /* it does not return */
	bool needs_trampoline : 1; /* no room: a trampoline makes the call, when it needs code */
	bool is_at_trampoline : 1; /* it does now: the site jumps to its stub */
	bool is_over_suffix : 1;   /* that jump takes bytes of the suffix */
	bool shares_suffix : 1; /* the suffix of the site before ends here: what stands behind that call leads to `dispatch` */
	bool is_written : 1;  /* its bytes are those of its calls */
	uintptr_t dispatch;   /* where the stub of an indirect one is entered; 0: none */
	uint32_t original;    /* in the pool of bytes: prefix, site, suffix */
	uintptr_t trampoline; /* makes the call, where needs_trampoline; 0: none yet */
};

/* A call that was seen. */
struct agent_call {
	uint32_t next;        /* of the same site */
	uint32_t next_caller; /* of the same callee, as first_caller */
	uint32_t site;
	uint32_t callee;       /* AGENT_NONE: what is at target is no function that the agent knows */
	uint32_t edge;         /* of the graph; AGENT_NONE: the callee is not instrumented */
	uint32_t foreign;      /* site record of a push to what is not instrumented; 0: none yet */
	uint32_t record_epoch; /* as of functions; what the record says: */
	uint32_t record_rank;
	uint8_t record_kind; /* enum wmk_edge_kind */
	bool never_calls_back;
	bool is_gone; /* what was at target was unloaded: a call of what is there now is another one */
	uintptr_t target;
	uintptr_t before;  /* where the site's branch goes for it: a stub, or target */
	uintptr_t counter; /* 0: none */
};

/* Code that is not instrumented and was written over. In the pool of bytes: the program's own, then those in their place. */
struct agent_foreign {
	uintptr_t address;
	struct agent_image *image;
	uint32_t original;
	uint8_t len_bytes;
};

struct agent_program {
	struct adaptive encoder;
	struct agent_function *functions;
	size_t function_count, function_capacity;
	uint32_t *present; /* functions that are not GONE */
	size_t present_count, present_capacity;
	struct agent_site *sites;
	size_t site_count, site_capacity;
	struct agent_call *calls;
	size_t call_count, call_capacity;
	uint32_t *present_calls; /* those that are not gone, by functions that are not */
	size_t present_call_count, present_call_capacity;
	uint32_t *node_functions; /* by node */
	size_t node_capacity;
	uint32_t *edge_calls; /* by edge */
	size_t edge_capacity;
	uint8_t *bytes; /* the program's own, where they were replaced */
	size_t byte_count, byte_capacity;
	struct agent_foreign *foreigns;
	size_t foreigns_count, foreigns_capacity;
	uint64_t instrumented_count, no_callback_count, foreign_count, detour_count;
	uint64_t looks; /* at functions, calls and stubs, for what was unloaded */
};
extern struct agent_program agent_program __attribute__((visibility("hidden")));

/* Tables, and the first epoch: WMK_AGENT_OK, or why they cannot be had. Once, under the agent's lock. */
enum wmk_agent agent_start(void);
/* From now on a fork has the tables to itself (lock.h). Once. */
bool agent_watch_forks(void);

/* The function that has the address, as .eh_frame says; AGENT_NONE: there is none. Added when it is new. */
uint32_t agent_function_at(uintptr_t address);
/* The function that a call of that address enters: where it starts, or at its second entry (inner.h). AGENT_NONE: none. */
uint32_t agent_function_entered(uintptr_t target);
/* The second entry of the function that starts there; 0: it has none. */
uintptr_t agent_function_inner(uintptr_t start);
/* It stays as it is: called, and not looked at. Before it is reached. */
void agent_function_keep(uint32_t function, const char *reason);
/* Decides, of a function that was not looked at yet, if it calls nothing back (its state then). */
bool agent_function_is_found_no_callback(uint32_t function, const struct scan_function *scan);
/* Keeps the program's own bytes in agent_program.bytes, where they begin at *ret. False without memory. */
bool agent_program_keep_bytes(uintptr_t at, uint32_t len, uint32_t *ret);
/* The parts of the function that lie elsewhere belong to it. False without memory. */
bool agent_function_add_parts(uint32_t function, const struct scan_function *scan);
/* Calls of the site return to that address. False without memory. */
bool agent_site_returns_to(uint32_t site, uintptr_t return_address);
/* The image was unloaded: its functions are gone, and what is known by their addresses. */
void agent_program_forget(const struct agent_image *image);
/* What a direct branch to `target` leads to: through an entry of the PLT. */
uintptr_t agent_resolve(uintptr_t target);
/* The site whose call returns to that address, whatever became of its function; AGENT_NONE: none. No lock. */
uint32_t agent_site_in_front_of(uintptr_t return_address);
/* The same if its function is instrumented. */
uint32_t agent_site_returning_to(uintptr_t return_address);

/* By number, which is one that there is. Only tables that grow move: until something is added to the one that it is of. */
static inline struct agent_function *agent_function(size_t number)
{
	return &agent_program.functions[number];
}

static inline struct agent_site *agent_site(size_t number)
{
	return &agent_program.sites[number];
}

static inline struct agent_call *agent_call(size_t number)
{
	return &agent_program.calls[number];
}

/* The numbers of the sites of an instrumented function, by address. */
#define agent_for_each_site(number, function)                                                                    \
	for (uint32_t number = (function)->first_site; number < (function)->first_site + (function)->site_count; \
	     number++)
/* The numbers of the calls of a site, in its list: those that are gone come behind the others. */
#define agent_for_each_call(number, site) \
	for (uint32_t number = (site)->first_call; number != AGENT_NONE; number = agent_call(number)->next)
/* Those that are not gone. */
#define agent_for_each_present_call(number, site)                                                        \
	for (uint32_t number = (site)->first_call; number != AGENT_NONE && !agent_call(number)->is_gone; \
	     number = agent_call(number)->next)
/* The numbers of the calls of a function that is in the graph or was. */
#define agent_for_each_caller(number, function)                                    \
	for (uint32_t number = (function)->first_caller - 1; number != AGENT_NONE; \
	     number = agent_call(number)->next_caller - 1)

/* The number of the present epoch. Signal-safe, and for any thread. */
static inline uint32_t agent_epoch(void)
{
	return __atomic_load_n(&agent_program.encoder.epoch, __ATOMIC_RELAXED);
}

static inline bool agent_site_is_call(const struct agent_site *site)
{
	return site->kind == SCAN_CALL || site->kind == SCAN_CALL_INDIRECT;
}

static inline bool agent_site_is_direct(const struct agent_site *site)
{
	return site->kind == SCAN_CALL || site->kind == SCAN_TAIL;
}

static inline bool agent_site_is_tail(const struct agent_site *site)
{
	return site->kind == SCAN_TAIL || site->kind == SCAN_TAIL_INDIRECT;
}

static inline uintptr_t agent_call_start(const struct agent_call *call)
{
	return call->callee == AGENT_NONE ? call->target : agent_function(call->callee)->start;
}

/* Of Waymark's runtime in a program. */
static inline bool agent_function_is_runtime(const struct agent_function *f)
{
	return f->start >= f->image->runtime_low && f->start < f->image->runtime_high;
}

static inline bool agent_function_is(uint32_t function, enum agent_function_state state)
{
	return function != AGENT_NONE && agent_function(function)->state == state;
}

#endif

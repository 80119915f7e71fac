/*
 * plan.h - decides what a site becomes: its bytes, and the stubs that they lead to.
 *
 * Pure: a plan depends on the site, its calls and the encoding alone, which the caller hands in, and nothing is written but the plan.
 * patch.c gathers what a plan depends on, and applies it.
 */
#ifndef WM_AGENT_PLAN_H
#define WM_AGENT_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/code/dispatch_table.h"
#include "agent/code/stub.h"
#include "agent/program/program.h"

enum {
	PLAN_MAX_COMPARED = 12, /* calls of an indirect site; of more a table is asked */
};

/* A call of the site, and what the encoding says of it. */
struct plan_call {
	uintptr_t target;
	uintptr_t before;  /* where the site's branch goes for it now; 0: nowhere yet */
	uintptr_t counter; /* 0: none */
	uint64_t restart;  /* the id that its callee begins with, where it pushes */
	uint32_t number;
	uint32_t pushed_site; /* the site of its entry */
	bool pushes;
	bool is_foreign;   /* the callee is not in the graph: it begins with the id of foreign code */
	bool is_counted;   /* pushes are counted */
	bool leaves_tails; /* the callee may leave entries of tail calls */
	bool is_gone;      /* those that are gone come behind the others */
};

/* What a plan depends on. */
struct plan_site {
	const struct agent_site *site;
	uint32_t number;
	const uint8_t *original; /* the program's own bytes of the site */
	const struct plan_call *calls;
	uint32_t call_count;
	uint64_t addend;              /* that each call adds, or has in its entry */
	const struct code_area *area; /* NULL: there is no room for stubs */
	uintptr_t trampoline;         /* the site's, or the next that is free; 0: none is left */
	uintptr_t after;              /* the stub behind the call now; 0: none */
	uintptr_t next_dispatch; /* where the site behind this one's suffix is entered, which shares it; 0: there is none */
	const struct dispatch_table *table; /* with room for all targets, where there are more than PLAN_MAX_COMPARED */
};

/* Where a call goes. */
struct plan_placed {
	uintptr_t before, counter;
};

struct plan {
	struct stub_plan stubs;
	uint8_t region[CODE_PATCH_MAX]; /* the site's bytes */
	struct plan_placed *placed;     /* of each call that is not gone; of a direct site the first */
	uint32_t placed_count;
	struct dispatch_case *cases; /* the same, of an indirect site */
	uintptr_t dispatch;          /* where the stub of an indirect site is entered; 0: it has none */
	bool is_at_trampoline;       /* a trampoline makes the call */
	uintptr_t trampoline_callee, trampoline_after; /* what it is to be aimed at */
	bool is_before_led; /* the site shares a suffix: the one before leads to `dispatch` then, and is to be written anew */
};

/* What stands behind a call undoes. */
struct plan_undo {
	bool is_needed;
	bool may_push;  /* some call pushes */
	bool must_push; /* and no other does not */
	bool leaves_tails;
	uint64_t addend; /* of every call: also those that push have added it */
};
void plan_undo_begin(struct plan_undo *u, uint64_t addend);
void plan_undo_add(struct plan_undo *u, const struct plan_call *call);
void plan_undo_end(struct plan_undo *u, const struct agent_site *site, uintptr_t next_dispatch);

/* How many stubs the site has at most, and bytes of code in them. */
void plan_most(const struct plan_site *in, uint32_t *ret_stubs, uint32_t *ret_bytes);
/* *ret has room for so many, and for a placed call and a case for each call. False: there is no room, or no way. */
bool plan_site(const struct plan_site *in, struct plan *ret);

#endif

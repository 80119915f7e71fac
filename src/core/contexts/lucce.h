/*
 * lucce.h - lazy calling-context encoding over a versioned call graph (Lucce: Salnikov-Tarnovski and Vojdani, section 5).
 *
 * Nothing is known of the program before it runs, nothing is encoded anew as a whole, and cycles are numbered as everything else.
 * Every entry of a function works out the annotation of that one function, numCC, from what its callers have at that moment. Each
 * change of the graph is an event of a log and makes a new version of the graph. A context is one number and one version; to
 * decode it, each of its calls is looked up in the graph as it was when that call was entered.
 *
 *      first A->B->C->E, then A->B->D->E, then X->B->D->E (Figure 3)
 *
 *      E from C 0..0 | from D 1..1                  ABDE is 1, in the graph as it was then
 *      E from C 0..0 | from D 1..2                  XBDE is 2: D has two contexts by now; C still has one, as it was not entered again
 *
 * Update (Algorithm 1) does the following here, over edge e from p, entered with <c, v>, to n:
 *
 *      lv(p) <- v          an event if it changes: in which version a decoder goes on at p
 *      v' <- the newest version in which something changed that decoding e reads: calls of n, their callers' numCC and lv
 *      c' <- c + av(e)     av(e): sum of the callers' numCC over the calls of n that are older than e
 *      numCC(n) <- the sum over all calls of n, an event if it changes
 *
 * Where this is not the letter of the paper:
 * - v' is taken before numCC(n) changes. The paper takes it afterwards, and av(e) in that graph; if n calls itself its own old number is
 *   then counted in numCC(n) and its new one in av(e), c' is not below numCC(n), and Theorem 1 fails (tests/core/test_lucce.c has a
 *   small program). In this order c' < numCC(n), which only grows: so the ranges of a version never overlap. A program where no function
 *   calls itself gets the paper's numbers.
 * - v' is not the current version but one that decodes to the same and stays when something else changes. With the current one lv(p) would
 *   be another at every entry of p as soon as anything below p logs: a loop that calls p, which calls something, logs for ever. Here all
 *   entries of n have one v' until something changes at its callers. So a program without recursion falls silent, from any number of
 *   threads, when its calls have been seen and the frames from before that have returned.
 * - The result of an entry may be kept (struct lucce_step): versions do not change afterwards, so <e, v> gives av(e) and v' for ever.
 *
 * One limit of the paper remains: lv(p) is one value. Two activations of p that were entered in different versions and
 * call in turns (an old frame and a new one, two threads, two levels of a recursion) change it, which is an event each time, unless
 * their steps are kept. A recursion makes two events at each new level.
 *
 * Limits, all of them exact:
 * - Numbers. numCC grows with every level of a recursion, by a factor if a function has several calls of itself, so 64 bits are soon
 *   outgrown. When a sum would pass max_number a new generation begins (LUCCE_RESET): all numCC are 0 again, the edges stay. A frame
 *   of an older generation calls over a boundary: its call, number and version are an event, LUCCE_BOUNDARY, and the callee is <0, the
 *   version of that event>. So a context is always one number and one version, whatever it has below it.
 * - Versions have 64 bits. max_version is for an owner whose records have fewer; when it is reached nothing can be logged any more.
 * - The log. Events wait in `log` until the owner has taken them. With max_pending of them waiting nothing can be logged.
 * An entry that can not be logged changes nothing and is lost: its version is LUCCE_LOST, it does not decode, and neither do the calls
 * that it makes; each of them is counted in `lost` by its reason. Entries that need no event go on.
 *
 * Ownership: the module's; all memory comes from the allocator. No I/O, no locks, no system calls.
 * Threads: the owner holds one lock of its own over each function that takes a `struct lucce *` without const, and over reading what they
 * write. One entry must be one critical section: lv(p), av(e) and v' belong together. Steps are plain values: a thread reads
 * those of its own without the lock, and one that threads share is published as a whole (an immutable object in Java). Not for
 * signal handlers.
 */
#ifndef WM_CORE_CONTEXTS_LUCCE_H
#define WM_CORE_CONTEXTS_LUCCE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

/* ---- contexts ---- */

enum {
	/* The function that calls what starts a thread. Nothing calls it, and its context is always {0, 0}. */
	LUCCE_ROOT = 0,
};
#define LUCCE_NO_EDGE UINT32_MAX
#define LUCCE_LOST UINT64_MAX

/* The context of an activation, together with its function: callId and version in the paper, two locals of the method. */
struct lucce_id {
	uint64_t number;
	uint64_t version; /* LUCCE_LOST: the context is not known */
};

/* ---- the log ---- */

/* Kinds of events, and which members of struct lucce_event they have. Values are stable. */
enum lucce_change {
	LUCCE_NODE = 1,    /* index: a new function. Functions are numbered in order, from 1 on */
	LUCCE_EDGE = 2,    /* index: the callee; caller, site. Edges are numbered in order, from 0 on */
	LUCCE_COUNT = 3,   /* index: function; number: its numCC from here on */
	LUCCE_ENTERED = 4, /* index: function; version: its lv from here on */
	LUCCE_RESET = 5,   /* numCC of every function but the root is 0 */
	LUCCE_BOUNDARY =
		6, /* index: edge; number, version: those of its caller. The callee is <0, version of this event> */
};

/* The nth event that is logged, from 1 on, leads to version first_version + n. */
struct lucce_event {
	uint32_t change; /* enum lucce_change */
	uint32_t index;
	union {
		struct {
			uint32_t caller;
			uint32_t site;
		};
		uint64_t number;
	};
	uint64_t version;
};

VEC_DECLARE(lucce_events, struct lucce_event);

/* ---- the encoder ---- */

enum {
	LUCCE_MAX_COUNT = INT32_MAX, /* functions, edges */
	LUCCE_ENTRY_EVENTS = 3,      /* that one entry logs at most */
};

/* 0 is the default. */
struct lucce_limits {
	uint64_t first_version;
	uint64_t max_number;  /* no numCC may exceed it; INT64_MAX */
	uint64_t max_version; /* the last one; LUCCE_LOST - 1, which is also the most */
	size_t max_pending;   /* events in `log`, at least LUCCE_ENTRY_EVENTS; no limit */
};

/* Why the context of an entry is not known. */
enum lucce_loss {
	LUCCE_LOST_EDGE,     /* there was no such edge: it could not be added */
	LUCCE_LOST_CALLER,   /* that of the caller is not */
	LUCCE_LOST_VERSIONS, /* max_version is reached */
	LUCCE_LOST_PENDING,  /* max_pending is reached; better when events were taken */
	LUCCE_LOST_MEMORY,
	LUCCE_LOSSES,
};

struct lucce_node {
	uint64_t generation; /* that `count` belongs to; of an older one it is 0 */
	uint64_t count;      /* numCC; 0: not entered */
	uint64_t entered;    /* lv; 0: has not called */
	uint64_t changed_at; /* version of the last event of the two */
	uint32_t first_in;   /* edges to the function in their order, linked by next_in; LUCCE_NO_EDGE at the end */
	uint32_t last_in;
};

struct lucce_edge {
	uint32_t caller;
	uint32_t callee;
	uint32_t site; /* the owner's name for it */
	uint32_t next_in;
	uint64_t added_at; /* version */
};

VEC_DECLARE(lucce_nodes, struct lucce_node);
VEC_DECLARE(lucce_edges, struct lucce_edge);

struct lucce {
	struct lucce_limits limits; /* max_pending may be changed at any time */
	struct lucce_nodes nodes;
	struct lucce_edges edges;
	uint64_t version;    /* the current one */
	uint64_t generation; /* version at which the present one began */
	/* Events that the owner did not take yet; the last one made the current version. Taken before a context of their versions is given
	 * to anybody who decodes it. */
	struct lucce_events log;
	uint64_t resets;
	uint64_t boundaries;
	uint64_t lost[LUCCE_LOSSES]; /* entries */
};

/* allocator: NULL for malloc; outlives all of it. limits: NULL for the defaults. ERROR_ARGUMENT when a limit leaves no room. */
struct error *lucce_init(struct lucce *l, const struct allocator *allocator, const struct lucce_limits *limits);
void lucce_deinit(struct lucce *l);

/*
 * Amortised O(1), one event each. An edge is added once: the owner looks it up. Contexts stay what they are. ERROR_ARGUMENT: no such
 * caller or callee, or the callee is the root. ERROR_OVERFLOW: a limit; ERROR_NO_MEMORY; nothing is changed then.
 */
struct error *lucce_add_node(struct lucce *l, uint32_t *ret);
struct error *lucce_add_edge(struct lucce *l, uint32_t caller, uint32_t callee, uint32_t site, uint32_t *ret);

/* The effect of an edge on the contexts of its caller in one version. All zero fits none. */
struct lucce_step {
	uint64_t from_version;
	uint64_t from_number; /* of a boundary only */
	uint64_t addend;
	uint64_t version; /* of the callee */
	bool is_boundary;
};

/* Update: a function is entered over an edge from an activation of its caller that has `from`. O(edges to the function). */
struct lucce_step lucce_enter(struct lucce *l, uint32_t edge, struct lucce_id from);

/* May a step that was kept for this edge, from whatever time, be taken from here? If not, lucce_enter. */
static inline bool lucce_step_fits(const struct lucce_step *s, struct lucce_id from)
{
	return s->version && s->version != LUCCE_LOST && s->from_version == from.version &&
	       (!s->is_boundary || s->from_number == from.number);
}

/* The context of the callee. */
static inline struct lucce_id lucce_step_to(const struct lucce_step *s, struct lucce_id from)
{
	if (s->is_boundary || s->version == LUCCE_LOST)
		return (struct lucce_id){0, s->version};
	return (struct lucce_id){from.number + s->addend, s->version};
}

/* The first `count` events of the log are written elsewhere and may go. */
void lucce_take(struct lucce *l, size_t count);

#endif

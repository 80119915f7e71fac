/*
 * program.h - the instrumenter's model of one linked module, filled phase by phase by instrument_module:
 *
 *   scan      functions and call sites, what each call may reach           (scan.c, nocallback.c, interpose.c, pointed.c, passed.c)
 *   weigh     the call graph and its frequencies                           (number.c, estimate.c)
 *   promote   calls through pointers become direct ones, then scan again   (targets.c)
 *   number    the encoding of the call graph                               (number.c, hybrid.c)
 *   plan      what code each site and each function needs                  (plan.c, late.c, cold.c, self.c)
 *   describe  the metadata section                                         (emit_metadata.c)
 *   emit      rewrite the module                                           (emit.c, entry.c, outline.c, support.c)
 *
 * One arena owns all of it. LLVM values are borrowed from the module.
 */
#ifndef WM_INSTRUMENT_CONTEXTS_PROGRAM_H
#define WM_INSTRUMENT_CONTEXTS_PROGRAM_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/vec.h"
#include "core/contexts/callgraph.h"
#include "format/meta.h"
#include "llvm/host.h"

#define NO_INDEX UINT32_MAX

/* The id and top of a function's entry, loaded in front of some of its sites (emit.c). */
struct kept {
	struct kept *next;
	LLVMBasicBlockRef block;
	LLVMValueRef id;
	LLVMValueRef top;
};

/* The code around a site's call. */
enum site_action {
	SITE_NOTHING = 0, /* zero edge */
	SITE_ADD,         /* id += addend, undone after */
	SITE_PUSH,        /* push, both words put back after */
	SITE_SELF,        /* META_SITE_SELF_CALL: code appended to the history, taken off after */
	SITE_DEFER,       /* foreign code, which may push in its place (waymark/abi.h); taken off after if it did */
	SITE_CAPTURE,     /* the call is replaced by the runtime's, which gets the site's number */
};

struct site {
	LLVMValueRef call;
	LLVMBasicBlockRef block;
	enum meta_site_kind kind; /* META_SITE_CALL until numbering makes it BACK or CUT */
	uint32_t caller;          /* function index */
	uint32_t callee;          /* function index, NO_INDEX when not known */
	const char *foreign;      /* META_SITE_FOREIGN */
	double frequency;         /* executions for each entry of the caller */
	uint32_t edge;            /* in the call graph, NO_INDEX if none */
	uint32_t number;          /* site number in the image, 0 until described */
	bool is_tail;             /* marked tail and followed by the return: may run without the caller's frame */
	bool is_must_tail;
	bool is_landed; /* between it and the site before it in the block a call returns twice, which puts the state of the entry back */
	bool is_replaceable; /* META_SITE_CALL: of a function that another image may replace (interpose.c) */
	enum site_action action;
	uint64_t addend; /* SITE_ADD: of the id (program_id) */
	uint32_t code;   /* SITE_SELF, and its bits */
	uint32_t code_bits;
	bool has_next; /* SITE_SELF: another one comes behind it, which is_next: its code takes the place of this one's */
	bool is_next;
	bool is_jump;        /* is_hybrid: an encoded call that is a jump in the code */
	bool is_cold;        /* written for size: by calls of helpers (outline.c), with nothing kept in registers */
	bool undo;           /* code after the call puts the state back */
	bool is_around_loop; /* SITE_PUSH: made once, in front of a loop, and put back behind it */
	bool restore_id;     /* the callee may come back with another id: put back the absolute one */
	bool restore_top;    /* the same for the context stack */
	struct kept *kept;   /* the id and top of its function's entry, where it needs them */
};
VEC_DECLARE(site_vec, struct site);

struct function {
	LLVMValueRef value;
	const char *name;
	bool is_exported;      /* visible outside the module */
	bool is_address_taken; /* other than to call it */
	bool is_root;          /* may be entered by code that does not know it: sets the id itself then */
	bool is_opaque;        /* never touched: naked, or may run before thread-local storage exists */
	bool is_observable;    /* something below it may look at the context */
	bool clobbers_id;      /* may return with another id than it was entered with (tail calls) */
	bool clobbers_top;
	bool recovers;  /* has a landing pad or a call that returns twice, where it puts back the state of its entry */
	double entries; /* executions, estimated */
	bool is_outer;  /* a root into which no call is encoded: its id is 0 whenever it runs */
	bool is_late;   /* is_outer: sets its id in front of its sites, and not when it is entered */
	double starts;  /* is_late: how often it sets its id, for each entry */
	LLVMValueRef inner;  /* of any other root: where encoded calls enter */
	bool is_replaceable; /* encoded calls of it look whether another image has replaced it */
	LLVMValueRef entry;  /* where these enter */
	uint32_t bound_site; /* of what they call when it has; 0 until described */
	uint32_t node;       /* in the call graph, NO_INDEX if not observable */
	uint32_t first_site;
	uint32_t site_count;
	/* is_hybrid */
	uint32_t frame_bytes; /* as in struct meta_function */
	bool is_placed;       /* a push starts here at a known place of the stack, or it is main */
};
VEC_DECLARE(function_vec, struct function);

/*
 * Another body of a function, which the tracer made of it (trace_variants.c): entered in its place with all of its state, so it
 * is no function of its own, and its calls have the numbers of the function's.
 */
struct variant {
	LLVMValueRef value;
	uint32_t function;
	LLVMValueRef *calls; /* of the function's sites, in their order */
};
VEC_DECLARE(variant_vec, struct variant);

/* Functions by value, sorted, to find an index. */
struct function_entry {
	LLVMValueRef value;
	uint32_t index;
};

/* Functions of one type whose address is taken. */
struct pointed {
	LLVMTypeRef type;
	uint32_t count;
	double pushes; /* of an entry of each: how often a call that is put off is pushed after all */
	double calls;  /* through pointers of this type, estimated */
};

/* Counts for `waymark graph`. */
struct call_counts {
	uint64_t total;
	uint64_t no_code;
};

struct program {
	struct arena arena;
	LLVMModuleRef module;
	LLVMContextRef context;
	const struct host *host;
	const char *unit;
	bool is_shared;
	const char *events; /* words with commas between them; NULL: all events (events.c) */
	bool own_events;    /* what other code captures has no context: no allocations, say */
	bool is_closed;     /* own_events, and no function that other code may enter leads to a capture */
	struct function_vec functions;
	struct function_entry *by_value;
	struct variant_vec variants;
	struct site_vec sites;   /* grouped by caller, in the order of the code */
	struct pointed *pointed; /* by type */
	uint32_t pointed_count;
	struct passed *passed; /* passed.c */
	size_t passed_count;
	struct callgraph graph;
	struct callgraph_stats graph_stats;
	struct call_counts calls;
	bool is_hybrid;                /* offsets of the stack tell contexts apart, too (hybrid.c) */
	struct shared_change *changes; /* of cold edges, those that a helper pays for, sorted */
	size_t change_count;
	bool cleans_tails; /* roots take off the tail-call pushes of their frame before they return */
	struct meta meta;
};

/* The effect of cold sites on the id. */
enum id_change {
	ID_SET,
	ID_ADD,
	ID_SUBTRACT,
	ID_CHANGE_COUNT,
};
/* A change by the same value in many places. */
struct shared_change {
	enum id_change change;
	uint64_t value;
	uint32_t uses;
	LLVMValueRef helper; /* NULL until one is emitted */
};

/* The index of a function, NO_INDEX for any other value. */
uint32_t program_find(const struct program *p, LLVMValueRef value);

/* May be called again, when the module has changed: forgets what the phases have found. */
struct error *program_scan(struct program *p);
struct error *program_weigh(struct program *p);
/* targets.c: *ret_changed: some calls were. */
struct error *targets_promote(struct program *p, bool *ret_changed);
/* Part of program_number: plans with the sizes of frames that an earlier link had; then sets is_hybrid and encodes the graph once more. */
struct error *program_number_hybrid(struct program *p);
/* The id that stands for a number, or the change of one that adds a number. */
static inline uint64_t program_id(const struct program *p, uint64_t number)
{
	return number << p->is_hybrid;
}
/* The id at which a push starts in the function. */
static inline uint64_t program_restart(const struct program *p, const struct function *f)
{
	return program_id(p, p->graph.nodes[f->node].restart) | f->is_placed;
}
/* main, which begins at a known place of the stack. */
static inline bool function_is_placed_root(const struct function *f)
{
	return f->is_placed && f->is_root;
}

/* Part of program_weigh: sets the entries of each function and the weights of the graph. */
struct error *program_estimate(struct program *p);
/* How often the site runs, by that. */
static inline double program_runs(const struct program *p, const struct site *site)
{
	return p->functions.items[site->caller].entries * site->frequency;
}

struct weighed_site {
	double weight;
	uint32_t number;
};
/* For qsort of weighed sites: the heaviest first. */
static inline int program_compare_weighed(const void *a, const void *b)
{
	const struct weighed_site *x = a, *y = b;
	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return x->number < y->number ? -1 : 1;
}

struct error *program_number(struct program *p);
struct error *program_plan(struct program *p);
struct error *program_describe(struct program *p, struct buffer *ret_section);
struct error *program_emit(struct program *p, const struct buffer *section);

/* events.c: which captures the program has contexts for. */
void events_read(struct program *p);
/* The call, of wm_capture or wm_event, is one. */
bool events_has(const struct program *p, LLVMValueRef call);
/* own_events: sets is_closed; *ret_changed: it was not set. */
struct error *events_close(struct program *p, bool *ret_changed);

/* scan.c: other than to call it. */
bool scan_is_address_taken(LLVMValueRef function);

/* self.c: which calls of functions by themselves are in the history, after cold_choose; gives them their codes. */
struct error *self_choose(struct program *p);

/* late.c: which roots set their id late; the site is the first one of its block that needs it. */
void late_find(struct program *p);
bool late_starts_at(const struct program *p, const struct function *f, const struct site *site);

/* pointed.c: finds the functions of each type; NULL: there is none of that type; after late_find: the function that a call reaches
 * will seldom push. */
struct error *pointed_collect(struct program *p);
void pointed_weigh(struct program *p);
struct pointed *pointed_find(const struct program *p, LLVMTypeRef type);
bool pointed_hardly_pushes(const struct program *p, LLVMTypeRef type);

/* passed.c: finds what calls pass; after late_find: the call is through a parameter, and what it reaches will seldom push. */
struct error *passed_collect(struct program *p);
bool passed_hardly_pushes(const struct program *p, LLVMValueRef call);

/* cold.c: which sites are written for size; the change that has a helper, NULL for any other. */
struct error *cold_choose(struct program *p);
struct shared_change *cold_find(struct program *p, enum id_change change, uint64_t value);

/* entry.c: a root may have an entry of its own; gives it one, which starts at id restart; makes a call enter behind it. */
struct support;
bool entry_is_possible(const struct program *p, uint32_t index);
void entry_split(struct program *p, const struct support *s, struct function *f, uint64_t restart);
void entry_call_inner(LLVMValueRef call, const struct function *f, LLVMValueRef inner);

/* interpose.c: a call of a function that another image may replace can be an edge; the entry of such calls, by split roots only. */
bool interpose_is_possible(const struct program *p, LLVMValueRef call, uint32_t index);
struct error *interpose_add(struct program *p, const struct support *s, struct function *f);

/* The site's number in the process: a constant in a program. */
LLVMValueRef support_number(const struct program *p, const struct support *s, LLVMBuilderRef builder, uint32_t site);

/* outline.c: what cold sites do, by calls of helpers. */
struct error *outline_add(struct program *p, struct support *s);
/* A local function that is this assembly (ir_add_naked), with frame descriptions for each instruction. */
LLVMValueRef outline_add_code(struct program *p, const char *name, LLVMTypeRef type, const struct buffer *text,
			      const char *constraints, LLVMValueRef *operands, unsigned count);
void outline_call(LLVMBuilderRef builder, LLVMValueRef helper, LLVMValueRef *argument);
/* Instructions that keep the first vector registers in memory at the stack pointer, and load them again. */
void outline_save_vectors(struct buffer *b, unsigned count);
void outline_load_vectors(struct buffer *b, unsigned count);
struct error *outline_change(struct program *p, const struct support *s, LLVMBuilderRef builder, enum id_change change,
			     uint64_t value);

/* support.c: declarations and helper functions the emitted code uses, all in the module. */
struct support {
	LLVMTypeRef i32, i64, pointer, void_type;
	LLVMValueRef thread_id;  /* address of wm1_thread_state.id */
	LLVMValueRef thread_top; /* address of wm1_thread_state.top */
	LLVMValueRef thread_deferred_sp;
	LLVMValueRef thread_history;
	LLVMValueRef site_base; /* address of the image's site_base */
	LLVMValueRef push;      /* ptr top = push(i32 site, i64 id, i64 sp) */
	LLVMValueRef
		call_self; /* void call_self(i32 limit, i32 bits, i32 code, i64 site, i64 restart); call_self_first: code 0 */
	LLVMValueRef call_self_first;
	LLVMValueRef call_selves; /* the first of several in a row */
	LLVMValueRef next_self;   /* void next_self(i32 difference) */
	LLVMValueRef return_self; /* void return_self(i32 bits) */
	LLVMValueRef defer;       /* void defer(i32 site, i64 sp) */
	LLVMValueRef end_defer;   /* void end_defer(i64 sp) */
	LLVMValueRef enter;       /* void enter(): a root's own code */
	LLVMValueRef enter_here;  /* outline.c: the same, and sets the id to 0 */
	LLVMValueRef push_here;   /* outline.c, void (i64 site); put_back: void () */
	LLVMValueRef put_back;
	LLVMValueRef push_self; /* the same where the history has no room; of several in a row */
	LLVMValueRef push_selves;
	LLVMValueRef put_back_self;
	LLVMValueRef defer_here; /* as push_here and put_back */
	LLVMValueRef end_here;
	LLVMValueRef enter_slow;              /* void (): pushes what is deferred; keeps all registers */
	LLVMValueRef change[ID_CHANGE_COUNT]; /* by enum id_change */
	LLVMValueRef push_tail;               /* preserve_most void push_tail(i32 site, i64 id, ptr return_slot) */
	LLVMValueRef clean;                   /* void clean(ptr return_slot) */
	LLVMValueRef capture;                 /* void wm1_capture(ptr sret, i32 site) */
	LLVMValueRef event;                   /* void wm1_event(i32 site, ptr name, i64 value) */
	LLVMValueRef hybrid_main;             /* i64 id = wm1_hybrid_main(i64 frame) */
};
struct error *support_add(struct program *p, uint32_t site_count, uint64_t meta_key, struct support *ret);
/* Inlines the always-inline helpers and removes what is left of them. */
struct error *support_finish(struct program *p);
LLVMTypeRef support_type(LLVMValueRef function);

#endif

/*
 * path.h - the path counter's model of one module and of the function at work. For each function, in order (paths.c):
 *
 *   graph      control flow, where paths are cut, what edges mean, keys, source lines      (path_graph.c, path_lines.c, path_tests.c)
 *   hidden     what may run in it, of the source, and leave no code that shows it             (path_hidden.c)
 *   number     Ball-Larus numbers (core/paths/path_number.h)
 *   choose     array, pairs or a plan's pairs, and the values that edges add                 (path_choose.c)
 *   place      where code goes (core/paths/placement.h)
 *   emit       the code                                                                      (path_emit.c, path_table.c)
 *
 * and at the end the metadata of all. LLVM values are borrowed from the module.
 */
#ifndef WM_INSTRUMENT_PATHS_PATH_H
#define WM_INSTRUMENT_PATHS_PATH_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>
#include <waymark/paths.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/vec.h"
#include "core/paths/cfg.h"
#include "core/paths/path_number.h"
#include "core/paths/placement.h"
#include "format/pathmeta.h"
#include "format/plan.h"
#include "llvm/host.h"
#include "llvm/ir.h"

VEC_DECLARE(path_function_vec, struct pathmeta_function);

/* Attributes and intrinsics, by LLVM's numbers. */
struct path_kinds {
	unsigned returns_twice, noreturn, naked, coroutine, no_profile, skip_profile;
	unsigned memory, nounwind, willreturn, setjmp, lifetime_start, lifetime_end, assume, optnone, expect;
	unsigned chooses[16]; /* intrinsics that stand for a branch and what it decides; 0 behind the last */
};

/* Tags of type-based alias information (path_alias.c). */
struct path_alias {
	unsigned kind;
	LLVMValueRef program, counters, slots;
};

/* Functions that share a slot (path_table.c). */
struct path_bundle {
	LLVMValueRef slot, enter; /* NULL as long as there is none */
	struct ir_value_vec descriptors;
	uint64_t len_bytes; /* of their records */
};

struct path_module {
	LLVMModuleRef module;
	LLVMContextRef context;
	const struct host *host;
	const char *unit;
	const struct path_options *options;
	struct path_kinds kinds;
	struct path_alias alias;
	struct plan *plan; /* NULL without one */
	struct path_bundle bundle;
	struct pathmeta meta;
	struct path_function_vec functions;
	struct skipped_vec skipped;
	struct path_hidden *hidden; /* final stage */
	struct buffer changed;      /* names of functions that a plan does not fit, for one warning */
	struct buffer dropped;      /* the same, of those whose plan is cut short */
	struct buffer split;        /* the same, of those with too many paths */
};

struct path_node {
	LLVMBasicBlockRef block;
	LLVMValueRef terminator; /* blocks get split, this stays the way on */
	LLVMValueRef end;        /* a path that ends in this node is counted before this */
	bool is_return;          /* of a call that returns twice: a path begins at each */
};

/* The function at work. Its cfg is in meta.arena, all else in the scratch one. */
struct path_graph {
	struct path_module *m;
	struct arena *scratch;
	LLVMValueRef function;
	struct cfg cfg;
	struct path_node *nodes;
	unsigned *successors; /* [edge]: first successor of the terminator that it stands for */
	bool calls;           /* something that may not return, or not yet */
	bool may_stop;        /* something in it may not get to the next instruction */
	struct pathmeta_function meta;
};

/* The code at the ends of paths, and its numbers. */
struct path_choice {
	enum wm1_path_kind kind;
	unsigned int bits;
	uint32_t entry_count;
	uint16_t flags;
	const uint64_t *start_values;
	const uint64_t *edge_values;
	const uint64_t *checks;    /* PLAN: [entry_count] */
	const double *frequencies; /* of edges, from the plan's counts; NULL: the graph's estimates */
};

/* paths.c */
void path_find_kinds(struct path_kinds *ret);
bool path_call_has(LLVMValueRef call, unsigned kind);
bool path_is_intrinsic(LLVMValueRef call);

/* Adds a section of that name with what m->functions and m->skipped are. */
struct error *path_describe(struct path_module *m, const char *section_name);
/* Notes a function that is left out, and why: the text is not copied. */
struct error *path_skip(LLVMValueRef function, const char *reason, struct arena *arena, struct skipped_vec *ret);
/* The graph with its lines and tests, and what it hides. */
struct error *path_graph_describe(struct path_graph *g);
/* So that it is not counted (again). */
void path_mark_counted(const struct path_module *m, LLVMValueRef function);

/* The instruction before which code runs exactly when the edge is taken; of a fixed edge, whenever its source is. */
LLVMValueRef path_place_on_edge(struct path_graph *g, uint32_t edge);

/* Why the function is not counted; NULL when it is. */
const char *path_reason(const struct path_module *m, LLVMValueRef function);

/* Splits blocks after calls that return twice, and nothing else. */
struct error *path_graph_make(struct path_graph *g);
struct error *path_lines_add(struct path_graph *g);
struct error *path_tests_add(struct path_graph *g);
/* path_hidden.c, final stage: reads the module's notes, before any function has code of ours; then what g->meta hides, which is
 * nothing without them. deinit: NULL is nothing. */
struct error *path_hidden_find(struct path_module *m);
/* Before any of them: what a function that is not counted has in it may have run. */
struct error *path_hidden_uncounted(struct path_module *m, LLVMValueRef function);
struct error *path_hidden_describe(struct path_graph *g);
void path_hidden_deinit(struct path_hidden *h);
/* The last file and inlined function: neighbours are from the same. */
struct path_line_cache {
	LLVMMetadataRef file;
	char *file_name;
	const char *function;
	const char *function_copy;
};
struct error *path_line_of(struct path_graph *g, struct path_line_cache *cache, LLVMMetadataRef location,
			   struct pathmeta_line *ret);
/* Names and name_key; before the others. */
struct error *path_identify(struct path_graph *g);

void path_alias_init(struct path_module *m);
/* Marks what a function loads and stores, before it gets code of ours. */
void path_alias_tag_program(const struct path_module *m, LLVMValueRef function);

/* path_plan.c. ask: which paths are interesting. choose: pairs for them. count_edges: frequencies from their counts. */
struct error *path_plan_load(const char *path, struct plan **ret);
struct error *path_plan_ask(struct path_graph *g, const struct path_numbering *n, struct plan_choice *ret);
struct error *path_plan_choose(struct path_graph *g, const struct path_numbering *n, struct plan_choice *choice,
			       struct path_choice *ret);
struct error *path_plan_count_edges(struct path_graph *g, const struct path_numbering *n,
				    const struct plan_choice *choice, struct path_choice *ret);
struct error *path_choose(struct path_graph *g, const struct path_numbering *n, struct path_choice *ret);

/* path_emit.c, path_table.c */
struct path_table {
	LLVMValueRef descriptor; /* NULL in a bundle */
	LLVMValueRef slot;
	LLVMValueRef enter; /* ptr enter(): wm1_path_enter for this function */
	uint64_t off_bytes; /* of the table from what the slot points to */
	bool is_bundled;    /* and enter leaves it to the caller to store the pointer in the slot */
	bool is_local_exec; /* the slot is one instruction away */
};
struct error *path_table_add(struct path_graph *g, const struct path_choice *choice, struct path_table *ret);
/* When all functions are done. */
void path_bundle_finish(struct path_module *m);
/* The declaration of a function of the runtime, all of which keep nearly all registers. */
LLVMValueRef path_runtime_function(const struct path_module *m, const char *name, LLVMTypeRef type);
struct error *path_emit(struct path_graph *g, const struct path_numbering *n, const struct path_choice *choice,
			const struct placement *placement);

#endif

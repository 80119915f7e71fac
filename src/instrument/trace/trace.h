/*
 * trace.h - the tracer's model of one module and of the function at work. For each function, in order (trace.c):
 *
 *   rules      which schemes it has                                          (trace_rules.c)
 *   graph      control flow, numbers and places, as for path counters        (path_graph.c, core/)
 *   calls      what it calls and who may call it, for the readers' analyses (trace_calls.c, trace_callers.c)
 *   hidden     what may run in it unseen                                     (path_hidden.c)
 *   layout     what the frame record and the coverage bytes of each variant have (trace_layout.c)
 *   clone      one body for each of several schemes                         (trace_variants.c)
 *   emit       the code and the points of each variant                       (trace_emit.c, trace_asm.c)
 *
 * and at the end the metadata of all. LLVM values are borrowed from the module.
 */
#ifndef WM_INSTRUMENT_TRACE_TRACE_H
#define WM_INSTRUMENT_TRACE_TRACE_H

#include <waymark/trace.h>

#include "core/paths/path_state.h"
#include "format/tracemeta.h"
#include "instrument/paths/path.h"

VEC_DECLARE(trace_function_vec, struct tracemeta_function);

struct trace_kinds {
	unsigned nocallback, elementtype, byval, inalloca;
};

struct trace_module {
	struct path_module paths; /* flow: functions and skipped */
	struct path_options path_options;
	const struct trace_options *options;
	struct trace_kinds kinds;
	struct tracemeta meta;
	struct trace_function_vec functions;
	struct skipped_vec skipped;
	struct ir_value_vec clones[1 << WM1_SCHEME_BITS]; /* by scheme */
	/* Callees that the metadata does not describe, and functions whose calls are not always covered. Sorted. */
	struct ir_value_vec called_unseen, called_uncovered;
	LLVMValueRef
		coverage; /* stands for the coverage bytes until their number is known; NULL as long as there are none */
	const char *coverage_name;
	const char *key_name; /* symbol of the unit's key */
	uint32_t coverage_bytes;
	const char *rules;
	bool has_tunables;
};

struct trace_function {
	struct trace_module *m;
	struct arena *scratch;
	LLVMValueRef function;
	uint8_t schemes[WM1_SCHEMES];
	uint32_t scheme_count;
	const char *plain_name;           /* NULL: not known */
	uint32_t index;                   /* in the unit */
	LLVMValueRef bodies[WM1_SCHEMES]; /* [scheme_count]: the function itself and its copies */
	struct path_numbering numbering;
	struct placement placement;
	uint32_t *start_of;           /* [node]: index of its start + 1 */
	uint32_t *start_of_iteration; /* [edge]: of the start behind it, ITERATION edges only */
	struct coverage_points own[WM1_SCHEME_COVERAGE +
				   1]; /* of tracemeta_own_coverage of its schemes: which points the frame keeps */
	struct tracemeta_function meta;
};

/* One body of it. */
struct trace_body {
	struct trace_function *f;
	struct path_graph *g;
	struct tracemeta_variant *variant;
	LLVMValueRef *calls; /* [f->meta.call_count] */
};

/* m->rules: the options', or those of the file that they name. */
struct error *trace_rules_read(struct trace_module *m);
/* f->schemes, of the first rule that matches; none when there is no such rule. */
struct error *trace_rules_apply(struct trace_function *f, const struct path_graph *g);

/* f->meta.calls, or only the call instructions of another body: ret[call_count], the scratch arena's. */
struct error *trace_calls_describe(struct trace_function *f, struct path_graph *g);
struct error *trace_calls_find(const struct trace_module *m, struct path_graph *g, uint32_t call_count,
			       LLVMValueRef **ret);

/* m->called_unseen and m->called_uncovered; before any function has code of ours. */
struct error *trace_callers_survey(struct trace_module *m);
/* f->meta.is_root and is_address_taken: who may call it, besides those that call it by its name here. */
void trace_callers_describe(struct trace_function *f);
/* Behind trace_calls_describe: with call-site coverage no call's byte proves whether f was entered. */
struct error *trace_entry_needs_byte(const struct trace_function *f, const struct cfg *g, bool *ret);

/* Sizes and places; coverage bytes of what the function's schemes need. */
struct error *trace_layout(struct trace_function *f, const struct cfg *g);

struct error *trace_emit(struct trace_body *b);

/* Why it can have one scheme only; NULL when it can have several. */
const char *trace_clone_reason(const struct trace_function *f);
struct error *trace_clone(struct trace_function *f, const struct path_graph *g, uint8_t scheme, LLVMValueRef *ret);
/* Puts the choice in front of the function's own body; when all bodies have their code. */
struct error *trace_tune(struct trace_function *f, const struct path_graph *g);
/* When all functions are done. */
void trace_add_constructor(struct trace_module *m);

/* One inline assembly under construction: instructions on memory, and points behind them. */
struct trace_asm {
	const struct trace_body *b;
	struct buffer text, constraints;
	LLVMValueRef operands[4];
	LLVMTypeRef elements[4]; /* NULL: in a register */
	unsigned count;
	bool has_code;    /* more than points */
	bool has_scratch; /* operand 0 is a register */
	bool sets_flags;
	bool in_points;
};
void trace_asm_begin(struct trace_asm *a, const struct trace_body *b);
/* "addb $5, memory" or "movb ..."; what: without its suffix. bytes: 1, 2, 4, 8. */
void trace_asm_constant(struct trace_asm *a, const char *what, unsigned bytes, uint64_t value, LLVMValueRef memory);
void trace_asm_value(struct trace_asm *a, const char *what, unsigned bytes, LLVMValueRef value, LLVMValueRef memory);
void trace_asm_increment(struct trace_asm *a, LLVMValueRef memory);
void trace_asm_point(struct trace_asm *a, enum wm1_point kind, uint32_t node);
void trace_asm_frame(struct trace_asm *a, LLVMValueRef record);
struct error *trace_asm_end(struct trace_asm *a, LLVMBuilderRef builder);

#endif

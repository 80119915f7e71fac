/*
 * host.h - what the instrumenter needs of LLVM and the C API of LLVM 19 does not offer. plugin.cpp fills it in.
 *
 * All calls are for the module being instrumented, on the thread that runs the pass.
 */
#ifndef WM_LLVM_HOST_H
#define WM_LLVM_HOST_H

#include <llvm-c/Types.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
	CALL_LOOP_EXITS_MAX = 4,
};

/* Around one call: what is done in front of it and behind it is done once, and not in each round. */
struct call_loop {
	LLVMValueRef before; /* the terminator of a block from which the loop is entered, and nothing else */
	LLVMBasicBlockRef exits[CALL_LOOP_EXITS_MAX]; /* entered from the loop, and from nowhere else */
	unsigned exit_count;
};

struct loops;

struct host {
	void *state;
	/* Executions of a block for each entry of its function (block frequency; the profile's where there is one). */
	double (*block_frequency)(void *state, LLVMBasicBlockRef block);
	/* Entry count from an LLVM profile; false when there is none. */
	bool (*entry_count)(void *state, LLVMValueRef function, uint64_t *ret);
	/* The definition in this module is the one that runs: no other image can preempt it. */
	bool (*is_final)(LLVMValueRef global);
	/* Gives a function that unwinding may leave a cleanup landing pad for every call that may throw. */
	void (*guard_unwinding)(void *state, LLVMValueRef function);
	/* The block entered only when this invoke returns normally; splits the edge where it must. */
	LLVMBasicBlockRef (*normal_edge)(LLVMValueRef invoke);
	/* Linkage name, else name, of the function a debug location or a subprogram is in; NULL when not known. */
	const char *(*location_function)(LLVMMetadataRef location, unsigned *ret_len);
	const char *(*subprogram_name)(LLVMMetadataRef subprogram, unsigned *ret_len);
	/* Marked artificial in the debug information: no function that anybody wrote, or one that claims so. */
	bool (*is_artificial)(LLVMValueRef function);
	const char *producer; /* "LLVM 19.1.7" */
	/* Share of a block's executions that leave it by this successor of its terminator. */
	double (*edge_probability)(void *state, LLVMBasicBlockRef block, unsigned successor);
	/* The function's blocks have changed: what was computed from them is no longer true. */
	void (*changed)(void *state, LLVMValueRef function);
	/* Gives each tail call that jumps to a return a return of its own, as the code generator would do; false: there is none. */
	bool (*return_after_tail_calls)(LLVMValueRef function);
	/* Gives what computed gotos lead to a block of its own in front of it, where other code leads there, too. */
	void (*land_apart)(LLVMValueRef function);
	/* The block that begins with this instruction, after splitting the one it is in. */
	LLVMBasicBlockRef (*split_before)(LLVMValueRef instruction);
	/* A block of its own on an edge, and on all others of the terminator to the same block; never for unwind edges. */
	LLVMBasicBlockRef (*split_edge)(LLVMValueRef terminator, unsigned successor);
	/* if (condition) { } in front of an instruction, rarely true: the terminator of the block in braces. */
	LLVMValueRef (*insert_if)(LLVMValueRef condition, LLVMValueRef before);
	/* if (condition) { } else { } in front of an instruction, rarely false: the terminators of both blocks. */
	void (*insert_if_else)(LLVMValueRef condition, LLVMValueRef before, LLVMValueRef *ret_then,
			       LLVMValueRef *ret_else);
	/* Makes branches of a select, and a phi of what it chooses: the rest of its block is the last of three new ones. */
	void (*branch_on_select)(LLVMValueRef select);
	/* Where code may go first in a block: after phis and landing pads. */
	LLVMValueRef (*first_insertion)(LLVMBasicBlockRef block);
	/* The symbol will be found in the same image: no detour by its global offset table. */
	void (*bind_locally)(LLVMValueRef global);
	/* One line for the user, that is no error. */
	void (*diagnose)(LLVMModuleRef module, const char *text);
	/* Name of a subprogram as people write it. */
	const char *(*plain_name)(LLVMMetadataRef subprogram, unsigned *ret_len);
	/* Keeps a global that only assembly names. */
	void (*keep)(LLVMValueRef global);
	void (*keep_linked)(LLVMValueRef global); /* by the linker, too */
	/* A local copy of a function, with its debug information. */
	LLVMValueRef (*clone)(LLVMValueRef function, const char *name);
	/* Its code comes behind that of all other functions. */
	void (*move_to_end)(LLVMValueRef function);
	/* Bytes in front of a function's code, which run first; NULL when there are none. */
	LLVMValueRef (*prologue_data)(LLVMValueRef function);
	void (*set_prologue_data)(LLVMValueRef function, LLVMValueRef constant);
	/* Before the function gets memory of ours: takes off it the wish for a stack protector that its own memory does not need
	 * (-fstack-protector, -fstack-protector-strong), as ours does not need one either. */
	void (*drop_needless_protector)(LLVMValueRef function);
	/* Memory of ours: protects and checks nothing. */
	void (*mark_own_memory)(LLVMValueRef alloca);
	/* Runs before other constructors; as often as its comdat group is linked. */
	void (*add_constructor)(LLVMValueRef function);
	/* The variable, of the function that scope is in or global, that a value is the value or the address of; NULL when not known. */
	const char *(*variable_name)(LLVMValueRef value, LLVMMetadataRef scope, unsigned *ret_len);
	/* The function may be called in place of what a call through a pointer calls. */
	bool (*may_promote)(LLVMValueRef call, LLVMValueRef function);
	/* if (pointer == function) function(...) else the call, which stays; how often each way is gone, relative to the other. */
	void (*promote)(LLVMValueRef call, LLVMValueRef function, uint32_t taken, uint32_t other);
	/* The loops of a function, for loop_around: nothing else may change its blocks until they are freed. NULL: its frame has no one size. */
	struct loops *(*loops_of)(LLVMValueRef function);
	/*
	 * The largest loop of which each round runs the call, and that has no other of the calls in it; with blocks in front of it and behind it
	 * that are made where there are none. False: there is no such loop, or one with many exits.
	 */
	bool (*loop_around)(struct loops *loops, LLVMValueRef call, const LLVMValueRef *calls, unsigned count,
			    struct call_loop *ret);
	void (*loops_free)(struct loops *loops);
	/*
	 * For each of the blocks of a function, the block in which it is cheapest to load a value that the blocks need: that one, or one on all
	 * ways to it. The same one may serve several. None of them is in a loop without the block that it serves.
	 */
	void (*load_places)(const struct host *host, LLVMValueRef function, const LLVMBasicBlockRef *blocks,
			    unsigned count, LLVMBasicBlockRef *ret);
	/* Objects that the link is given beside the module: machine code only; and members of archives, linked where needed. */
	uint64_t foreign_objects;
	uint64_t foreign_members;
};

/* Instruments one whole-program module. is_shared: the output is a shared library. Returns NULL, or one line that says
 * what went wrong; the caller of instrument_module frees it with free(). */
char *instrument_module(LLVMModuleRef module, const struct host *host, const char *unit, bool is_shared);

/* How paths are counted. */
struct path_options {
	bool is_final;      /* at the end of full LTO, over the whole program; else one translation unit as written */
	bool is_shared;     /* is_final: the output is a shared library */
	bool with_contexts; /* the program keeps its calling context: paths outside a plan come with theirs */
	bool hash_calls;    /* no pairs inline: every path of a hashed function goes to the runtime */
	bool folds_iterations; /* cfg_cut_iterations: nothing is counted */
	bool keeps_long_paths; /* is_final: loops are not cut from what comes before them to keep tables small */
	uint32_t array_limit;  /* functions with more paths than this are hashed */
	const char *plan_path; /* which paths are interesting; NULL: all are counted alike */
};

/* Adds path counters to a module (waymark/paths.h). Returns as instrument_module does. */
char *instrument_paths(LLVMModuleRef module, const struct host *host, const char *unit,
		       const struct path_options *options);

/* Options of tracing. */
struct trace_options {
	bool is_final;
	const char *rules; /* which functions, and how (format/scheme.h) */
	uint32_t ring;     /* paths kept for each frame, a power of two */
	bool names_units;  /* modules are linked before they become code */
};

/* Metadata of a module that its units bring to the link, nodes of texts: {callee, who it was inlined into}, {callee, who calls it as
 * written}, {what runs before main}, {callee, caller, line}: as written all code of the line is in one block, with that call. */
#define PATH_NOTES_INLINED "waymark.inlined"
#define PATH_NOTES_CALLS "waymark.calls"
#define PATH_NOTES_STARTS "waymark.starts"
#define PATH_NOTES_FIRM "waymark.firm"

/* Traces functions of a module (waymark/trace.h). Returns as instrument_module does. */
char *instrument_trace(LLVMModuleRef module, const struct host *host, const char *unit,
		       const struct trace_options *options);

#ifdef __cplusplus
}
#endif
#endif

/*
 * memory_build.h - the constraints as their files share them: memory.c states those of instructions, memory_calls.c those of calls. Internal to
 * src/analyze.
 */
#ifndef WM_ANALYZE_MEMORY_BUILD_H
#define WM_ANALYZE_MEMORY_BUILD_H

#include "analyze/library.h"
#include "analyze/memory.h"

enum {
	WORD = 8, /* bytes of a pointer */
};

/* A function of a library calls one of its arguments, or makes it a handler, or runs handlers. */
struct callback {
	uint32_t call; /* of the library's function */
	struct library_effect effect;
};
VEC_DECLARE(callback_vec, struct callback);

/* Functions that are stated once for each call (memory_clones.c). */
struct clones {
	bool *is_cloned;  /* [function]; NULL: none is */
	bool *has_clones; /* [function] */
	bool *is_stated;  /* [function] it is stated as others are, too */
	bool *is_called;  /* [instruction] a call that clones of its function share, which is stated */
	uint32_t count;
	uint64_t budget; /* instructions that may still be stated */
};
struct clone;

/* While it is made. Nodes are number + 1; 0: none yet. */
struct builder {
	struct memory *m;
	const struct code *code;
	struct pointers *p;
	const bool *runs;
	uint32_t *nodes;          /* [instruction and argument] */
	struct hashmap constants; /* value -> nodes_of_constants */
	struct function_ids nodes_of_constants;
	struct hashmap object_of; /* value -> object - 1 */
	struct function_ids objects_of_values;
	uint32_t *returned;           /* [function] node */
	uint32_t *variadic;           /* [function] location of its variable arguments */
	uint32_t *lists;              /* [instruction] node: what a call reads by a va_list */
	bool *is_called_from_outside; /* [function]: its parameters have what code outside passes */
	bool *runs_at_end;            /* [function] */
	struct callback_vec callbacks;
	struct hashmap told; /* what memory_call_leads_to has stated, by call and function */
	struct clones clones;
	struct clone *clone; /* that registers are of; NULL: none, they are the code's own */
	uint32_t foreign;    /* node: what code outside has */
	uint32_t library;    /* node: leads to the library's constants */
	struct {
		uint32_t reached;  /* node: where pointers lead that functions return of it */
		uint32_t touched;  /* node: that, and its variables */
		uint32_t handlers; /* node: functions that may be called for it at any time */
		uint32_t set;      /* node: these, and what code outside may have set */
	} states[LIBRARY_STATES];  /* those that some call uses */
};

/* An analysis that nothing is known of yet. The owner deinits, on failure too. */
struct error *memory_open(const struct code *c, const bool *runs, struct memory *ret);

struct error *memory_add_object(struct builder *b, const struct memory_object *object, uint32_t *ret);
/* The object of a value is made when it is first asked for. */
struct error *memory_object_of(struct builder *b, LLVMValueRef value, const struct memory_object *object,
			       uint32_t *ret);
/* An object whose pointers all lead to itself: code outside made it. ret: a node that leads anywhere in it. */
struct error *memory_add_closed_object(struct builder *b, const struct memory_object *object, uint32_t *ret);
/* The node leads to the beginning of the object. */
struct error *memory_point_to(struct builder *b, uint32_t node, uint32_t object);

/* The node of an operand; that of an instruction or argument by its number. */
struct error *memory_node(struct builder *b, LLVMValueRef value, uint32_t *ret);
struct error *memory_register(struct builder *b, uint32_t number, uint32_t *ret);
/* Values that cannot lead anywhere: nothing is stated of them. */
bool memory_leads_nowhere(LLVMValueRef value);
bool memory_may_carry(LLVMTypeRef type);
/* From a value to a node; step: what is added on the way, NULL for nothing. */
struct error *memory_copy(struct builder *b, LLVMValueRef from, uint32_t to, const struct pointer_step *step);

/* What an instruction does; memory_state_constants: only where the constants among its operands lead. */
struct error *memory_state(struct builder *b, uint32_t number);
struct error *memory_state_constants(struct builder *b, uint32_t number);
struct error *memory_state_call(struct builder *b, uint32_t number);

/* Which functions are cloned; before anything is stated. */
struct error *memory_find_cloned(struct builder *b);
void memory_clones_deinit(struct builder *b);
bool memory_is_cloned(const struct builder *b, uint32_t function);
/* A call, of the code or of b->clone, of a function that is cloned. */
struct error *memory_call_clone(struct builder *b, uint32_t call, uint32_t function);
/* The node of a register in b->clone, which is there. */
struct error *memory_clone_register(struct builder *b, uint32_t number, uint32_t *ret);
/* Tells apart what calls allocate; 0: there is no b->clone. */
uint32_t memory_clone_number(const struct builder *b);
/* Behind all others: functions that would have been cloned. */
struct error *memory_state_uncalled(struct builder *b);
/* A value as an argument of a function, by place. */
struct error *memory_pass(struct builder *b, uint32_t function, uint32_t number, uint32_t node);
/* Code outside can call the function with all that it has. */
struct error *memory_call_from_outside(struct builder *b, uint32_t function);

#define MEMORY_CALL_FROM_OUTSIDE CODE_NONE /* as the number of a call: by code outside */
/* For pointers_create: a call, a callback or code outside can call what is there. Behind the calls' numbers, which are those of instructions, are
 * those of callbacks. */
struct error *memory_call_leads_to(void *data, uint32_t call, uint32_t location);

#endif

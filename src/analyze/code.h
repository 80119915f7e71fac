/*
 * code.h - a program's bitcode with numbers: functions, blocks, instructions and arguments, in the order of the module.
 *
 * Each instruction, argument and block has a number, and so has each constant that an analysis asks for. Instructions have the first ones, so
 * that arrays of them need no other index. In optimized code, variables whose address does nothing but loads and stores become registers first
 * (mem2reg): they are the program's values, not its memory. Functions of -O0 (optnone) keep theirs, so that a line that sets one to a constant has
 * an instruction. The code is otherwise what was compiled, so that a block is a block of the recording.
 */
#ifndef WM_ANALYZE_CODE_H
#define WM_ANALYZE_CODE_H

#include <llvm-c/Core.h>
#include <llvm-c/Target.h>
#include <stdbool.h>

#include "base/arena.h"
#include "base/hashmap.h"
#include "base/watch.h"
#include "format/bitcode.h"

#define CODE_NONE UINT32_MAX

struct code_function {
	LLVMValueRef value;
	uint32_t first_block, block_count; /* 0: it is only declared */
	uint32_t first_argument, argument_count;
	uint32_t first_instruction, instruction_count;
};

struct code_block {
	LLVMBasicBlockRef value;
	uint32_t function;
	uint32_t first_instruction, instruction_count;
	uint32_t first_successor, successor_count;     /* in code.successors */
	uint32_t first_predecessor, predecessor_count; /* in code.predecessors */
};

struct code_instruction {
	LLVMValueRef value;
	LLVMOpcode opcode;
	uint32_t block;
	uint32_t first_operand, operand_count; /* in code.operands */
};

struct code {
	LLVMContextRef context;
	LLVMModuleRef module;
	LLVMTargetDataRef layout;
	struct arena arena;
	const struct watch *watch; /* is told what analyses of the code do; NULL: nobody */
	size_t unit_count;
	struct hashmap numbers; /* of functions, which are first */
	struct hashmap values;  /* of instructions, arguments, blocks, in this order */
	struct code_function *functions;
	uint32_t function_count;
	struct code_block *blocks;
	uint32_t block_count;
	uint32_t *successors, *predecessors; /* blocks */
	struct code_instruction *instructions;
	uint32_t instruction_count;
	uint32_t argument_count; /* their numbers follow those of instructions */
	uint32_t *operands;      /* numbers of instructions and arguments; CODE_NONE: a constant, a block, metadata */
	uint32_t *argument_function; /* [argument_count] */
};

/* Units are linked together. Between the two steps, instructions can be put into the module. The code lives until code_deinit. */
struct error *code_open(const struct bitcode_vec *units, struct code *ret);
struct error *code_number_all(struct code *c);
void code_deinit(struct code *c);

/* CODE_NONE: it is neither an instruction nor an argument. */
uint32_t code_number(const struct code *c, LLVMValueRef value);
uint32_t code_function_number(const struct code *c, LLVMValueRef function);
uint32_t code_block_number(const struct code *c, LLVMBasicBlockRef block);

/* The function of an instruction. */
static inline uint32_t code_function_of(const struct code *c, uint32_t instruction)
{
	return c->blocks[c->instructions[instruction].block].function;
}

/* A call or an invoke of something that is no intrinsic of debug information. */
bool code_is_call(const struct code *c, uint32_t instruction);
/* The function that a call names; NULL: it goes through a pointer, or is assembly. */
LLVMValueRef code_callee(LLVMValueRef call);

/* The name that a function with code had in its unit, and the unit's number. NULL: not known. */
const char *code_origin(const struct code *c, uint32_t function, uint32_t *ret_unit);

/* Where the source has it. Texts live as long as the code. */
struct code_line {
	const char *folder, *file; /* NULL: not known */
	uint32_t line, column;
};
/* The lines of an instruction, from the innermost inlined function outwards. Returns how many, at most `max`. */
uint32_t code_lines(const struct code *c, uint32_t instruction, struct code_line *ret, uint32_t max);
uint32_t code_lines_of(LLVMValueRef instruction, struct code_line *ret, uint32_t max);
/* The line's file is that one; a name need not be whole, but its components. */
bool code_file_ends_with(const struct code_line *line, const char *name);

#endif

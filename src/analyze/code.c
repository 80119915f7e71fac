/* code.c - loads bitcode, links its units, and numbers what is in it. */
#include "analyze/code.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <llvm-c/BitReader.h>
#include <llvm-c/DebugInfo.h>
#include <llvm-c/Error.h>
#include <llvm-c/Linker.h>
#include <llvm-c/Transforms/PassBuilder.h>

#include "base/text.h"
#include "llvm/ir.h"

/* Of functions: what they were before units were linked. */
static const char unit_attribute[] = "waymark-unit", name_attribute[] = "waymark-name";

/* ---- loading ---- */

/* Messages of LLVM are of whoever asked for them, not of standard error. */
static void ignore(LLVMDiagnosticInfoRef info, void *data)
{
	(void)info;
	(void)data;
}

static void note(LLVMModuleRef module, LLVMValueRef function, const char *attribute, const char *text)
{
	LLVMAttributeRef noted = LLVMCreateStringAttribute(LLVMGetModuleContext(module), attribute,
							   (unsigned)strlen(attribute), text, (unsigned)strlen(text));

	LLVMAddAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, noted);
}

/* Linking renames functions that are local to their units. \1 marks an asm label: the rest is the symbol as it stands. */
static void note_origins(LLVMModuleRef module, size_t unit)
{
	char number[24];

	snprintf(number, sizeof number, "%zu", unit);
	for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
		const char *name = LLVMGetValueName(f);

		if (!LLVMCountBasicBlocks(f))
			continue;
		note(module, f, unit_attribute, number);
		note(module, f, name_attribute, name + (name[0] == '\1'));
	}
}

static struct error *load_unit(struct code *c, const struct bitcode_unit *unit, size_t number)
{
	LLVMMemoryBufferRef bytes =
		LLVMCreateMemoryBufferWithMemoryRange((const char *)unit->bytes, unit->len_bytes, "bitcode", 0);
	LLVMModuleRef module = NULL;
	bool has_failed = LLVMParseBitcodeInContext2(c->context, bytes, &module);

	LLVMDisposeMemoryBuffer(bytes);
	if (has_failed)
		return error_create(
			ERROR_FORMAT,
			"the program's bitcode cannot be read: it is damaged, or of another version of LLVM");
	note_origins(module, number);
	if (!c->module) {
		c->module = module;
		return NULL;
	}
	if (LLVMLinkModules2(c->module, module))
		return error_create(ERROR_MISMATCH, "the program's units of bitcode cannot be linked together");
	return NULL;
}

static struct error *promote_variables(struct code *c)
{
	LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
	LLVMErrorRef failure = LLVMRunPasses(c->module, "function(mem2reg)", NULL, options);

	LLVMDisposePassBuilderOptions(options);
	if (!failure)
		return NULL;
	LLVMConsumeError(failure);
	return error_create(ERROR_FORMAT, "the program's bitcode is not valid");
}

/* ---- numbers ---- */

static struct key key_of(const void *value)
{
	return (struct key){{(uintptr_t)value, 0, 0}};
}

static struct error *add(struct hashmap *map, const void *value)
{
	struct key key = key_of(value);
	uint32_t number;

	return hashmap_add(map, &key, &number);
}

static uint32_t find(const struct hashmap *map, const void *value)
{
	struct key key = key_of(value);
	uint32_t number;

	return hashmap_find(map, &key, &number) ? number : CODE_NONE;
}

static void count(struct code *c, uint32_t *ret_successors, uint32_t *ret_operands)
{
	for (LLVMValueRef f = LLVMGetFirstFunction(c->module); f; f = LLVMGetNextFunction(f)) {
		c->function_count++;
		c->argument_count += LLVMCountParams(f);
		for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b)) {
			LLVMValueRef terminator = LLVMGetBasicBlockTerminator(b);

			c->block_count++;
			*ret_successors += terminator ? LLVMGetNumSuccessors(terminator) : 0;
			for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
				c->instruction_count++;
				*ret_operands += (uint32_t)LLVMGetNumOperands(i);
			}
		}
	}
}

static struct error *allocate(struct code *c, uint32_t successors, uint32_t operands)
{
	c->functions = arena_calloc(&c->arena, c->function_count + 1, sizeof *c->functions);
	c->blocks = arena_calloc(&c->arena, c->block_count + 1, sizeof *c->blocks);
	c->successors = arena_calloc(&c->arena, successors + 1, sizeof *c->successors);
	c->predecessors = arena_calloc(&c->arena, successors + 1, sizeof *c->predecessors);
	c->instructions = arena_calloc(&c->arena, c->instruction_count + 1, sizeof *c->instructions);
	c->operands = arena_calloc(&c->arena, operands + 1, sizeof *c->operands);
	c->argument_function = arena_calloc(&c->arena, c->argument_count + 1, sizeof *c->argument_function);
	if (c->functions && c->blocks && c->successors && c->predecessors && c->instructions && c->operands &&
	    c->argument_function)
		return NULL;
	return &error_no_memory;
}

static struct error *number_function(struct code *c, LLVMValueRef value, struct code_function *f, uint32_t *blocks,
				     uint32_t *instructions)
{
	struct error *err = NULL;

	*f = (struct code_function){.value = value, .first_block = *blocks, .first_instruction = *instructions};
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(value); b && !err; b = LLVMGetNextBasicBlock(b)) {
		struct code_block *block = &c->blocks[*blocks];

		*block = (struct code_block){
			.value = b, .function = (uint32_t)(f - c->functions), .first_instruction = *instructions};
		for (LLVMValueRef i = LLVMGetFirstInstruction(b); i && !err; i = LLVMGetNextInstruction(i)) {
			c->instructions[*instructions] = (struct code_instruction){
				.value = i, .opcode = LLVMGetInstructionOpcode(i), .block = *blocks};
			++*instructions;
			err = add(&c->values, i);
		}
		block->instruction_count = *instructions - block->first_instruction;
		++*blocks;
	}
	f->block_count = *blocks - f->first_block;
	f->instruction_count = *instructions - f->first_instruction;
	return err;
}

static struct error *number_arguments(struct code *c, struct code_function *f, uint32_t *arguments)
{
	struct error *err = NULL;

	f->first_argument = c->instruction_count + *arguments;
	f->argument_count = LLVMCountParams(f->value);
	for (uint32_t i = 0; i < f->argument_count && !err; i++) {
		c->argument_function[(*arguments)++] = (uint32_t)(f - c->functions);
		err = add(&c->values, LLVMGetParam(f->value, i));
	}
	return err;
}

static struct error *number(struct code *c)
{
	uint32_t blocks = 0, instructions = 0, arguments = 0, functions = 0;
	struct error *err = NULL;

	for (LLVMValueRef f = LLVMGetFirstFunction(c->module); f && !err; f = LLVMGetNextFunction(f), functions++) {
		err = add(&c->numbers, f);
		if (!err)
			err = number_function(c, f, &c->functions[functions], &blocks, &instructions);
	}
	for (uint32_t i = 0; i < functions && !err; i++)
		err = number_arguments(c, &c->functions[i], &arguments);
	for (uint32_t i = 0; i < blocks && !err; i++)
		err = add(&c->values, c->blocks[i].value);
	return err;
}

uint32_t code_number(const struct code *c, LLVMValueRef value)
{
	uint32_t number = find(&c->values, value);

	return number < c->instruction_count + c->argument_count ? number : CODE_NONE;
}

uint32_t code_function_number(const struct code *c, LLVMValueRef function)
{
	return find(&c->numbers, function);
}

uint32_t code_block_number(const struct code *c, LLVMBasicBlockRef block)
{
	uint32_t number = find(&c->values, block);

	return number == CODE_NONE ? CODE_NONE : number - c->instruction_count - c->argument_count;
}

static void link_blocks(struct code *c)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < c->block_count; i++) {
		struct code_block *b = &c->blocks[i];
		LLVMValueRef terminator = LLVMGetBasicBlockTerminator(b->value);

		b->first_successor = at;
		b->successor_count = terminator ? LLVMGetNumSuccessors(terminator) : 0;
		for (uint32_t s = 0; s < b->successor_count; s++) {
			c->successors[at] = code_block_number(c, LLVMGetSuccessor(terminator, s));
			c->blocks[c->successors[at++]].predecessor_count++;
		}
	}
	at = 0;
	for (uint32_t i = 0; i < c->block_count; i++) {
		c->blocks[i].first_predecessor = at;
		at += c->blocks[i].predecessor_count;
		c->blocks[i].predecessor_count = 0;
	}
	for (uint32_t i = 0; i < c->block_count; i++)
		for (uint32_t s = 0; s < c->blocks[i].successor_count; s++) {
			struct code_block *to = &c->blocks[c->successors[c->blocks[i].first_successor + s]];

			c->predecessors[to->first_predecessor + to->predecessor_count++] = i;
		}
}

static void list_operands(struct code *c)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < c->instruction_count; i++) {
		struct code_instruction *x = &c->instructions[i];

		x->first_operand = at;
		x->operand_count = (uint32_t)LLVMGetNumOperands(x->value);
		for (uint32_t k = 0; k < x->operand_count; k++)
			c->operands[at++] = code_number(c, LLVMGetOperand(x->value, k));
	}
}

struct error *code_open(const struct bitcode_vec *units, struct code *ret)
{
	struct code c = {.context = LLVMContextCreate(), .unit_count = units->count};
	struct error *err = NULL;

	LLVMContextSetDiagnosticHandler(c.context, ignore, NULL);
	for (size_t i = 0; i < units->count && !err; i++)
		err = load_unit(&c, &units->items[i], i);
	if (!err && !c.module)
		err = error_create(ERROR_NOT_FOUND, "the program carries no bitcode");
	if (err)
		code_deinit(&c);
	else
		*ret = c;
	return err;
}

struct error *code_number_all(struct code *c)
{
	uint32_t successors = 0, operands = 0;
	struct error *err = promote_variables(c);

	if (err)
		return err;
	c->layout = LLVMGetModuleDataLayout(c->module);
	count(c, &successors, &operands);
	err = allocate(c, successors, operands);
	if (!err)
		err = number(c);
	if (err)
		return err;
	link_blocks(c);
	list_operands(c);
	return NULL;
}

void code_deinit(struct code *c)
{
	if (c->module)
		LLVMDisposeModule(c->module);
	if (c->context)
		LLVMContextDispose(c->context);
	hashmap_deinit(&c->numbers);
	hashmap_deinit(&c->values);
	arena_deinit(&c->arena);
	*c = (struct code){0};
}

/* ---- questions ---- */

LLVMValueRef code_callee(LLVMValueRef call)
{
	LLVMValueRef callee = LLVMGetCalledValue(call);

	while (callee && LLVMIsAGlobalAlias(callee))
		callee = LLVMAliasGetAliasee(callee);
	return callee && LLVMIsAFunction(callee) ? callee : NULL;
}

static bool is_debug_intrinsic(LLVMValueRef function)
{
	size_t len_bytes;
	const char *name = LLVMGetValueName2(function, &len_bytes);

	return text_begins(name, "llvm.dbg.") || text_begins(name, "llvm.lifetime.");
}

bool code_is_call(const struct code *c, uint32_t instruction)
{
	LLVMValueRef callee;

	if (!ir_is_call(c->instructions[instruction].value))
		return false;
	callee = code_callee(c->instructions[instruction].value);
	return !callee || !LLVMGetIntrinsicID(callee) || !is_debug_intrinsic(callee);
}

static const char *noted(LLVMValueRef function, const char *attribute)
{
	LLVMAttributeRef found = LLVMGetStringAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
							       attribute, (unsigned)strlen(attribute));
	unsigned len_bytes;

	return found ? LLVMGetStringAttributeValue(found, &len_bytes) : NULL;
}

const char *code_origin(const struct code *c, uint32_t function, uint32_t *ret_unit)
{
	LLVMValueRef value = c->functions[function].value;
	const char *unit = noted(value, unit_attribute);

	*ret_unit = unit ? (uint32_t)strtoul(unit, NULL, 10) : CODE_NONE;
	return noted(value, name_attribute);
}

uint32_t code_lines(const struct code *c, uint32_t instruction, struct code_line *ret, uint32_t max)
{
	return code_lines_of(c->instructions[instruction].value, ret, max);
}

uint32_t code_lines_of(LLVMValueRef instruction, struct code_line *ret, uint32_t max)
{
	LLVMMetadataRef location = LLVMInstructionGetDebugLoc(instruction);
	uint32_t count = 0;

	for (; location && count < max; location = LLVMDILocationGetInlinedAt(location)) {
		LLVMMetadataRef file = LLVMDIScopeGetFile(LLVMDILocationGetScope(location));
		struct code_line *line = &ret[count++];
		unsigned len_bytes;

		*line = (struct code_line){.line = LLVMDILocationGetLine(location),
					   .column = LLVMDILocationGetColumn(location)};
		if (!file)
			continue;
		line->folder = LLVMDIFileGetDirectory(file, &len_bytes);
		line->file = LLVMDIFileGetFilename(file, &len_bytes);
	}
	return count;
}

static bool is_slash(char c)
{
	return c == '/';
}

bool code_file_ends_with(const struct code_line *line, const char *name)
{
	size_t whole_len, len = strlen(name);

	if (!line->file)
		return false;
	whole_len = strlen(line->file);
	if (len > whole_len || strcmp(line->file + whole_len - len, name) != 0)
		return false;
	return len == whole_len || is_slash(line->file[whole_len - len - 1]) || is_slash(*name);
}

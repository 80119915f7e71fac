/* oracle_code.c - test only: code for the oracles (oracle_code.h). */
#include "oracle_code.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyze/uncount.h"
#include "object/find.h"
#include "object/object.h"

static void open_bitcode(const char *path, struct code *ret)
{
	struct bitcode_vec units = {0};
	struct bitcode_unit unit = {0};
	int file = open(path, O_RDONLY | O_CLOEXEC);
	struct stat s;

	if (file < 0 || fstat(file, &s))
		oracle_fail(error_create(ERROR_NOT_FOUND, "%s cannot be read", path));
	unit.len_bytes = (size_t)s.st_size;
	unit.bytes = malloc(unit.len_bytes + 1);
	if (!unit.bytes || read(file, unit.bytes, unit.len_bytes) != s.st_size)
		oracle_fail(error_create(ERROR_NOT_FOUND, "%s cannot be read", path));
	close(file);
	oracle_fail(bitcode_vec_append(&units, unit));
	oracle_fail(code_open(&units, ret));
	bitcode_deinit(&units);
}

/* Counting of paths is no part of it. */
static void open_program(const char *path, struct code *ret)
{
	struct bitcode_vec units = {0};
	struct object_search search;
	struct object_wanted wanted = {.path = path};
	struct object o;

	object_search_init(&search);
	oracle_fail(object_read(path, 0, &o));
	wanted.build_id = o.build_id;
	object_deinit(&o);
	oracle_fail(object_find_bitcode(&search, &wanted, &units));
	oracle_fail(code_open(&units, ret));
	uncount_paths(ret);
	bitcode_deinit(&units);
	object_search_deinit(&search);
}

void oracle_open(const char *path, struct code *ret)
{
	if (oracle_ends_in(path, ".bc"))
		open_bitcode(path, ret);
	else
		open_program(path, ret);
}

bool oracle_ends_in(const char *text, const char *end)
{
	size_t len = strlen(text), end_len = strlen(end);

	return len >= end_len && strcmp(text + len - end_len, end) == 0;
}

bool oracle_is_counted(const struct code *c, uint32_t i)
{
	LLVMValueRef value = c->instructions[i].value, callee;

	if (c->instructions[i].opcode != LLVMCall)
		return true;
	callee = code_callee(value);
	return !callee || strncmp(LLVMGetValueName(callee), "llvm.dbg.", 9) != 0;
}

void oracle_tell(const struct code *c, const char *before, uint32_t instruction)
{
	struct code_line line = {0};
	char *text = LLVMPrintValueToString(c->instructions[instruction].value);
	LLVMValueRef function = c->functions[code_function_of(c, instruction)].value;

	code_lines(c, instruction, &line, 1);
	printf("  %s %s:%" PRIu32 " in %s: %.160s\n", before, line.file ? line.file : "?", line.line,
	       LLVMGetValueName(function), text + strspn(text, " "));
	LLVMDisposeMessage(text);
}

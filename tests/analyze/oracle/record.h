/*
 * record.h - test only: programs that record their own dependences (shadow.h) without files of their own: their code is changed, compiled and run in
 * this process and its children. Each function ends the process with status 2 where it fails.
 */
#ifndef WM_TESTS_ANALYZE_RECORD_H
#define WM_TESTS_ANALYZE_RECORD_H

#include <llvm-c/Types.h>
#include <stddef.h>
#include <stdint.h>

typedef int record_main(int argc, char **argv);

/* The main function of a copy of the code, changed by shadow_pass.cpp. It stays until the process ends. */
record_main *record_compile(LLVMModuleRef code);

/*
 * A child runs it with one argument, a number, and records `limit` nodes at most. Returns what it recorded, *ret_len_bytes of it, mapped; however
 * the child ended.
 */
void *record_run(record_main *program, uint32_t argument, uint32_t limit, size_t *ret_len_bytes);

/* shadow_pass.cpp: changes a module. */
void shadow_change(LLVMModuleRef module);

/*
 * Every fourth function, chosen by its name, becomes one of a shared library, to which the program has given all that the function names: its
 * nodes have no instructions. Programs are told apart by prefixes of names: pN_main begins one.
 */
void shadow_choose_outside(LLVMModuleRef code);

/* Each function has attributes with the numbers of its first instruction and block from here on, in copies, too. */
void shadow_number(LLVMModuleRef code);

/* A copy of one program, of which the names begin with the prefix, without code outside. Its main function is main. */
LLVMModuleRef shadow_extract(LLVMModuleRef code, const char *prefix);

#endif

/* record.c - test only: compiles changed code, links it into this process by LLVM's JIT, and runs it in children (record.h). */
#include "record.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <llvm-c/Core.h>
#include <llvm-c/DebugInfo.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/Orc.h>
#include <llvm-c/TargetMachine.h>

#include "base/text.h"
#include "shadow.h"

enum {
	SECONDS_MAX = 20,
};

static void fail(const char *message)
{
	fprintf(stderr, "record: %s\n", message);
	exit(2);
}

static void fail_if(LLVMErrorRef err)
{
	if (err)
		fail(LLVMGetErrorMessage(err));
}

/* The quickest of compilers, fast instruction selection, knows no other code model. */
static LLVMTargetMachineRef make_target(const char *triple)
{
	LLVMTargetRef target;
	char *message = NULL;

	LLVMInitializeNativeTarget();
	LLVMInitializeNativeAsmPrinter();
	if (LLVMGetTargetFromTriple(triple, &target, &message))
		fail(message);
	return LLVMCreateTargetMachine(target, triple, "", "", LLVMCodeGenLevelNone, LLVMRelocPIC, LLVMCodeModelSmall);
}

static bool is_counting(LLVMValueRef global)
{
	return text_begins(LLVMGetValueName(global), "wm1.") && !LLVMGetFirstUse(global);
}

/* What counted paths (analyze/uncount.h). What is left loads the slot, and uses it for nothing: any memory will do. */
static void drop_counting(LLVMModuleRef module)
{
	static const char *const lists[] = {"llvm.global_ctors", "llvm.used", "llvm.compiler.used"};
	LLVMValueRef next;

	LLVMSetModuleInlineAsm2(module, "", 0);
	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
		if ((next = LLVMGetNamedGlobal(module, lists[i])))
			LLVMDeleteGlobal(next);
	for (int pass = 0; pass < 4; pass++) {
		for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = next) {
			next = LLVMGetNextFunction(f);
			if (is_counting(f))
				LLVMDeleteFunction(f);
		}
		for (LLVMValueRef g = LLVMGetFirstGlobal(module); g; g = next) {
			next = LLVMGetNextGlobal(g);
			if (is_counting(g))
				LLVMDeleteGlobal(g);
			else if (text_begins(LLVMGetValueName(g), "wm1."))
				LLVMSetThreadLocal(g, false);
		}
	}
}

/* The object file of a changed copy. */
static LLVMMemoryBufferRef compile_copy(LLVMModuleRef code)
{
	LLVMTargetMachineRef target = make_target(LLVMGetTarget(code));
	LLVMModuleRef copy = LLVMCloneModule(code);
	LLVMMemoryBufferRef object;
	LLVMValueRef set_at_end;
	char *message = NULL;

	LLVMStripModuleDebugInfo(copy);
	drop_counting(copy);
	shadow_change(copy);
	/* LLJIT has a function of that name. */
	if ((set_at_end = LLVMGetNamedFunction(copy, "atexit")))
		LLVMSetValueName2(set_at_end, "shadow_atexit", strlen("shadow_atexit"));
	if (LLVMTargetMachineEmitToMemoryBuffer(target, copy, LLVMObjectFile, &message, &object))
		fail(message);
	LLVMDisposeModule(copy);
	LLVMDisposeTargetMachine(target);
	return object;
}

static void define(LLVMOrcLLJITRef jit, const char *name, uintptr_t address)
{
	LLVMOrcCSymbolMapPair pair = {LLVMOrcLLJITMangleAndIntern(jit, name),
				      {(LLVMOrcJITTargetAddress)address, {LLVMJITSymbolGenericFlagsExported, 0}}};

	fail_if(LLVMOrcJITDylibDefine(LLVMOrcLLJITGetMainJITDylib(jit), LLVMOrcAbsoluteSymbols(&pair, 1)));
}

/* A child ends without what this process has to do at its end. */
static void define_exit(LLVMOrcLLJITRef jit)
{
	define(jit, "exit", (uintptr_t)shadow_exit);
	define(jit, "shadow_atexit", (uintptr_t)shadow_atexit);
}

record_main *record_compile(LLVMModuleRef code)
{
	LLVMMemoryBufferRef object = compile_copy(code);
	LLVMOrcDefinitionGeneratorRef process;
	LLVMOrcJITTargetAddress address;
	LLVMOrcJITDylibRef library;
	LLVMOrcLLJITRef jit;

	fail_if(LLVMOrcCreateLLJIT(&jit, NULL));
	library = LLVMOrcLLJITGetMainJITDylib(jit);
	fail_if(LLVMOrcCreateDynamicLibrarySearchGeneratorForProcess(&process, LLVMOrcLLJITGetGlobalPrefix(jit), NULL,
								     NULL));
	LLVMOrcJITDylibAddGenerator(library, process);
	define_exit(jit);
	fail_if(LLVMOrcLLJITAddObjectFile(jit, library, object));
	fail_if(LLVMOrcLLJITLookup(jit, &address, "main"));
	return (record_main *)(uintptr_t)address;
}

static void run_child(record_main *program, uint32_t argument, void *memory, size_t len_bytes)
{
	char name[] = "program", text[16], *arguments[] = {name, text, NULL};
	int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int i = 0; nothing >= 0 && i < 3; i++)
		dup2(nothing, i);
	setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
	alarm(SECONDS_MAX);
	snprintf(text, sizeof text, "%" PRIu32, argument);
	shadow_begin(memory, len_bytes);
	shadow_exit(program(2, arguments));
}

void *record_run(record_main *program, uint32_t argument, uint32_t limit, size_t *ret_len_bytes)
{
	size_t len_bytes = SHADOW_BYTES((size_t)limit);
	void *memory = mmap(NULL, len_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	pid_t child;

	if (memory == MAP_FAILED)
		fail("no memory for a recording");
	fflush(NULL);
	child = fork();
	if (child < 0)
		fail("fork failed");
	if (!child)
		run_child(program, argument, memory, len_bytes);
	waitpid(child, NULL, 0);
	*ret_len_bytes = len_bytes;
	return memory;
}

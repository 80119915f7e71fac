/* jumps.c - by names, and by LLVM's attribute returns_twice (jumps.h). */
#include "analyze/jumps.h"

#include <string.h>

#include "llvm/ir.h"

static bool is_jump(const char *name)
{
	static const char *const names[] = {"longjmp", "_longjmp", "siglongjmp", "__longjmp_chk"};

	for (size_t k = 0; k < sizeof names / sizeof *names; k++)
		if (strcmp(name, names[k]) == 0)
			return true;
	return false;
}

static struct error *add_outside(const struct memory *m, struct id_set *ret_jumps)
{
	struct error *err = NULL;

	for (uint32_t i = 0; i < m->code->instruction_count && !err; i++)
		if (m->calls_foreign[i])
			err = id_set_add(ret_jumps, i, NULL);
	return err;
}

struct error *jumps_find(const struct memory *m, struct id_set *ret_landings, struct id_set *ret_jumps)
{
	const struct code *c = m->code;
	struct error *err = NULL;

	for (uint32_t i = 0; i < c->instruction_count && !err; i++) {
		LLVMValueRef value = c->instructions[i].value, callee;

		if (!ir_is_call(value))
			continue;
		callee = code_callee(value);
		if (ir_returns_twice(value))
			err = id_set_add(ret_landings, i, NULL);
		if (!err && callee && is_jump(LLVMGetValueName(callee)))
			err = id_set_add(ret_jumps, i, NULL);
	}
	return err || !ret_landings->count ? err : add_outside(m, ret_jumps);
}

bool jumps_has_threads(const struct code *c)
{
	return LLVMGetNamedFunction(c->module, "pthread_create") || LLVMGetNamedFunction(c->module, "thrd_create");
}

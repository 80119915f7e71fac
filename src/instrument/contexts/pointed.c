/*
 * pointed.c - functions whose address is taken, by type: which ones a call through a pointer of that type can reach.
 *
 * Types are a guess. Where it is wrong, a call costs more; its context is right all the same.
 */
#include <stdlib.h>

#include "instrument/contexts/program.h"

static int by_type(const void *a, const void *b)
{
	const struct pointed *x = a, *y = b;
	if (x->type == y->type)
		return 0;
	return (uintptr_t)x->type < (uintptr_t)y->type ? -1 : 1;
}

struct pointed *pointed_find(const struct program *p, LLVMTypeRef type)
{
	const struct pointed key = {.type = type};
	return bsearch(&key, p->pointed, p->pointed_count, sizeof *p->pointed, by_type);
}

static struct pointed of_function(const struct program *p, LLVMValueRef f)
{
	struct pointed ret = {0};
	const uint32_t index = program_find(p, f);
	if (LLVMGetIntrinsicID(f) ||
	    !(index == NO_INDEX ? scan_is_address_taken(f) : p->functions.items[index].is_address_taken))
		return ret;
	ret.type = LLVMGlobalGetValueType(f);
	ret.count = 1;
	return ret;
}

struct error *pointed_collect(struct program *p)
{
	uint32_t count = 0;
	for (LLVMValueRef f = LLVMGetFirstFunction(p->module); f; f = LLVMGetNextFunction(f))
		count++;
	p->pointed = arena_calloc(&p->arena, count + 1, sizeof *p->pointed);
	if (!p->pointed)
		return &error_no_memory;
	count = 0;
	for (LLVMValueRef f = LLVMGetFirstFunction(p->module); f; f = LLVMGetNextFunction(f)) {
		p->pointed[count] = of_function(p, f);
		count += p->pointed[count].count;
	}
	qsort(p->pointed, count, sizeof *p->pointed, by_type);
	for (uint32_t i = 0; i < count; i++) {
		struct pointed *last = p->pointed_count ? &p->pointed[p->pointed_count - 1] : NULL;
		if (last && last->type == p->pointed[i].type) {
			last->count++;
		} else {
			p->pointed[p->pointed_count++] = p->pointed[i];
		}
	}
	return NULL;
}

void pointed_weigh(struct program *p)
{
	for (uint32_t i = 0; i < p->pointed_count; i++)
		p->pointed[i].pushes = 0;
	for (size_t i = 0; i < p->functions.count; i++) {
		const struct function *f = &p->functions.items[i];
		struct pointed *type = f->is_address_taken && f->is_observable
					       ? pointed_find(p, LLVMGlobalGetValueType(f->value))
					       : NULL;
		if (type)
			type->pushes += f->is_late ? f->starts : 1;
	}
}

/* What is put off costs a quarter of a push where nobody needs it, and two pushes where somebody does. */
bool pointed_hardly_pushes(const struct program *p, LLVMTypeRef type)
{
	const struct pointed *found = pointed_find(p, type);
	return !found || found->pushes * 5 <= found->count * 2;
}

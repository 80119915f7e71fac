/*
 * variables.h - the names that variables in memory have in the source: of allocas by the debug information, of globals their own.
 */
#ifndef WM_ANALYZE_VARIABLES_H
#define WM_ANALYZE_VARIABLES_H

#include "analyze/code.h"

VEC_DECLARE(variable_names, const char *);

struct variables {
	struct hashmap allocas;
	struct variable_names names; /* [allocas.count]; the context's */
};

/* c is numbered. The owner deinits. */
struct error *variables_find(const struct code *c, struct variables *ret);
void variables_deinit(struct variables *v);

/* Of an alloca or a global; NULL: it has none. */
const char *variables_name(const struct variables *v, LLVMValueRef value);

#endif

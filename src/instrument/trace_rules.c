/* trace_rules.c - which schemes a function is compiled with: those of the first rule that matches it (format/scheme.h). */
#include <llvm-c/DebugInfo.h>

#include "format/scheme.h"
#include "instrument/trace.h"

/* "_ZN3foo3barEi" is also called bar: what people write in rules. */
static const char *plain_name(struct trace_function *f)
{
	LLVMMetadataRef subprogram = LLVMGetSubprogram(f->function);
	unsigned len_bytes = 0;
	const char *name = subprogram ? f->m->paths.host->plain_name(subprogram, &len_bytes) : NULL;
	return name && len_bytes ? arena_strndup(f->scratch, name, len_bytes) : NULL;
}

struct error *trace_rules_apply(struct trace_function *f, const struct path_graph *g)
{
	const char *text = f->m->rules;
	f->plain_name = plain_name(f);
	struct scheme_rule rule;
	struct scheme_problem problem = {0};
	while (scheme_next_rule(&text, &rule, &problem)) {
		if (!scheme_rule_matches(&rule, g->meta.name, f->plain_name, g->meta.file))
			continue;
		f->scheme_count = rule.count;
		for (unsigned i = 0; i < rule.count; i++)
			f->schemes[i] = rule.schemes[i];
		return NULL;
	}
	if (problem.what)
		return error_create(ERROR_ARGUMENT, "--wm=trace: %s at \"%.20s\"", problem.what, problem.at);
	return NULL;
}

/* contexts.c - the phases over one module, in order (program.h draws them). */
#include <stdlib.h>
#include <string.h>

#include "llvm/ir.h"
#include "instrument/contexts/program.h"

static struct error *run_phases(struct program *p, struct buffer *section)
{
	bool changed = false;
	events_read(p);
	struct error *err = program_scan(p);
	if (!err)
		err = events_close(p, &changed);
	if (!err && changed)
		err = program_scan(p);
	if (!err)
		err = program_weigh(p);
	if (!err)
		err = targets_promote(p, &changed);
	if (!err && changed)
		err = program_scan(p);
	if (!err && changed)
		err = program_weigh(p);
	if (!err)
		err = program_number(p);
	if (!err)
		err = program_plan(p);
	if (!err)
		err = program_describe(p, section);
	if (!err)
		err = program_emit(p, section);
	return err;
}

char *instrument_module(LLVMModuleRef module, const struct host *host, const char *unit, bool is_shared)
{
	struct program p = {.module = module, .host = host, .unit = unit, .is_shared = is_shared};
	struct buffer section = {0};
	p.context = LLVMGetModuleContext(module);
	arena_init(&p.arena);
	callgraph_init(&p.graph, NULL);
	meta_init(&p.meta);
	struct error *err = run_phases(&p, &section);
	if (!err)
		err = ir_verify(p.module, p.unit, "the instrumented module");
	char *problem = err ? strdup(err->message) : NULL;
	error_destroy(err);
	buffer_deinit(&section);
	meta_deinit(&p.meta);
	callgraph_deinit(&p.graph);
	site_vec_deinit(&p.sites);
	function_vec_deinit(&p.functions);
	variant_vec_deinit(&p.variants);
	arena_deinit(&p.arena);
	return problem;
}

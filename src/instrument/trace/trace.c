/* trace.c - traces functions (waymark/trace.h): the phases over each function of a module, in order (trace.h draws them). */
#include <stdlib.h>
#include <string.h>

#include <llvm-c/BitWriter.h>
#include <llvm-c/DebugInfo.h>

#include "base/hash.h"
#include "format/bitcode.h"
#include "llvm/section.h"
#include "instrument/trace/trace.h"

static void find_kinds(struct trace_kinds *ret)
{
	*ret = (struct trace_kinds){
		.nocallback = ir_attribute_kind("nocallback"),
		.elementtype = ir_attribute_kind("elementtype"),
		.byval = ir_attribute_kind("byval"),
		.inalloca = ir_attribute_kind("inalloca"),
	};
}

/* Code of ours, of another pass. */
static bool is_own(LLVMValueRef function)
{
	size_t len_bytes;
	return !strncmp(LLVMGetValueName2(function, &len_bytes), "wm1.", strlen("wm1."));
}

static struct error *skip(struct trace_module *m, LLVMValueRef function, const char *reason)
{
	return path_skip(function, reason, &m->meta.arena, &m->skipped);
}

static struct error *find_starts(struct trace_function *f, const struct cfg *g)
{
	const struct path_numbering *n = &f->numbering;
	f->start_of = arena_calloc(f->scratch, g->node_count, sizeof *f->start_of);
	f->start_of_iteration = arena_calloc(f->scratch, g->edge_count, sizeof *f->start_of_iteration);
	if (!f->start_of || !f->start_of_iteration)
		return &error_no_memory;
	for (uint32_t i = 0; i < n->start_count; i++) {
		if (n->start_iterations[i] == NO_EDGE)
			f->start_of[n->starts[i]] = i + 1;
		else
			f->start_of_iteration[n->start_iterations[i]] = i;
	}
	return NULL;
}

static struct error *number(struct trace_function *f, struct path_graph *g)
{
	struct error *err = path_number(&g->cfg, f->scratch, &f->numbering);
	if (!err)
		err = placement_make(&g->cfg, &f->numbering, f->numbering.start_values, f->numbering.edge_values,
				     f->scratch, &f->placement);
	if (!err)
		err = find_starts(f, &g->cfg);
	g->meta.path_count = f->numbering.path_count;
	g->meta.kind = WM1_PATHS_ARRAY; /* nothing is counted */
	return err;
}

static bool any_traces_paths(const struct trace_function *f)
{
	for (uint32_t i = 0; i < f->scheme_count; i++)
		if (f->schemes[i] & WM1_SCHEME_PATHS)
			return true;
	return false;
}

/* Finds the reason why the function cannot have its schemes. */
static struct error *refuse(struct trace_function *f, const struct path_graph *g)
{
	const uint32_t max = 1u << WM1_POINT_NODE_BITS;
	if (g->cfg.node_count <= max && f->meta.call_count <= max)
		return NULL;
	for (uint32_t i = 1; i < f->scheme_count; i++)
		LLVMDeleteFunction(f->bodies[i]);
	f->scheme_count = 0;
	return skip(f->m, f->function, "more than 2^25 blocks or calls");
}

static void use_coverage(struct trace_module *m)
{
	if (m->coverage)
		return;
	LLVMTypeRef i8 = LLVMInt8TypeInContext(m->paths.context);
	m->coverage = LLVMAddGlobal(m->paths.module, i8, "wm1.coverage");
	LLVMSetLinkage(m->coverage, LLVMExternalLinkage);
	LLVMSetVisibility(m->coverage, LLVMHiddenVisibility);
	m->paths.host->bind_locally(m->coverage);
}

/* Bodies for the schemes after the first, before any of them has code of ours. */
static struct error *clone_bodies(struct trace_function *f, const struct path_graph *g)
{
	struct error *err = NULL;
	f->bodies[0] = f->function;
	if (f->scheme_count < 2)
		return NULL;
	const char *reason = trace_clone_reason(f);
	if (reason) {
		f->scheme_count = 1;
		return skip(f->m, f->function, reason);
	}
	for (uint32_t i = 1; i < f->scheme_count && !err; i++)
		err = trace_clone(f, g, f->schemes[i], &f->bodies[i]);
	return err;
}

static struct error *graph_of_copy(const struct path_graph *g, struct path_graph *copy)
{
	struct error *err = path_graph_make(copy);
	if (!err && (copy->cfg.node_count != g->cfg.node_count || copy->meta.cfg_key != g->meta.cfg_key))
		err = error_create(ERROR_MISMATCH, "a copy of the function has another control flow");
	return err;
}

static struct error *emit_body(struct trace_function *f, struct path_graph *g, uint32_t scheme)
{
	struct trace_body body = {.f = f, .g = g, .variant = &f->meta.variants[scheme]};
	if (f->schemes[scheme] & WM1_SCHEME_COVERAGE)
		use_coverage(f->m);
	struct error *err = trace_calls_find(f->m, g, f->meta.call_count, &body.calls);
	return err ? err : trace_emit(&body);
}

static struct error *emit_bodies(struct trace_function *f, struct path_graph *g)
{
	struct error *err = NULL;
	/* The function itself last: graphs of its copies are compared with its own. */
	for (uint32_t i = f->scheme_count; i-- > 0 && !err;) {
		struct path_graph copy = {.m = g->m, .scratch = g->scratch, .function = f->bodies[i]};
		copy.meta = (struct pathmeta_function){.name = g->meta.name};
		if (i)
			err = graph_of_copy(g, &copy);
		if (!err)
			err = emit_body(f, i ? &copy : g, i);
	}
	return !err && f->scheme_count > 1 ? trace_tune(f, g) : err;
}

static struct error *note_clones(struct trace_function *f)
{
	struct error *err = NULL;
	for (uint32_t i = 1; i < f->scheme_count && !err; i++)
		err = ir_value_vec_append(&f->m->clones[f->schemes[i]], f->bodies[i]);
	return err;
}

static struct error *make_graph(struct trace_function *f, struct path_graph *g)
{
	struct error *err = path_identify(g);
	if (!err)
		err = trace_rules_apply(f, g);
	if (!err)
		err = clone_bodies(f, g);
	if (!err && (f->scheme_count > 1 || f->schemes[0] != WM1_SCHEME_NONE))
		g->m->host->land_apart(f->function);
	if (!err)
		err = path_graph_describe(g);
	if (!err)
		err = number(f, g);
	return err;
}

static struct error *trace_function(struct trace_function *f, struct path_graph *g)
{
	struct error *err = make_graph(f, g);
	if (!err)
		err = trace_calls_describe(f, g);
	if (!err)
		err = refuse(f, g);
	if (err)
		return err;
	f->meta.name_key = g->meta.name_key;
	f->meta.cfg_key = g->meta.cfg_key;
	f->meta.node_count = g->cfg.node_count;
	trace_callers_describe(f);
	if (any_traces_paths(f))
		err = path_states_make(&g->cfg, &f->numbering, &f->placement, &f->m->meta.arena, &f->meta.states);
	if (!err)
		err = trace_layout(f, &g->cfg);
	if (!err)
		err = emit_bodies(f, g);
	if (!err)
		err = note_clones(f);
	if (!err)
		err = path_function_vec_append(&f->m->paths.functions, g->meta);
	return err ? err : trace_function_vec_append(&f->m->functions, f->meta);
}

static struct error *trace_one(struct trace_module *m, LLVMValueRef function)
{
	struct arena scratch;
	arena_init(&scratch);
	struct trace_function f = {
		.m = m, .scratch = &scratch, .function = function, .index = (uint32_t)m->functions.count};
	struct path_graph g = {.m = &m->paths, .scratch = &scratch, .function = function};
	struct error *err = trace_function(&f, &g);
	arena_deinit(&scratch);
	if (err)
		return error_context(err, "%s: %s", m->paths.unit, g.meta.name ? g.meta.name : "a function");
	m->paths.host->changed(m->paths.host->state, function);
	return NULL;
}

/* Puts bodies that are not chosen apart from the code that runs, and bodies of different schemes apart: memory then holds pages of running code. */
static void group_clones(struct trace_module *m)
{
	for (unsigned scheme = 0; scheme < sizeof m->clones / sizeof *m->clones; scheme++)
		for (size_t i = 0; i < m->clones[scheme].count; i++)
			m->paths.host->move_to_end(m->clones[scheme].items[i]);
}

static struct error *collect_functions(struct trace_module *m, struct ir_value_vec *ret)
{
	struct error *err = NULL;
	for (LLVMValueRef f = LLVMGetFirstFunction(m->paths.module); f && !err; f = LLVMGetNextFunction(f))
		if (!LLVMIsDeclaration(f) && LLVMGetLinkage(f) != LLVMAvailableExternallyLinkage && !is_own(f))
			err = ir_value_vec_append(ret, f);
	return err;
}

static struct error *trace_functions(struct trace_module *m)
{
	struct ir_value_vec functions = {0};
	struct error *err = collect_functions(m, &functions);
	if (!err)
		err = trace_callers_survey(m);
	for (size_t i = 0; i < functions.count && !err; i++)
		if (path_reason(&m->paths, functions.items[i]))
			err = path_hidden_uncounted(&m->paths, functions.items[i]);
	for (size_t i = 0; i < functions.count && !err; i++) {
		const char *reason = path_reason(&m->paths, functions.items[i]);
		err = reason ? skip(m, functions.items[i], reason) : trace_one(m, functions.items[i]);
	}
	ir_value_vec_deinit(&functions);
	group_clones(m);
	return err;
}

/* Now that their number is known. */
static void make_coverage(struct trace_module *m)
{
	if (!m->coverage)
		return;
	const uint32_t count = m->coverage_bytes ? m->coverage_bytes : 1;
	LLVMTypeRef type = LLVMArrayType2(LLVMInt8TypeInContext(m->paths.context), count);
	LLVMValueRef bytes = LLVMAddGlobal(m->paths.module, type, m->coverage_name);
	LLVMSetInitializer(bytes, LLVMConstNull(type));
	LLVMSetSection(bytes, "wm1_coverage");
	LLVMSetAlignment(bytes, 1);
	/* Assembly names it, so it keeps its name when modules are linked. */
	LLVMSetLinkage(bytes, LLVMLinkOnceODRLinkage);
	LLVMSetVisibility(bytes, LLVMHiddenVisibility);
	LLVMReplaceAllUsesWith(m->coverage, bytes);
	LLVMDeleteGlobal(m->coverage);
	m->paths.host->keep(bytes);
}

/*
 * The first of the unit's points (waymark/trace.h). Where modules are linked before they become code, those that begin a unit
 * come before all points; so each assembly of a function begins its unit again, whose key is known at the end: by this symbol.
 */
static void begin_points(struct trace_module *m, uint64_t key)
{
	struct buffer text = {0};
	buffer_printf(&text, "\n.set %s, 0x%016llx\n", m->key_name, (unsigned long long)key);
	buffer_printf(&text,
		      ".pushsection .debug_waymark_points,\"\",@progbits\n.quad -1\n.quad %s\n.quad %s\n.popsection\n",
		      m->key_name, m->coverage ? m->coverage_name : "0");
	if (!text.failed)
		LLVMAppendModuleInlineAsm(m->paths.module, (const char *)text.bytes, text.len_bytes);
	buffer_deinit(&text);
}

static struct error *describe(struct trace_module *m)
{
	struct buffer section = {0};
	struct tracemeta_unit unit = {.name = m->paths.unit,
				      .is_final = m->path_options.is_final,
				      .coverage_bytes = m->coverage ? m->coverage_bytes : 0,
				      .function_count = (uint32_t)m->functions.count};
	uint64_t key = 0;
	unit.producer = arena_printf(&m->meta.arena, "waymark %s %s", WAYMARK_VERSION, m->paths.host->producer);
	if (!unit.producer)
		return &error_no_memory;
	m->meta.units = &unit;
	m->meta.unit_count = 1;
	m->meta.functions = m->functions.items;
	m->meta.function_count = (uint32_t)m->functions.count;
	m->meta.skipped = m->skipped.items;
	m->meta.skipped_count = (uint32_t)m->skipped.count;
	struct error *err = tracemeta_write(&m->meta, &key, &section);
	if (!err)
		err = section_add(m->paths.module, ".debug_waymark_trace", &section);
	if (!err)
		err = path_describe(&m->paths, ".debug_waymark_flow");
	if (!err)
		begin_points(m, key);
	m->meta.units = NULL;
	m->meta.functions = NULL;
	m->meta.skipped = NULL;
	buffer_deinit(&section);
	return err;
}

/* The module as it is before it gets code of ours: tracing and the analysis of a crash see one program. */
static struct error *keep_bitcode(struct trace_module *m, struct buffer *ret)
{
	LLVMMemoryBufferRef bitcode = LLVMWriteBitcodeToMemoryBuffer(m->paths.module);
	const char *bytes = LLVMGetBufferStart(bitcode);
	const size_t len_bytes = LLVMGetBufferSize(bitcode);
	unsigned long long hash = hash_bytes(HASH_START, bytes, len_bytes);
	m->key_name = arena_printf(&m->meta.arena, "wm1.unit.%016llx", hash);
	m->coverage_name = arena_printf(&m->meta.arena, "wm1.coverage.%016llx", hash);
	struct error *err = bitcode_write(bytes, len_bytes, ret);
	LLVMDisposeMemoryBuffer(bitcode);
	return !err && (!m->key_name || !m->coverage_name) ? &error_no_memory : err;
}

static struct error *run_phases(struct trace_module *m)
{
	struct buffer bitcode = {0};
	struct error *err = keep_bitcode(m, &bitcode);
	if (m->options->names_units)
		use_coverage(m); /* before it is known whether there is any */
	if (!err && m->options->is_final)
		err = path_hidden_find(&m->paths);
	if (!err)
		err = trace_functions(m);
	if (!err && (m->functions.count || m->skipped.count)) {
		make_coverage(m);
		trace_add_constructor(m);
		err = describe(m) ?:
		      section_add(m->paths.module, ".debug_waymark_ir", &bitcode) ?:
		      ir_verify(m->paths.module, m->paths.unit, "the traced module");
	}
	buffer_deinit(&bitcode);
	return err;
}

char *instrument_trace(LLVMModuleRef module, const struct host *host, const char *unit,
		       const struct trace_options *options)
{
	struct trace_module m = {
		.options = options,
		.path_options = {.is_final = options->is_final, .keeps_long_paths = true, .folds_iterations = true}};
	m.paths = (struct path_module){.module = module, .host = host, .unit = unit, .options = &m.path_options};
	m.paths.context = LLVMGetModuleContext(module);
	path_find_kinds(&m.paths.kinds);
	find_kinds(&m.kinds);
	pathmeta_init(&m.paths.meta);
	tracemeta_init(&m.meta);
	struct error *err = trace_rules_read(&m);
	if (!err)
		err = run_phases(&m);
	char *problem = err ? strdup(err->message) : NULL;
	error_destroy(err);
	buffer_deinit(&m.paths.split);
	path_function_vec_deinit(&m.paths.functions);
	trace_function_vec_deinit(&m.functions);
	skipped_vec_deinit(&m.skipped);
	for (unsigned scheme = 0; scheme < sizeof m.clones / sizeof *m.clones; scheme++)
		ir_value_vec_deinit(&m.clones[scheme]);
	ir_value_vec_deinit(&m.called_unseen);
	ir_value_vec_deinit(&m.called_uncovered);
	path_hidden_deinit(m.paths.hidden);
	pathmeta_deinit(&m.paths.meta);
	tracemeta_deinit(&m.meta);
	return problem;
}

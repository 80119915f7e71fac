/* paths.c - counts paths: the phases over each function of a module, in order (path.h draws them). */
#include <stdlib.h>
#include <string.h>

#include "instrument/paths/path.h"
#include "llvm/section.h"

/* On functions that are counted: a module that comes here again is not counted twice. */
static const char counted_attribute[] = "waymark-paths";

void path_find_kinds(struct path_kinds *ret)
{
	*ret = (struct path_kinds){
		.returns_twice = ir_attribute_kind("returns_twice"),
		.noreturn = ir_attribute_kind("noreturn"),
		.naked = ir_attribute_kind("naked"),
		.coroutine = ir_attribute_kind("presplitcoroutine"),
		.no_profile = ir_attribute_kind("noprofile"),
		.skip_profile = ir_attribute_kind("skipprofile"),
		.optnone = ir_attribute_kind("optnone"),
		.memory = ir_attribute_kind("memory"),
		.nounwind = ir_attribute_kind("nounwind"),
		.willreturn = ir_attribute_kind("willreturn"),
		.lifetime_start = ir_intrinsic_kind("llvm.lifetime.start"),
		.setjmp = ir_intrinsic_kind("llvm.eh.sjlj.setjmp"),
		.lifetime_end = ir_intrinsic_kind("llvm.lifetime.end"),
		.expect = ir_intrinsic_kind("llvm.expect"),
		.assume = ir_intrinsic_kind("llvm.assume"),
	};
	static const char *const chooses[] = {"llvm.smin",          "llvm.smax",         "llvm.umin",
					      "llvm.umax",          "llvm.abs",          "llvm.uadd.sat",
					      "llvm.usub.sat",      "llvm.ucmp",         "llvm.scmp",
					      "llvm.masked.load",   "llvm.masked.store", "llvm.masked.gather",
					      "llvm.masked.scatter"};
	_Static_assert(sizeof chooses / sizeof *chooses < sizeof ret->chooses / sizeof *ret->chooses, "room for all");
	for (size_t i = 0, known = 0; i < sizeof chooses / sizeof *chooses; i++) {
		ret->chooses[known] = ir_intrinsic_kind(chooses[i]);
		known += ret->chooses[known] != 0;
	}
}

static bool is_marked(LLVMValueRef function)
{
	return LLVMGetStringAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
					     counted_attribute, (unsigned)strlen(counted_attribute)) != NULL;
}

void path_mark_counted(const struct path_module *m, LLVMValueRef function)
{
	const unsigned len_bytes = (unsigned)strlen(counted_attribute);
	LLVMAddAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
				LLVMCreateStringAttribute(m->context, counted_attribute, len_bytes, "", 0));
}

/* A body for the inliner alone counts too: which calls it is inlined into depends on -O, paths must not. */
static bool is_counted_here(const struct path_module *m, LLVMValueRef function)
{
	if (LLVMIsDeclaration(function) || is_marked(function))
		return false;
	return LLVMGetLinkage(function) != LLVMAvailableExternallyLinkage || !m->options->is_final;
}

/* Code that runs before thread-local storage exists: resolvers of ifuncs, and what they call here. */
struct early_code {
	LLVMValueRef *items; /* sorted */
	size_t count;
};

static LLVMValueRef without_aliases(LLVMValueRef value)
{
	while (value && LLVMIsAGlobalAlias(value))
		value = LLVMAliasGetAliasee(value);
	return value && LLVMIsAFunction(value) && !LLVMIsDeclaration(value) ? value : NULL;
}

static struct error *append_new(struct ir_value_vec *list, LLVMValueRef function)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i] == function)
			return NULL;
	return function ? ir_value_vec_append(list, function) : NULL;
}

static struct error *find_early_code(LLVMModuleRef module, struct ir_value_vec *list)
{
	struct error *err = NULL;
	for (LLVMValueRef i = LLVMGetFirstGlobalIFunc(module); i && !err; i = LLVMGetNextGlobalIFunc(i))
		err = append_new(list, without_aliases(LLVMGetGlobalIFuncResolver(i)));
	for (size_t done = 0; done < list->count && !err; done++)
		for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(list->items[done]); b; b = LLVMGetNextBasicBlock(b))
			for (LLVMValueRef i = LLVMGetFirstInstruction(b); i && !err; i = LLVMGetNextInstruction(i))
				if (LLVMIsACallInst(i) || LLVMIsAInvokeInst(i))
					err = append_new(list, without_aliases(LLVMGetCalledValue(i)));
	if (!err && list->count)
		qsort(list->items, list->count, sizeof *list->items, ir_compare_values);
	return err;
}

struct error *path_skip(LLVMValueRef function, const char *reason, struct arena *arena, struct skipped_vec *ret)
{
	size_t len_bytes;
	const char *name = LLVMGetValueName2(function, &len_bytes);
	struct skipped_function skipped = {.name = arena_strndup(arena, name, len_bytes), .reason = reason};
	return skipped.name ? skipped_vec_append(ret, skipped) : &error_no_memory;
}

struct error *path_graph_describe(struct path_graph *g)
{
	return path_graph_make(g) ?: path_lines_add(g) ?: path_tests_add(g) ?: path_hidden_describe(g);
}

static struct error *count_paths(struct path_graph *g)
{
	struct path_numbering numbering;
	struct path_choice choice;
	struct placement placement;
	struct error *err = path_identify(g);
	if (!err)
		err = path_graph_describe(g);
	if (!err)
		err = path_number(&g->cfg, g->scratch, &numbering);
	if (err)
		return err;
	g->meta.path_count = numbering.path_count;
	err = path_choose(g, &numbering, &choice);
	if (err)
		return err;
	g->meta.kind = (uint8_t)choice.kind;
	g->meta.bits = (uint8_t)choice.bits;
	g->meta.flags = choice.flags | (g->cfg.may_be_left ? WM1_PATHS_LEFT : 0);
	for (uint32_t e = 0; e < g->cfg.edge_count && choice.frequencies; e++)
		g->cfg.edges[e].frequency = choice.frequencies[e];
	err = placement_make(&g->cfg, &numbering, choice.start_values, choice.edge_values, g->scratch, &placement);
	path_alias_tag_program(g->m, g->function);
	if (!err)
		err = path_emit(g, &numbering, &choice, &placement);
	return err ? err : path_function_vec_append(&g->m->functions, g->meta);
}

static struct error *count_function(struct path_module *m, LLVMValueRef function)
{
	struct arena scratch;
	arena_init(&scratch);
	struct path_graph g = {.m = m, .scratch = &scratch, .function = function};
	struct error *err = count_paths(&g);
	arena_deinit(&scratch);
	if (err)
		return error_context(err, "%s: %s", m->unit, g.meta.name ? g.meta.name : "a function");
	path_mark_counted(m, function);
	m->host->changed(m->host->state, function);
	return NULL;
}

static const char *reason_of(const struct path_module *m, const struct ir_value_vec *early, LLVMValueRef function)
{
	if (early->count && bsearch(&function, early->items, early->count, sizeof function, ir_compare_values))
		return "resolver of an ifunc, or called by one: runs before thread-local storage exists";
	return path_reason(m, function);
}

static struct error *count_functions(struct path_module *m)
{
	struct ir_value_vec early = {0};
	struct error *err = find_early_code(m->module, &early);
	for (LLVMValueRef f = LLVMGetFirstFunction(m->module); f && !err; f = LLVMGetNextFunction(f))
		if (is_counted_here(m, f) && reason_of(m, &early, f))
			err = path_hidden_uncounted(m, f);
	for (LLVMValueRef f = LLVMGetFirstFunction(m->module); f && !err; f = LLVMGetNextFunction(f)) {
		if (!is_counted_here(m, f))
			continue;
		const char *reason = reason_of(m, &early, f);
		err = reason ? path_skip(f, reason, &m->meta.arena, &m->skipped) : count_function(m, f);
	}
	ir_value_vec_deinit(&early);
	return err;
}

struct error *path_describe(struct path_module *m, const char *section_name)
{
	struct buffer section = {0};
	struct pathmeta_unit unit = {.name = m->unit, .stage = m->options->is_final ? PATHMETA_FINAL : PATHMETA_SOURCE};
	unit.producer = arena_printf(&m->meta.arena, "waymark %s %s", WAYMARK_VERSION, m->host->producer);
	if (!unit.producer)
		return &error_no_memory;
	m->meta.units = &unit;
	m->meta.unit_count = 1;
	m->meta.functions = m->functions.items;
	m->meta.function_count = (uint32_t)m->functions.count;
	m->meta.skipped = m->skipped.items;
	m->meta.skipped_count = (uint32_t)m->skipped.count;
	struct error *err = pathmeta_write(&m->meta, &section);
	if (!err)
		err = section_add(m->module, section_name, &section);
	m->meta.units = NULL;
	m->meta.functions = NULL;
	m->meta.skipped = NULL;
	buffer_deinit(&section);
	return err;
}

static struct error *warn_of(struct path_module *m, struct buffer *names, const char *what)
{
	if (!names->len_bytes)
		return NULL;
	struct buffer line = {0};
	buffer_printf(&line, "%s: %s: %.*s", m->unit, what, (int)names->len_bytes, (const char *)names->bytes);
	buffer_u8(&line, 0);
	struct error *err = buffer_error(names);
	if (!err)
		err = buffer_error(&line);
	if (!err)
		m->host->diagnose(m->module, (const char *)line.bytes);
	buffer_deinit(&line);
	return err;
}

static struct error *warn_of_all(struct path_module *m)
{
	struct error *err = warn_of(m, &m->changed, "changed since the plan's profile, so all paths are counted alike");
	if (!err)
		err = warn_of(m, &m->dropped, "not all paths of the plan have a place of their own");
	if (!err)
		err = warn_of(m, &m->split, "more than 2^44 paths, so some are cut in two");
	return err;
}

static struct error *run_phases(struct path_module *m)
{
	struct error *err = NULL;
	if (m->options->plan_path)
		err = path_plan_load(m->options->plan_path, &m->plan);
	if (!err && m->options->is_final)
		err = path_hidden_find(m);
	if (!err)
		err = count_functions(m);
	if (!err)
		path_bundle_finish(m);
	if (!err && (m->functions.count || m->skipped.count))
		err = path_describe(m, ".debug_waymark_paths");
	if (!err)
		err = warn_of_all(m);
	return err ? err : ir_verify(m->module, m->unit, "the module with path counters");
}

char *instrument_paths(LLVMModuleRef module, const struct host *host, const char *unit,
		       const struct path_options *options)
{
	struct path_module m = {.module = module, .host = host, .unit = unit, .options = options};
	m.context = LLVMGetModuleContext(module);
	path_find_kinds(&m.kinds);
	path_alias_init(&m);
	pathmeta_init(&m.meta);
	struct error *err = run_phases(&m);
	char *problem = err ? strdup(err->message) : NULL;
	error_destroy(err);
	plan_destroy(m.plan);
	buffer_deinit(&m.changed);
	buffer_deinit(&m.dropped);
	buffer_deinit(&m.split);
	path_hidden_deinit(m.hidden);
	ir_value_vec_deinit(&m.bundle.descriptors);
	path_function_vec_deinit(&m.functions);
	skipped_vec_deinit(&m.skipped);
	pathmeta_deinit(&m.meta);
	return problem;
}

/*
 * emit_metadata.c - fourth phase: numbers the sites and writes down what the decoder has to know (format/meta.h).
 *
 * Names and positions are those LLVM puts into DWARF, taken from the same debug locations, by site number instead of by
 * PC: so a decoded frame does not depend on where the code generator put the call.
 */
#include <stdlib.h>
#include <string.h>

#include <llvm-c/DebugInfo.h>

#include "llvm/ir.h"
#include "instrument/contexts/program.h"

/* Debug location -> location index + 1; open addressing, grown by doubling. */
struct location_map {
	LLVMMetadataRef *keys;
	uint32_t *values;
	size_t capacity; /* a power of two */
	size_t count;
};

VEC_DECLARE(location_vec, struct meta_location);

struct describer {
	struct program *p;
	struct location_map map;
	struct location_vec locations;
};

static size_t map_slot(const struct location_map *map, LLVMMetadataRef key)
{
	size_t slot = ((uintptr_t)key >> 4) * (size_t)0x9e3779b97f4a7c15u;
	for (slot = slot >> 20 & (map->capacity - 1); map->keys[slot] && map->keys[slot] != key;)
		slot = (slot + 1) & (map->capacity - 1);
	return slot;
}

static struct error *map_grow(struct location_map *map)
{
	struct location_map bigger = {.capacity = map->capacity ? map->capacity * 2 : 1024, .count = map->count};
	bigger.keys = calloc(bigger.capacity, sizeof *bigger.keys);
	bigger.values = calloc(bigger.capacity, sizeof *bigger.values);
	if (!bigger.keys || !bigger.values) {
		free(bigger.keys);
		free(bigger.values);
		return &error_no_memory;
	}
	for (size_t i = 0; i < map->capacity; i++) {
		if (!map->keys[i])
			continue;
		size_t slot = map_slot(&bigger, map->keys[i]);
		bigger.keys[slot] = map->keys[i];
		bigger.values[slot] = map->values[i];
	}
	free(map->keys);
	free(map->values);
	*map = bigger;
	return NULL;
}

static const char *copy_text(struct program *p, const char *text, unsigned len_bytes)
{
	return text && len_bytes ? arena_strndup(&p->arena, text, len_bytes) : NULL;
}

static const char *scope_file(struct program *p, LLVMMetadataRef scope)
{
	LLVMMetadataRef file = scope ? LLVMDIScopeGetFile(scope) : NULL;
	if (!file)
		return NULL;
	unsigned len_bytes = 0;
	const char *name = LLVMDIFileGetFilename(file, &len_bytes);
	return copy_text(p, name, len_bytes);
}

static struct error *append_location(struct describer *d, struct meta_location l, uint32_t *ret)
{
	struct error *err = location_vec_append(&d->locations, l);
	if (!err)
		*ret = (uint32_t)d->locations.count;
	return err;
}

static struct meta_location read_location(struct describer *d, LLVMMetadataRef location, uint32_t inlined_at)
{
	unsigned len_bytes = 0;
	const char *function = d->p->host->location_function(location, &len_bytes);
	return (struct meta_location){
		.function = copy_text(d->p, function, len_bytes),
		.file = scope_file(d->p, LLVMDILocationGetScope(location)),
		.line = LLVMDILocationGetLine(location),
		.column = LLVMDILocationGetColumn(location),
		.inlined_at = inlined_at,
	};
}

/* Adds one location whose enclosing inlined call is already there. */
static struct error *add_location(struct describer *d, LLVMMetadataRef location, uint32_t inlined_at, uint32_t *ret)
{
	if (d->map.count * 2 >= d->map.capacity) {
		struct error *err = map_grow(&d->map);
		if (err)
			return err;
	}
	size_t slot = map_slot(&d->map, location);
	if (!d->map.keys[slot]) {
		struct error *err = append_location(d, read_location(d, location, inlined_at), &d->map.values[slot]);
		if (err)
			return err;
		d->map.keys[slot] = location;
		d->map.count++;
	}
	*ret = d->map.values[slot];
	return NULL;
}

/* Adds a location and those it is inlined at, outermost first. */
static struct error *describe_location(struct describer *d, LLVMValueRef call, uint32_t *ret)
{
	LLVMMetadataRef chain[512];
	size_t depth = 0;
	*ret = 0;
	for (LLVMMetadataRef l = LLVMInstructionGetDebugLoc(call); l; l = LLVMDILocationGetInlinedAt(l)) {
		if (depth == sizeof chain / sizeof *chain)
			return error_create(ERROR_OVERFLOW, "%s: a call is inlined more than %zu deep", d->p->unit,
					    depth);
		chain[depth++] = l;
	}
	/*
	 * In a function without debug information only what was inlined has locations: they lead no further than to the outermost
	 * inlined call, and are the same ones wherever that was inlined so.
	 */
	const bool is_bare = depth && !LLVMGetSubprogram(LLVMGetBasicBlockParent(LLVMGetInstructionParent(call)));
	if (is_bare) {
		struct error *err = append_location(d, (struct meta_location){0}, ret);
		if (err)
			return err;
	}
	while (depth) {
		LLVMMetadataRef l = chain[--depth];
		struct error *err =
			is_bare ? append_location(d, read_location(d, l, *ret), ret) : add_location(d, l, *ret, ret);
		if (err)
			return err;
	}
	return NULL;
}

static void describe_function(struct program *p, const struct function *f, struct meta_function *ret)
{
	const struct callgraph_node *node = &p->graph.nodes[f->node];
	LLVMMetadataRef subprogram = LLVMGetSubprogram(f->value);
	*ret = (struct meta_function){
		.link_name = f->name,
		.name = f->name,
		.contexts = node->contexts,
		.restart = node->has_dummy ? node->restart : 0,
		.flags = (f->is_root ? META_FUNCTION_ROOT : 0) | (f->is_exported ? META_FUNCTION_EXPORTED : 0) |
			 (node->has_dummy ? META_FUNCTION_HAS_DUMMY : 0) | (f->is_placed ? META_FUNCTION_PLACED : 0),
		.frame_bytes = f->frame_bytes,
	};
	if (!subprogram)
		return;
	unsigned len_bytes = 0;
	const char *name = p->host->subprogram_name(subprogram, &len_bytes);
	name = copy_text(p, name, len_bytes);
	if (name)
		ret->name = name;
	ret->file = scope_file(p, subprogram);
	ret->line = LLVMDISubprogramGetLine(subprogram);
}

/* A quiet callee (nothing below can look at the context) has no node: its calls are no sites. */
static bool is_described(const struct program *p, const struct site *site)
{
	return p->functions.items[site->caller].node != NO_INDEX &&
	       (site->kind != META_SITE_CALL || site->edge != NO_INDEX);
}

static struct error *describe_sites(struct describer *d)
{
	struct program *p = d->p;
	p->meta.sites = arena_calloc(&p->meta.arena, p->sites.count + p->functions.count + 1, sizeof *p->meta.sites);
	if (!p->meta.sites)
		return &error_no_memory;
	uint32_t number = 0;
	for (size_t i = 0; i < p->sites.count; i++) {
		struct site *site = &p->sites.items[i];
		if (!is_described(p, site))
			continue;
		uint32_t location;
		struct error *err = describe_location(d, site->call, &location);
		if (err)
			return err;
		site->number = ++number;
		p->meta.sites[number] = (struct meta_site){
			.kind = site->kind,
			.flags = (site->is_tail && !site->undo ? META_SITE_TAIL : 0) |
				 (site->is_jump ? META_SITE_JUMP : 0) |
				 (site->has_next && !site->is_next ? META_SITE_SPILLS : 0),
			.caller = p->functions.items[site->caller].node,
			.callee = site->callee == NO_INDEX ? 0 : p->functions.items[site->callee].node,
			.foreign = site->foreign,
			.addend = site->addend >> p->is_hybrid,
			.code = site->code,
			.bits = site->code_bits,
			.location = location,
		};
	}
	for (size_t i = 0; i < p->functions.count; i++) {
		struct function *f = &p->functions.items[i];
		if (!f->is_replaceable)
			continue;
		f->bound_site = ++number;
		p->meta.sites[number] = (struct meta_site){.kind = META_SITE_BOUND, .caller = f->node};
	}
	p->meta.site_count = number + 1;
	return NULL;
}

static struct error *describe_functions(struct program *p)
{
	p->meta.functions = arena_calloc(&p->meta.arena, p->graph.node_count + 1, sizeof *p->meta.functions);
	if (!p->meta.functions)
		return &error_no_memory;
	p->meta.function_count = p->graph.node_count;
	for (size_t i = 0; i < p->functions.count; i++)
		if (p->functions.items[i].node != NO_INDEX)
			describe_function(p, &p->functions.items[i], &p->meta.functions[p->functions.items[i].node]);
	return NULL;
}

/* Global names of functions beside their own; what may be preempted is one too. */
static struct error *describe_aliases(struct program *p)
{
	uint32_t count = 0;
	for (LLVMValueRef a = LLVMGetFirstGlobalAlias(p->module); a; a = LLVMGetNextGlobalAlias(a))
		count++;
	p->meta.aliases = arena_calloc(&p->meta.arena, count, sizeof *p->meta.aliases);
	if (!p->meta.aliases)
		return &error_no_memory;
	for (LLVMValueRef a = LLVMGetFirstGlobalAlias(p->module); a; a = LLVMGetNextGlobalAlias(a)) {
		uint32_t index = program_find(p, LLVMAliasGetAliasee(a));
		if (ir_is_local(a) || index == NO_INDEX || p->functions.items[index].node == NO_INDEX)
			continue;
		struct meta_alias *alias = &p->meta.aliases[p->meta.alias_count++];
		alias->function = p->functions.items[index].node;
		size_t len_bytes;
		const char *name = LLVMGetValueName2(a, &len_bytes);
		alias->link_name = arena_strndup(&p->meta.arena, name, len_bytes);
		if (!alias->link_name)
			return &error_no_memory;
	}
	return NULL;
}

static void describe_stats(struct program *p)
{
	p->meta.stats = (struct meta_stats){
		.functions_total = p->functions.count,
		.call_sites_total = p->calls.total,
		.call_sites_no_code = p->calls.no_code,
		.ball_larus_max_id = p->graph_stats.ball_larus_max_id,
		.max_id = p->graph_stats.max_id,
		.cut_nodes = p->graph_stats.cut_nodes,
		.foreign_objects = p->host->foreign_objects,
		.foreign_members = p->host->foreign_members,
	};
}

struct error *program_describe(struct program *p, struct buffer *ret_section)
{
	struct describer d = {.p = p};
	p->meta.producer = arena_printf(&p->meta.arena, "waymark %s %s", WAYMARK_VERSION, p->host->producer);
	p->meta.unit = p->unit;
	p->meta.is_hybrid = p->is_hybrid;
	struct error *err = p->meta.producer ? NULL : &error_no_memory;
	if (!err)
		err = describe_sites(&d);
	if (!err)
		err = describe_functions(p);
	if (!err)
		err = describe_aliases(p);
	if (!err) {
		describe_stats(p);
		p->meta.locations = d.locations.items;
		p->meta.location_count = (uint32_t)d.locations.count;
		err = meta_write(&p->meta, ret_section);
		p->meta.locations = NULL;
		p->meta.location_count = 0;
	}
	location_vec_deinit(&d.locations);
	free(d.map.keys);
	free(d.map.values);
	return err;
}

/*
 * path_lines.c - the identity of a function and where its code comes from: names, keys, and for each node the source positions of its
 * instructions, in the order of the code, from the debug locations that become DWARF's line table.
 */
#include <string.h>

#include <llvm-c/DebugInfo.h>

#include "base/hash.h"
#include "base/text.h"
#include "instrument/paths/path.h"

VEC_DECLARE(line_vec, struct pathmeta_line);
VEC_DECLARE(location_vec, LLVMMetadataRef);

/* Takes `.` and `..` out of an absolute path, so that a file has one name however it was included, as clang's coverage does. */
static void remove_dots(char *path)
{
	char *to = path;
	const char *from = path;
	while (*from) { /* at a slash */
		size_t len = 1 + strcspn(from + 1, "/");
		bool is_dot = len == 1 || (len == 2 && from[1] == '.');
		if (len == 3 && from[1] == '.' && from[2] == '.') {
			if (to > path)
				to--;
			while (to > path && *to != '/')
				to--;
		} else if (!is_dot || !from[len]) {
			memmove(to, from, len);
			to += len;
		}
		from += len;
	}
	*to = '\0';
}

/* The name of the file of a scope, with its directory. */
static struct error *file_name(struct path_graph *g, struct path_line_cache *cache, LLVMMetadataRef scope,
			       const char **ret)
{
	LLVMMetadataRef file = scope ? LLVMDIScopeGetFile(scope) : NULL;
	*ret = NULL;
	if (!file)
		return NULL;
	if (file != cache->file) {
		unsigned name_len = 0, directory_len = 0;
		const char *name = LLVMDIFileGetFilename(file, &name_len);
		const char *directory = LLVMDIFileGetDirectory(file, &directory_len);
		bool is_whole = !directory_len || (name_len && name[0] == '/');
		cache->file_name = arena_printf(&g->m->meta.arena, "%.*s%s%.*s", is_whole ? 0 : (int)directory_len,
						is_whole ? "" : directory, is_whole ? "" : "/", (int)name_len, name);
		if (!cache->file_name)
			return &error_no_memory;
		if (cache->file_name[0] == '/')
			remove_dots(cache->file_name);
		cache->file = file;
	}
	*ret = cache->file_name;
	return NULL;
}

struct error *path_line_of(struct path_graph *g, struct path_line_cache *cache, LLVMMetadataRef location,
			   struct pathmeta_line *ret)
{
	*ret = (struct pathmeta_line){.line = LLVMDILocationGetLine(location),
				      .column = LLVMDILocationGetColumn(location)};
	struct error *err = file_name(g, cache, LLVMDILocationGetScope(location), &ret->file);
	if (err || !LLVMDILocationGetInlinedAt(location))
		return err;
	unsigned len_bytes = 0;
	const char *text = g->m->host->location_function(location, &len_bytes);
	if (!text || !len_bytes)
		return NULL;
	if (text != cache->function) {
		cache->function_copy = arena_strndup(&g->m->meta.arena, text, len_bytes);
		if (!cache->function_copy)
			return &error_no_memory;
		cache->function = text;
	}
	ret->function = cache->function_copy;
	return NULL;
}

static bool same_line(const struct pathmeta_line *a, const struct pathmeta_line *b)
{
	return a->line == b->line && a->column == b->column && text_equal(a->file, b->file) &&
	       text_equal(a->function, b->function);
}

/* The effect on a line when control passes an instruction. */
enum passing {
	PASSING_NOTHING, /* no code: nothing of the line runs there */
	PASSING_COUNTED, /* the line counts, as clang counts it, and yet nothing of it is done */
	PASSING_RUNS,
};

/* Nothing in the end; clang's own counters stand at the location of whatever came before them. */
static bool is_empty_intrinsic(LLVMValueRef instruction)
{
	static const char *const prefixes[] = {
		"llvm.instrprof.",      "llvm.lifetime.",  "llvm.dbg.",
		"llvm.assume",          "llvm.invariant.", "llvm.experimental.noalias.scope.decl",
		"llvm.pseudoprobe",     "llvm.donothing",  "llvm.sideeffect",
		"llvm.var.annotation",  "llvm.codeview.",  "llvm.type.test",
		"llvm.public.type.test"};
	LLVMValueRef callee = LLVMIsACallInst(instruction) ? LLVMGetCalledValue(instruction) : NULL;
	size_t len_bytes = 0;
	if (!callee || !LLVMIsAFunction(callee) || !LLVMGetIntrinsicID(callee))
		return false;
	const char *name = LLVMGetValueName2(callee, &len_bytes);
	for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
		if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
			return true;
	return false;
}

/* Where handlers begin: clang has the normal way round them jump from there, too. */
static struct error *find_handlers(LLVMValueRef function, struct location_vec *ret)
{
	struct error *err = NULL;
	if (!LLVMHasPersonalityFn(function))
		return NULL;
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
		for (LLVMValueRef i = LLVMGetFirstInstruction(b); i && !err; i = LLVMGetNextInstruction(i)) {
			LLVMValueRef callee = LLVMIsACallInst(i) ? LLVMGetCalledValue(i) : NULL;
			const char *name = callee && LLVMIsAFunction(callee) ? LLVMGetValueName(callee) : "";
			if (!strcmp(name, "__cxa_begin_catch") || !strncmp(name, "llvm.eh.typeid.for", 18))
				err = location_vec_append(ret, LLVMInstructionGetDebugLoc(i));
		}
	return err;
}

static bool is_handler(const struct location_vec *handlers, LLVMMetadataRef location)
{
	for (size_t i = 0; i < handlers->count; i++)
		if (handlers->items[i] == location)
			return true;
	return false;
}

/* The address of a part of something, which is no instruction but an operand of what loads or stores there. */
static bool is_operand(LLVMValueRef instruction)
{
	if (!LLVMIsAGetElementPtrInst(instruction))
		return false;
	const int count = LLVMGetNumOperands(instruction);
	for (int i = 1; i < count; i++)
		if (!LLVMIsAConstantInt(LLVMGetOperand(instruction, (unsigned)i)))
			return false;
	for (LLVMUseRef use = LLVMGetFirstUse(instruction); use; use = LLVMGetNextUse(use)) {
		LLVMValueRef user = LLVMGetUser(use);
		if (!LLVMIsALoadInst(user) && !(LLVMIsAStoreInst(user) && LLVMGetOperand(user, 0) != instruction))
			return false;
	}
	return true;
}

/*
 * Optimized code has lines left of which nothing is done any more: phis, addresses, and jumps that inherited the line of what was
 * folded. As written, a jump is a `break` or a `goto`.
 */
static enum passing passing_of(const struct path_graph *g, LLVMValueRef instruction,
			       const struct location_vec *handlers)
{
	bool is_optimized = g->m->options->is_final && !ir_has_attribute(g->function, g->m->kinds.optnone);
	if (is_empty_intrinsic(instruction) || LLVMIsAUnreachableInst(instruction))
		return PASSING_NOTHING;
	if (is_optimized && is_operand(instruction))
		return PASSING_NOTHING;
	if (LLVMIsAPHINode(instruction))
		return is_optimized ? PASSING_NOTHING : PASSING_COUNTED;
	if (LLVMGetInstructionOpcode(instruction) != LLVMBr || LLVMIsConditional(instruction))
		return PASSING_RUNS;
	if (is_optimized)
		return PASSING_NOTHING;
	return is_handler(handlers, LLVMInstructionGetDebugLoc(instruction)) ? PASSING_COUNTED : PASSING_RUNS;
}

/*
 * A jump from a label to the label behind it (`case 1: case 2:`) stands, as clang emits it, at the location of the last
 * statement before them, which did not run.
 */
static bool is_inherited(LLVMValueRef instruction, LLVMMetadataRef location)
{
	LLVMBasicBlockRef block = LLVMGetInstructionParent(instruction), before = LLVMGetPreviousBasicBlock(block);
	if (LLVMGetInstructionOpcode(instruction) != LLVMBr || LLVMIsConditional(instruction) || !before)
		return false;
	return LLVMInstructionGetDebugLoc(LLVMGetLastInstruction(before)) == location;
}

/*
 * Where what a branch tests stands, if on another line than the branch itself: of `if (a ||` NEWLINE `b)` clang puts the branch
 * of a at the `||`, that of b at the `if`. NULL: nowhere else, or not in this block.
 */
static LLVMMetadataRef tested_location(LLVMValueRef branch)
{
	if (LLVMGetInstructionOpcode(branch) != LLVMBr || !LLVMIsConditional(branch))
		return NULL;
	LLVMValueRef tested = LLVMIsAInstruction(LLVMGetCondition(branch));
	if (!tested || LLVMIsAPHINode(tested) || LLVMGetInstructionParent(tested) != LLVMGetInstructionParent(branch))
		return NULL;
	LLVMMetadataRef from = LLVMInstructionGetDebugLoc(branch), to = LLVMInstructionGetDebugLoc(tested);
	if (!from || !to || !LLVMDILocationGetLine(from) || !LLVMDILocationGetLine(to) ||
	    LLVMDILocationGetLine(from) == LLVMDILocationGetLine(to) ||
	    LLVMDILocationGetInlinedAt(from) != LLVMDILocationGetInlinedAt(to) ||
	    LLVMDIScopeGetFile(LLVMDILocationGetScope(from)) != LLVMDIScopeGetFile(LLVMDILocationGetScope(to)))
		return NULL;
	return to;
}

/* Has the block's lines that are shown end with `line`, where its branch is shown; one of the block's own anyway. */
static struct error *end_with(struct line_vec *lines, size_t first, const struct pathmeta_line *line)
{
	size_t i = lines->count;
	while (i > first && lines->items[i - 1].is_branch_only)
		i--;
	if (i > first && lines->items[i - 1].line == line->line && text_equal(lines->items[i - 1].file, line->file))
		return NULL;
	return line_vec_append(lines, *line);
}

/* Code on the line of the code before it; of that it may have shown nothing. */
static void join_line(struct pathmeta_line *before, const struct pathmeta_line *line)
{
	before->is_branch_only &= line->is_branch_only;
}

static struct error *add_node_lines(struct path_graph *g, uint32_t node, const struct location_vec *handlers,
				    struct path_line_cache *cache, struct line_vec *lines)
{
	size_t first = lines->count;
	LLVMValueRef end = LLVMGetBasicBlockTerminator(g->nodes[node].block);
	LLVMMetadataRef last = NULL, tested = end ? tested_location(end) : NULL;
	struct pathmeta_line line;
	struct error *err;
	LLVMValueRef i = LLVMGetFirstInstruction(g->nodes[node].block);
	for (; i; i = LLVMGetNextInstruction(i)) {
		LLVMMetadataRef location = LLVMInstructionGetDebugLoc(i);
		if (!location || !LLVMDILocationGetLine(location) || (!last && is_inherited(i, location)))
			continue;
		enum passing passing = passing_of(g, i, handlers);
		if (passing == PASSING_NOTHING ||
		    (location == last &&
		     (passing == PASSING_COUNTED || !lines->items[lines->count - 1].is_branch_only)))
			continue;
		err = path_line_of(g, cache, location, &line);
		line.is_branch_only = passing == PASSING_COUNTED || (tested && i == end);
		last = location;
		if (!err && lines->count > first && same_line(&line, &lines->items[lines->count - 1]))
			join_line(&lines->items[lines->count - 1], &line);
		else if (!err)
			err = line_vec_append(lines, line);
		if (err)
			return err;
	}
	err = tested ? path_line_of(g, cache, tested, &line) : NULL;
	return !err && tested ? end_with(lines, first, &line) : err;
}

static struct error *add_lines(struct path_graph *g, struct line_vec *lines)
{
	struct path_line_cache cache = {0};
	struct location_vec handlers = {0};
	struct error *err = find_handlers(g->function, &handlers);
	for (uint32_t n = 0; n < g->cfg.node_count && !err; n++) {
		g->meta.first_line[n] = (uint32_t)lines->count;
		err = add_node_lines(g, n, &handlers, &cache, lines);
	}
	g->meta.first_line[g->cfg.node_count] = (uint32_t)lines->count;
	location_vec_deinit(&handlers);
	return err;
}

struct error *path_lines_add(struct path_graph *g)
{
	struct arena *kept = &g->m->meta.arena;
	struct line_vec lines = {0};
	g->meta.first_line = arena_calloc(kept, g->cfg.node_count + 1, sizeof *g->meta.first_line);
	struct error *err = g->meta.first_line ? add_lines(g, &lines) : &error_no_memory;
	if (!err) {
		g->meta.lines = arena_copy(kept, lines.items, lines.count, sizeof *g->meta.lines);
		err = g->meta.lines ? NULL : &error_no_memory;
	}
	line_vec_deinit(&lines);
	return err;
}

static uint64_t name_key(const struct path_graph *g)
{
	uint64_t hash = HASH_START;
	if (ir_is_local(g->function)) {
		size_t len_bytes;
		const char *source = LLVMGetSourceFileName(g->m->module, &len_bytes);
		hash = hash_bytes(hash, source, len_bytes);
		hash = hash_bytes(hash, ":", 1);
	}
	return hash_bytes(hash, g->meta.link_name, strlen(g->meta.link_name));
}

struct error *path_identify(struct path_graph *g)
{
	struct arena *kept = &g->m->meta.arena;
	size_t link_len;
	const char *link_name = LLVMGetValueName2(g->function, &link_len);
	/* \1 marks an asm label: the rest is the symbol as it stands. */
	size_t skip = link_len && link_name[0] == '\1';
	g->meta.link_name = arena_strndup(kept, link_name + skip, link_len - skip);
	g->meta.name = g->meta.link_name;
	if (!g->meta.link_name)
		return &error_no_memory;
	g->meta.name_key = name_key(g);
	LLVMMetadataRef subprogram = LLVMGetSubprogram(g->function);
	if (!subprogram)
		return NULL;
	unsigned len_bytes = 0;
	const char *name = g->m->host->subprogram_name(subprogram, &len_bytes);
	if (name && len_bytes) {
		g->meta.name = arena_strndup(kept, name, len_bytes);
		if (!g->meta.name)
			return &error_no_memory;
	}
	struct path_line_cache cache = {0};
	g->meta.line = LLVMDISubprogramGetLine(subprogram);
	return file_name(g, &cache, subprogram, &g->meta.file);
}

/*
 * path_hidden.c - which functions may run inside a body of the final stage and leave no block there that would show it: each inlined
 * copy may have been folded, as a whole or in part. The units and the link note what was inlined into what (plugin.cpp), and
 * who calls whom as written: for calls that were dropped since nothing but their result would be seen of them.
 *
 *      notes: f into g, g into main        main hides f and g
 *             f is called by g, f is pure  who has g's code hides f
 *
 * Within one function, too, code of a line may be left where it does not always stand: jumps are threaded past a test, what is
 * computed is sunk to where it is used. A line is firm if it had all its code in one block as written, with a call that cannot
 * go: where that call was not made, the line did not run.
 *
 * A function of which there is one copy, and that inlined, is known by the blocks that it is in, as the code around it is.
 */
#include <stdlib.h>
#include <string.h>

#include <llvm-c/DebugInfo.h>

#include "base/cleanup.h"
#include "instrument/nocallback.h"
#include "base/order.h"
#include "instrument/paths/path.h"
#include "instrument/contexts/program.h"

struct pair {
	uint32_t inner, outer; /* what was inlined or called, and where */
};
VEC_DECLARE(pair_vec, struct pair);

struct firm {
	uint32_t function, line;
};
VEC_DECLARE(firm_vec, struct firm);
VEC_DECLARE(index_vec, uint32_t);
VEC_DECLARE(name_vec, const char *);

struct path_hidden {
	struct name_vec names;          /* sorted, each once */
	struct pair_vec inlined, calls; /* by outer */
	struct firm_vec firm;           /* sorted */
	bool *is_pure;                  /* [name]: of a body here */
	uint8_t *copies;                /* [name]: bodies and inlined copies, at most 2 */
	bool *is_unseen; /* [name]: called by what ran, or would have, when the program was linked; in code that is not counted */
	bool *is_seen; /* [name] of the body at work */
	uint32_t *work;
};

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int compare_pairs(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;
	return compare_u64(x->outer, y->outer) ?: compare_u64(x->inner, y->inner);
}

static uint32_t name_index(const struct path_hidden *h, const char *name)
{
	const char **found = bsearch(&name, h->names.items, h->names.count, sizeof name, compare_names);
	return found ? (uint32_t)(found - h->names.items) : UINT32_MAX;
}

/* ---- the notes ---- */

/* Texts of every node of a list, count_each of each; *ret is malloc'd and points into the module. */
static struct error *read_notes(LLVMModuleRef module, const char *list, unsigned count_each, struct arena *arena,
				const char ***ret, unsigned *ret_count)
{
	const unsigned count = LLVMGetNamedMetadataNumOperands(module, list);
	LLVMValueRef *nodes = arena_calloc(arena, count, sizeof *nodes);
	const char **texts = arena_calloc(arena, (size_t)count * count_each, sizeof *texts);
	if (!nodes || !texts)
		return &error_no_memory;
	*ret_count = 0;
	LLVMGetNamedMetadataOperands(module, list, nodes);
	for (unsigned i = 0; i < count; i++) {
		LLVMValueRef parts[3] = {0};
		unsigned len;
		if (LLVMGetMDNodeNumOperands(nodes[i]) != count_each)
			continue;
		LLVMGetMDNodeOperands(nodes[i], parts);
		for (unsigned k = 0; k < count_each; k++)
			texts[*ret_count * count_each + k] = parts[k] ? LLVMGetMDString(parts[k], &len) : "";
		(*ret_count)++;
	}
	*ret = texts;
	return NULL;
}

static struct error *add_names(struct path_module *m, const char *const *texts, size_t count)
{
	struct error *err = NULL;
	for (size_t i = 0; i < count && !err; i++)
		err = name_vec_append(&m->hidden->names, arena_strdup(&m->meta.arena, texts[i]));
	return err;
}

static struct error *add_pairs(const struct path_hidden *h, const char *const *texts, unsigned count,
			       struct pair_vec *ret)
{
	struct error *err = NULL;
	for (unsigned i = 0; i < count && !err; i++)
		err = pair_vec_append(ret, (struct pair){name_index(h, texts[2 * i]), name_index(h, texts[2 * i + 1])});
	if (!err && ret->count)
		qsort(ret->items, ret->count, sizeof *ret->items, compare_pairs);
	return err;
}

/* Writes nothing, ends: a call whose result nobody wants is none. */
static bool is_pure(const struct path_module *m, LLVMValueRef function)
{
	const unsigned writes = 0xaaaaaaaa; /* of each kind of memory, two bits: read, written */
	LLVMAttributeRef memory =
		LLVMGetEnumAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, m->kinds.memory);
	return memory && !(LLVMGetEnumAttributeValue(memory) & writes) &&
	       ir_has_attribute(function, m->kinds.nounwind) && ir_has_attribute(function, m->kinds.willreturn);
}

static int compare_firm(const void *a, const void *b)
{
	const struct firm *x = a, *y = b;
	return compare_u64(x->function, y->function) ?: compare_u64(x->line, y->line);
}

static bool is_inlined(const struct path_hidden *h, uint32_t name)
{
	for (size_t i = 0; i < h->inlined.count; i++)
		if (h->inlined.items[i].inner == name)
			return true;
	return false;
}

/* A call that stays one wherever it is: its callee is nowhere inlined, does something, and is none that LLVM knows to fold. */
static bool stays(const struct path_module *m, const char *callee)
{
	static const char *const folded[] = {"malloc",  "calloc",  "realloc",      "free",   "strdup",
					     "strndup", "_Znwm",   "_Znam",        "_ZdlPv", "_ZdaPv",
					     "_ZdlPvm", "_ZdaPvm", "aligned_alloc"};
	const uint32_t name = name_index(m->hidden, callee);
	LLVMValueRef function = LLVMGetNamedFunction(m->module, callee);
	for (size_t i = 0; i < sizeof folded / sizeof *folded; i++)
		if (!strcmp(callee, folded[i]))
			return false;
	return !is_nocallback(callee) &&
	       !(name != UINT32_MAX && (m->hidden->is_pure[name] || is_inlined(m->hidden, name))) &&
	       !(function && is_pure(m, function));
}

static struct error *find_firm(struct path_module *m, const char *const *texts, unsigned count)
{
	struct path_hidden *h = m->hidden;
	struct error *err = NULL;
	for (unsigned i = 0; i < count && !err; i++) {
		const uint32_t function = name_index(h, texts[3 * i + 1]);
		if (function != UINT32_MAX && stays(m, texts[3 * i]))
			err = firm_vec_append(&h->firm,
					      (struct firm){function, (uint32_t)strtoul(texts[3 * i + 2], NULL, 10)});
	}
	if (!err && h->firm.count)
		qsort(h->firm.items, h->firm.count, sizeof *h->firm.items, compare_firm);
	return err;
}

/* ---- copies ---- */

static size_t first_pair(const struct pair_vec *v, uint32_t outer)
{
	return COUNT_BELOW(v->items, v->count, outer, outer);
}

/* Names that are inlined twice, or into what there is twice, or have a body besides. Rounds end since nothing becomes fewer. */
static void count_copies(struct path_hidden *h, const uint8_t *bodies)
{
	bool is_changed = true;
	memcpy(h->copies, bodies, h->names.count);
	while (is_changed) {
		is_changed = false;
		for (size_t n = 0; n < h->names.count; n++)
			h->work[n] = bodies[n];
		for (size_t i = 0; i < h->inlined.count; i++) {
			uint8_t outer = h->copies[h->inlined.items[i].outer];
			h->work[h->inlined.items[i].inner] += outer ? outer : 1;
		}
		for (size_t n = 0; n < h->names.count; n++) {
			uint8_t copies = h->work[n] < 2 ? (uint8_t)h->work[n] : 2;
			is_changed |= copies > h->copies[n];
			h->copies[n] = copies > h->copies[n] ? copies : h->copies[n];
		}
	}
}

static const char *body_name(const struct path_module *m, LLVMValueRef function, char **ret)
{
	LLVMMetadataRef subprogram = LLVMGetSubprogram(function);
	unsigned len = 0;
	const char *name = subprogram ? m->host->subprogram_name(subprogram, &len) : NULL;
	*ret = name && len ? strndup(name, len) : strdup(LLVMGetValueName(function));
	return *ret;
}

static struct error *look_at_bodies(struct path_module *m, uint8_t *bodies)
{
	struct path_hidden *h = m->hidden;
	for (LLVMValueRef f = LLVMGetFirstFunction(m->module); f; f = LLVMGetNextFunction(f)) {
		char *name;
		if (LLVMIsDeclaration(f))
			continue;
		if (!body_name(m, f, &name))
			return &error_no_memory;
		uint32_t n = name_index(h, name);
		free(name);
		if (n == UINT32_MAX)
			continue;
		bodies[n] += bodies[n] < 2;
		h->is_pure[n] |= is_pure(m, f);
	}
	return NULL;
}

/* ---- who is hidden ---- */

static void push(struct path_hidden *h, uint32_t name, uint32_t *count)
{
	if (h->is_seen[name])
		return;
	h->is_seen[name] = true;
	h->work[(*count)++] = name;
}

/* Marks what a name's code may have in it; all that it calls, too, if wanted, and not only what is pure. */
static void reach(struct path_hidden *h, uint32_t name, bool with_calls)
{
	uint32_t count = 0;
	memset(h->is_seen, 0, h->names.count);
	push(h, name, &count);
	for (uint32_t i = 0; i < count; i++) {
		const uint32_t at = h->work[i];
		for (size_t k = first_pair(&h->inlined, at); k < h->inlined.count && h->inlined.items[k].outer == at;
		     k++)
			push(h, h->inlined.items[k].inner, &count);
		for (size_t k = first_pair(&h->calls, at); k < h->calls.count && h->calls.items[k].outer == at; k++)
			if (with_calls || h->is_pure[h->calls.items[k].inner])
				push(h, h->calls.items[k].inner, &count);
	}
}

/* The function may be inside of a body: it may have run there, and the blocks there do not show it. */
static bool is_hidden(const struct path_hidden *h, size_t name)
{
	return h->is_seen[name] && (h->copies[name] > 1 || h->is_pure[name]);
}

/* Code that runs before main may have been evaluated when the program was linked: then it has no body, and is inlined nowhere. */
static void find_unseen(struct path_hidden *h, const char *const *starts, unsigned count, const uint8_t *bodies)
{
	for (unsigned i = 0; i < count; i++) {
		uint32_t name = name_index(h, starts[i]);
		if (name == UINT32_MAX || bodies[name])
			continue;
		reach(h, name, true);
		for (size_t n = 0; n < h->names.count; n++)
			h->is_unseen[n] |= h->is_seen[n];
	}
}

struct error *path_hidden_uncounted(struct path_module *m, LLVMValueRef function)
{
	struct path_hidden *h = m->hidden;
	char *name;
	if (!h)
		return NULL;
	if (!body_name(m, function, &name))
		return &error_no_memory;
	const uint32_t own = name_index(h, name);
	free(name);
	if (own == UINT32_MAX)
		return NULL;
	reach(h, own, false);
	for (size_t n = 0; n < h->names.count; n++)
		h->is_unseen[n] |= n != own && is_hidden(h, n);
	return NULL;
}

static struct error *allocate(struct path_module *m)
{
	struct path_hidden *h = m->hidden;
	struct arena *arena = &m->meta.arena;
	h->is_pure = arena_calloc(arena, h->names.count + 1, sizeof *h->is_pure);
	h->copies = arena_calloc(arena, h->names.count + 1, sizeof *h->copies);
	h->is_unseen = arena_calloc(arena, h->names.count + 1, sizeof *h->is_unseen);
	h->is_seen = arena_calloc(arena, h->names.count + 1, sizeof *h->is_seen);
	h->work = arena_calloc(arena, h->names.count + 1, sizeof *h->work);
	return h->is_pure && h->copies && h->is_unseen && h->is_seen && h->work ? NULL : &error_no_memory;
}

static void sort_names(struct name_vec *names)
{
	size_t count = 0;
	if (names->count)
		qsort(names->items, names->count, sizeof *names->items, compare_names);
	for (size_t i = 0; i < names->count; i++)
		if (!count || strcmp(names->items[count - 1], names->items[i]) != 0)
			names->items[count++] = names->items[i];
	names->count = count;
}

/* The source stage's notes of calls: names, two or three an entry. */
struct notes {
	const char **inlined, **calls, **starts, **firm;
	unsigned inlined_count, call_count, start_count, firm_count;
};

static struct error *read_all_notes(LLVMModuleRef module, struct arena *arena, struct notes *n)
{
	struct error *err = read_notes(module, PATH_NOTES_INLINED, 2, arena, &n->inlined, &n->inlined_count);
	if (!err)
		err = read_notes(module, PATH_NOTES_CALLS, 2, arena, &n->calls, &n->call_count);
	if (!err)
		err = read_notes(module, PATH_NOTES_STARTS, 1, arena, &n->starts, &n->start_count);
	if (!err)
		err = read_notes(module, PATH_NOTES_FIRM, 3, arena, &n->firm, &n->firm_count);
	return err;
}

static struct error *add_notes(struct path_module *m, const struct notes *n)
{
	struct path_hidden *h = m->hidden;
	struct error *err = add_names(m, n->inlined, 2 * (size_t)n->inlined_count);
	if (!err)
		err = add_names(m, n->calls, 2 * (size_t)n->call_count);
	if (err)
		return err;
	sort_names(&h->names);
	return allocate(m) ?:
	       add_pairs(h, n->inlined, n->inlined_count, &h->inlined) ?:
	       add_pairs(h, n->calls, n->call_count, &h->calls);
}

struct error *path_hidden_find(struct path_module *m)
{
	CLEANUP(arena_deinit) struct arena scratch = {0};
	struct notes n = {0};
	uint8_t *bodies;
	m->hidden = arena_calloc(&m->meta.arena, 1, sizeof *m->hidden);
	if (!m->hidden)
		return &error_no_memory;
	struct error *err = read_all_notes(m->module, &scratch, &n);
	if (err)
		return err;
	err = add_notes(m, &n);
	if (err)
		return err;
	bodies = arena_calloc(&scratch, m->hidden->names.count + 1, 1);
	if (!bodies)
		return &error_no_memory;
	err = look_at_bodies(m, bodies);
	if (err)
		return err;
	count_copies(m->hidden, bodies);
	find_unseen(m->hidden, n.starts, n.start_count, bodies);
	return find_firm(m, n.firm, n.firm_count);
}

static struct error *describe_lines(struct path_graph *g)
{
	const struct path_hidden *h = g->m->hidden;
	struct index_vec firm = {0};
	struct error *err = NULL;
	g->meta.is_optimized = !ir_has_attribute(g->function, g->m->kinds.optnone);
	for (uint32_t i = 0; i < g->meta.first_line[g->cfg.node_count] && g->meta.is_optimized && !err; i++) {
		const struct pathmeta_line *line = &g->meta.lines[i];
		const struct firm key = {name_index(h, line->function ? line->function : g->meta.name), line->line};
		if (h->firm.count && bsearch(&key, h->firm.items, h->firm.count, sizeof key, compare_firm))
			err = index_vec_append(&firm, i);
	}
	if (!err && firm.count) {
		g->meta.firm = arena_copy(&g->m->meta.arena, firm.items, firm.count, sizeof *firm.items);
		g->meta.firm_count = (uint32_t)firm.count;
		err = g->meta.firm ? NULL : &error_no_memory;
	}
	index_vec_deinit(&firm);
	return err;
}

struct error *path_hidden_describe(struct path_graph *g)
{
	struct path_hidden *h = g->m->hidden;
	uint32_t count = 0;
	if (!h)
		return NULL;
	const uint32_t own = name_index(h, g->meta.name);
	struct error *err = describe_lines(g);
	if (err || own == UINT32_MAX)
		return err;
	g->meta.is_unseen = h->is_unseen[own];
	reach(h, own, false);
	for (size_t n = 0; n < h->names.count; n++) {
		h->is_seen[n] = n != own && is_hidden(h, n);
		count += h->is_seen[n];
	}
	g->meta.hidden = arena_calloc(&g->m->meta.arena, count + 1, sizeof *g->meta.hidden);
	if (!g->meta.hidden)
		return &error_no_memory;
	for (size_t n = 0; n < h->names.count; n++)
		if (h->is_seen[n])
			g->meta.hidden[g->meta.hidden_count++] = h->names.items[n];
	return NULL;
}

void path_hidden_deinit(struct path_hidden *h)
{
	if (!h)
		return;
	name_vec_deinit(&h->names);
	pair_vec_deinit(&h->inlined);
	pair_vec_deinit(&h->calls);
	firm_vec_deinit(&h->firm);
}

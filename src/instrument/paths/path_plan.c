/*
 * path_plan.c - counting with a plan: pairs found by the packed number of preferential path profiling (core/paths/ppp.h).
 *
 * Paths that do not fit are dropped, the least frequent first. A function of another control flow than the plan's profile
 * has is counted without it. With the counts of a plan, the edges that it ran often are the ones that get little code.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/paths/ppp.h"
#include "instrument/paths/path.h"

/* Files stay mapped until the compiler ends: a plan keeps views into them. */
static struct error *open_file(void *state, const char *path, const void **ret_bytes, size_t *ret_len_bytes)
{
	(void)state;
	int file = open(path, O_RDONLY | O_CLOEXEC);
	struct stat info;
	if (file < 0 || fstat(file, &info)) {
		struct error *err = error_os(errno, "%s: cannot read the plan", path);
		if (file >= 0)
			close(file);
		return err;
	}
	void *bytes = info.st_size ? mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, file, 0) : NULL;
	struct error *err = bytes == MAP_FAILED ? error_os(errno, "%s: cannot read the plan", path) : NULL;
	close(file);
	if (err)
		return err;
	*ret_bytes = bytes ? bytes : "";
	*ret_len_bytes = (size_t)info.st_size;
	return NULL;
}

struct error *path_plan_load(const char *path, struct plan **ret)
{
	const struct plan_files files = {.open = open_file};
	return plan_create(path, &files, ret);
}

static void name_one(struct buffer *list, const struct path_graph *g)
{
	buffer_printf(list, "%s%s", list->len_bytes ? ", " : "", g->meta.name);
}

/* How often each edge ran, as far as the chosen paths show; the estimates break ties. */
struct error *path_plan_count_edges(struct path_graph *g, const struct path_numbering *n,
				    const struct plan_choice *choice, struct path_choice *ret)
{
	uint64_t total = 0;
	for (uint32_t i = 0; i < choice->count; i++)
		total += choice->counts[i] != 0;
	if (!total)
		return NULL;
	double *frequencies = arena_calloc(g->scratch, g->cfg.edge_count + 1, sizeof *frequencies);
	struct path path = {.edges = arena_calloc(g->scratch, g->cfg.node_count, sizeof *path.edges)};
	if (!frequencies || !path.edges)
		return &error_no_memory;
	for (uint32_t i = 0; i < choice->count; i++) {
		double count = (double)choice->counts[i];
		path_regenerate(&g->cfg, n, choice->paths[i], &path);
		for (uint32_t k = 0; k < path.edge_count; k++)
			frequencies[path.edges[k]] += count;
		if (path.end_edge != NO_EDGE)
			frequencies[path.end_edge] += count;
	}
	for (uint32_t e = 0; e < g->cfg.edge_count; e++)
		frequencies[e] += g->cfg.edges[e].frequency * 1e-9;
	ret->frequencies = frequencies;
	return NULL;
}

/* Packs as many of the paths as fit, from the most frequent on. */
static struct error *pack(struct path_graph *g, const struct path_numbering *n, const struct plan_choice *choice,
			  struct ppp_table *ret)
{
	for (uint32_t count = choice->count;; count -= count / 8 + 1) {
		struct ppp_numbering prefer;
		struct error *err = ppp_number(&g->cfg, n, choice->paths, count, g->scratch, &prefer);
		if (!err)
			err = ppp_pack(&g->cfg, n, &prefer, choice->paths, count, WM1_PATHS_MAX_BITS, g->scratch, ret);
		if (err && err->code == ERROR_OVERFLOW && count) {
			error_destroy(err);
			continue;
		}
		if (err)
			return err;
		g->meta.interesting = count;
		g->meta.interval = prefer.interval;
		if (count < choice->count || choice->left_out)
			name_one(&g->m->dropped, g);
		return NULL;
	}
}

/* Paths that were left in their middle get no place: they are rare, and no edge leads to where they end. */
static struct error *drop_left(struct path_graph *g, const struct path_numbering *n, struct plan_choice *choice)
{
	struct path path = {.edges = arena_calloc(g->scratch, g->cfg.node_count, sizeof *path.edges)};
	uint32_t kept = 0;
	if (!path.edges)
		return &error_no_memory;
	for (uint32_t i = 0; i < choice->count; i++) {
		path_regenerate(&g->cfg, n, choice->paths[i], &path);
		choice->paths[kept] = choice->paths[i];
		choice->counts[kept] = choice->counts[i];
		kept += !path.is_left;
	}
	choice->count = kept;
	return NULL;
}

struct error *path_plan_choose(struct path_graph *g, const struct path_numbering *n, struct plan_choice *choice,
			       struct path_choice *ret)
{
	struct ppp_table table;
	struct error *err = g->cfg.may_be_left ? drop_left(g, n, choice) : NULL;
	if (!err)
		err = pack(g, n, choice, &table);
	if (err)
		return err;
	ret->kind = WM1_PATHS_PLAN;
	ret->bits = table.bits;
	ret->entry_count = 1u << table.bits;
	ret->start_values = table.start_values;
	ret->edge_values = table.edge_values;
	ret->checks = table.checks;
	return path_plan_count_edges(g, n, choice, ret);
}

struct error *path_plan_ask(struct path_graph *g, const struct path_numbering *n, struct plan_choice *ret)
{
	struct plan_choice choice;
	struct error *err = plan_choose(g->m->plan, &g->meta, n, g->scratch, &choice);
	if (err)
		return err;
	if (choice.state == PLAN_CHANGED)
		name_one(&g->m->changed, g);
	*ret = choice;
	return NULL;
}

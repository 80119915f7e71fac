/* analysis.c - makes the finer analysis, or the coarser one where memory is short, and shows how far it is (analysis.h). */
#include "cli/slicing/analysis.h"

#include <stdlib.h>
#include <string.h>

/* Keeps what an error says, and frees it. */
static struct error *take_message(struct error *why, char **ret)
{
	*ret = strdup(why->message);
	error_destroy(why);
	return *ret ? NULL : &error_no_memory;
}

static struct error *find_out(const struct slicing_cache_key *key, struct slicing_analysis *ret)
{
	struct error *err = memory_analyse(key->code, key->runs, key->limit_mb << 20, &ret->memory);

	if (err && err->code == ERROR_OVERFLOW) {
		err = take_message(err, &ret->coarse);
		if (!err)
			err = memory_analyse_coarsely(key->code, key->runs, &ret->memory);
	}
	return err ? err : regions_find(&ret->memory, key->runs, &ret->regions);
}

struct error *slicing_analyse(const struct slicing_cache_key *key, struct slicing_analysis *ret)
{
	struct error *err = NULL;

	ret->is_there = slicing_cache_read(key, &ret->memory, &ret->regions);
	if (ret->is_there && ret->memory.is_coarse)
		return take_message(pointers_overflow(key->limit_mb << 20), &ret->coarse);
	if (ret->is_there)
		return NULL;
	err = find_out(key, ret);
	ret->is_there = !err;
	return err ? err : slicing_cache_write(key, &ret->memory, &ret->regions);
}

void slicing_analysis_deinit(struct slicing_analysis *a)
{
	if (a->is_there)
		regions_deinit(&a->regions);
	memory_deinit(&a->memory);
	free(a->coarse);
	*a = (struct slicing_analysis){0};
}

static void tell(void *data, const char *what, uint64_t done)
{
	struct slicing_progress *p = data;

	p->line.what = what;
	progress_update(&p->line, done, 0);
}

void slicing_progress_start(struct slicing_progress *p, struct code *c)
{
	p->watch = (struct watch){tell, p};
	progress_start(&p->line, "");
	c->watch = &p->watch;
}

void slicing_progress_end(struct slicing_progress *p)
{
	progress_end(&p->line);
}

/* analysis.c - makes the finer analysis, or the coarser one where memory is short, and shows how far it is (analysis.h). */
#include "cli/slicing/analysis.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/slice.h"

/* Keeps what an error says, and frees it. */
static struct error *take_message(struct error *why, char **ret)
{
	*ret = strdup(why->message);
	error_destroy(why);
	return *ret ? NULL : &error_no_memory;
}

static void free_all_but_why(struct slicing_analysis *a)
{
	if (a->is_there)
		regions_deinit(&a->regions);
	memory_deinit(&a->memory);
	a->is_there = false;
}

static struct error *find_out(const struct slicing_cache_key *key, struct slicing_analysis *spare,
			      struct slicing_analysis *ret)
{
	struct error *err = memory_analyse(key->code, key->runs, key->limit, &ret->memory);

	if (err && err->code == ERROR_OVERFLOW) {
		err = take_message(err, &ret->coarse);
		if (spare)
			free_all_but_why(spare);
		if (!err)
			err = memory_analyse_coarsely(key->code, key->runs, &ret->memory);
	}
	return err ? err : regions_find(&ret->memory, key->runs, &ret->regions);
}

struct error *slicing_analyse(const struct slicing_cache_key *key, struct slicing_analysis *spare,
			      struct slicing_analysis *ret)
{
	struct error *err = NULL;

	ret->is_there = slicing_cache_read(key, &ret->coarse, &ret->memory, &ret->regions);
	if (ret->is_there && ret->memory.is_coarse && spare)
		free_all_but_why(spare);
	if (ret->is_there)
		return NULL;
	err = find_out(key, spare, ret);
	ret->is_there = !err;
	return err ? err : slicing_cache_write(key, ret->coarse, &ret->memory, &ret->regions);
}

/* The less, the more LLVM needs for the code. Of the code alone, so that it is the same on each machine. */
static size_t counted_limit_mb(const struct code *c)
{
	size_t code_mb = (size_t)c->instruction_count * CODE_BYTES_PER_INSTRUCTION >> 20, rest_mb;

	rest_mb = COUNTED_WITH_CODE_MB > code_mb ? COUNTED_WITH_CODE_MB - code_mb : 0;
	return rest_mb > COUNTED_LIMIT_MB       ? COUNTED_LIMIT_MB
	       : rest_mb > COUNTED_LIMIT_MIN_MB ? rest_mb
						: COUNTED_LIMIT_MIN_MB;
}

struct pointers_limit slicing_limit(size_t mb, size_t msteps, const struct code *counted)
{
	if (!mb)
		mb = counted ? counted_limit_mb(counted) : SLICE_LIMIT_MB;
	if (!msteps)
		msteps = counted ? COUNTED_LIMIT_MSTEPS : SLICE_LIMIT_MSTEPS;
	return (struct pointers_limit){.bytes = mb << 20, .steps = (uint64_t)msteps * SLICING_MILLION};
}

struct error *slicing_take_slice(const struct slice *s, const struct slice_request *request, char **coarse)
{
	if (!s->is_coarse || *coarse)
		return NULL;
	return asprintf(coarse, "the slice needs more than %" PRIu64 " million steps",
			request->limit_steps / SLICING_MILLION) < 0
		       ? &error_no_memory
		       : NULL;
}

void slicing_analysis_deinit(struct slicing_analysis *a)
{
	free_all_but_why(a);
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

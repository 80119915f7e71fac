/* profile_ran.c - pairs functions of a profile and of the bitcode by name and graph, and takes counts from one to the other (profile_ran.h). */
#include "model/slices/profile_ran.h"

#include <string.h>

#include "base/text.h"

struct pairing {
	const struct path_profile *profile;
	const struct code *code;
	uint32_t image; /* of the profile, which the bitcode is of */
	struct arena arena;
	struct hashmap names; /* link names in the image */
	uint32_t *first;      /* [names.count] in the profile's functions */
	uint32_t *count;
	struct profile_ran_count counts;
	struct ran *ran;
};

static struct error *check_recordings(const struct path_profile *p)
{
	for (size_t i = 0; i < p->recordings.count; i++) {
		const struct path_recording *r = &p->recordings.items[i];

		if (r->truncated || r->uncommitted || r->header.dropped_path_tables || r->header.dropped_paths)
			return error_create(ERROR_MISMATCH,
					    "%s: counts of paths are lost, so it is not known what did not run",
					    r->path);
	}
	return NULL;
}

static struct error *find_image(struct pairing *m, const struct build_id *program)
{
	for (size_t i = 0; i < m->profile->images.count; i++) {
		const struct path_image *image = m->profile->images.items[i];

		if (!build_id_equal(&image->build_id, program))
			continue;
		if (!image->has_meta)
			break;
		m->image = (uint32_t)i;
		return NULL;
	}
	return error_create(ERROR_MISMATCH,
			    "no paths of this build of the program are recorded: it must have been built with "
			    "--wm=trace,paths, and recorded");
}

static struct error *name_functions(struct pairing *m)
{
	size_t total = m->profile->functions.count;
	struct error *err = NULL;

	m->first = arena_calloc(&m->arena, total + 1, sizeof *m->first);
	m->count = arena_calloc(&m->arena, total + 1, sizeof *m->count);
	if (!m->first || !m->count)
		return &error_no_memory;
	for (uint32_t i = 0; i < total && !err; i++) {
		const struct path_function *f = &m->profile->functions.items[i];
		struct key key;
		uint32_t number, before = m->names.count;

		/* Of two versions of a function the one that was not linked never ran. */
		if (f->image != m->image || !f->meta || f->is_superseded)
			continue;
		key = key_of_text(f->link_name);
		err = hashmap_add(&m->names, &key, &number);
		if (err)
			break;
		if (number == before)
			m->first[number] = i;
		m->count[number]++;
	}
	return err;
}

/* The only function of that name; NULL: none, or several. */
static const struct path_function *find(const struct pairing *m, uint32_t function)
{
	uint32_t unit, number;
	const char *name = code_origin(m->code, function, &unit);
	struct key key;

	if (!name)
		return NULL;
	key = key_of_text(name);
	if (!hashmap_find(&m->names, &key, &number) || m->count[number] != 1)
		return NULL;
	return &m->profile->functions.items[m->first[number]];
}

/* What has no count did not run. */
static bool is_whole(const struct path_function *f)
{
	return !f->is_part && !f->residual && !f->unfinished;
}

static struct error *tell_counts(struct pairing *m, const struct ran_nodes *nodes, const struct path_function *f)
{
	const struct cfg *g = &f->meta->cfg;
	uint8_t *ran = arena_calloc(&m->arena, (size_t)g->node_count + 1, 1);
	uint8_t *taken = arena_calloc(&m->arena, (size_t)g->edge_count + 1, 1);

	if (!ran || !taken)
		return &error_no_memory;
	for (uint32_t i = 0; i < g->node_count; i++)
		ran[i] = f->blocks[i] != 0;
	for (uint32_t i = 0; i < g->edge_count; i++)
		taken[i] = f->edges[i] != 0;
	ran_tell_all(m->ran, nodes, g, ran, taken);
	return NULL;
}

/* Of the counting itself. */
static bool is_own(const struct pairing *m, uint32_t function)
{
	uint32_t unit;
	const char *name = code_origin(m->code, function, &unit);

	return name && text_begins(name, "wm1.");
}

static struct error *tell(struct pairing *m, uint32_t function)
{
	const struct code_function *code = &m->code->functions[function];
	const struct path_function *f = find(m, function);
	struct ran_nodes nodes;
	bool fits = false;
	struct error *err;

	m->counts.functions++;
	if (!f) {
		m->counts.unknown++;
		return NULL;
	}
	if (!is_whole(f)) {
		m->counts.part++;
		return NULL;
	}
	err = ran_number(m->code, function, &f->meta->cfg, &m->arena, &nodes, &fits);
	if (err)
		return err;
	if (fits)
		return tell_counts(m, &nodes, f);
	if (!f->activations && !f->inherited)
		memset(&m->ran->runs[code->first_block], false, code->block_count);
	else
		m->counts.unknown++;
	return NULL;
}

struct error *profile_ran(const struct path_profile *p, const struct build_id *program, const struct code *code,
			  struct ran *ret, struct profile_ran_count *ret_count)
{
	struct ran ran = {0};
	struct pairing m = {.profile = p, .code = code, .ran = &ran};
	struct error *err = check_recordings(p);

	if (!err)
		err = find_image(&m, program);
	if (!err)
		err = name_functions(&m);
	if (!err)
		err = ran_init(code, &ran);
	for (uint32_t i = 0; i < code->function_count && !err; i++)
		if (code->functions[i].block_count && !is_own(&m, i))
			err = tell(&m, i);
	hashmap_deinit(&m.names);
	arena_deinit(&m.arena);
	if (err) {
		ran_deinit(&ran);
		return err;
	}
	*ret = ran;
	*ret_count = m.counts;
	return NULL;
}

/*
 * snapshot.c - opens a core or a process: threads and mappings, then modules, then frames.
 */
#include <stdio.h>
#include <stdlib.h>

#include "snapshot/source/source.h"

static struct error *open_source(const char *name, const struct snapshot_options *options, struct snapshot *s)
{
	struct snapshot_source *source = calloc(1, sizeof *source);

	*s = (struct snapshot){.source = source, .refused_call = -1};
	arena_init(&s->arena);
	if (!source)
		return &error_no_memory;
	source->memory_fd = -1;
	source->search = options->search;
	source->name = arena_strdup(&s->arena, name);
	return source->name ? NULL : &error_no_memory;
}

static struct error *describe(const struct snapshot_options *options, struct snapshot *s)
{
	struct snapshot_source *source = s->source;
	struct error *err = snapshot_find_modules(s, options);

	if (!err)
		err = snapshot_walk(s, options->frame_limit);
	s->notes = source->notes.items;
	s->note_count = (uint32_t)source->notes.count;
	return err;
}

/* Takes err, which is why there is nothing to describe, and s. */
static struct error *finish(struct error *err, const struct snapshot_options *options, struct snapshot *s,
			    struct snapshot *ret)
{
	if (!err)
		err = describe(options, s);
	if (err)
		snapshot_close(s);
	else
		*ret = *s;
	return err;
}

struct error *snapshot_open_core(const char *core, const struct snapshot_options *options, struct snapshot *ret)
{
	struct snapshot s;
	struct error *err = open_source(core, options, &s);

	if (!err)
		err = snapshot_read_core(core, &s);
	return finish(err, options, &s, ret);
}

struct error *snapshot_open_process(pid_t pid, const struct snapshot_options *options, struct snapshot *ret)
{
	struct snapshot s;
	char name[32];
	struct error *err;

	snprintf(name, sizeof name, "process %d", (int)pid);
	err = open_source(name, options, &s);
	if (!err)
		err = snapshot_seize(pid, &s);
	return finish(err, options, &s, ret);
}

void snapshot_close(struct snapshot *s)
{
	struct snapshot_source *source = s->source;

	if (source) {
		snapshot_free_lines(s);
		snapshot_free_statics(s);
		snapshot_free_modules(s);
		snapshot_release(s);
		snapshot_note_vec_deinit(&source->notes);
		snapshot_raw_thread_vec_deinit(&source->threads);
		snapshot_mapping_vec_deinit(&source->mappings);
		snapshot_segment_vec_deinit(&source->segments);
		file_unmap(&source->core);
		free(source);
	}
	arena_deinit(&s->arena);
	*s = (struct snapshot){0};
}

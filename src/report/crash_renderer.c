/* crash_renderer.c - the table of formats of crashes, and what they share. */
#include "report/crash_renderer.h"

static const struct crash_renderer renderers[] = {
	{{"text", "stacks with the last paths of each frame as source lines, for reading"}, crash_render_text, 3, true},
	{{"json", "everything, for programs; docs/format.md describes it"}, crash_render_json, 0, true},
	{{"html", "one page: stacks, paths step by step, the source and what of it ran"}, crash_render_html, 16, true},
	{{"lcov", "lines that ran (1) and that cannot have run (0), for genhtml and others"},
	 crash_render_lcov,
	 0,
	 true},
	{.format = {0}},
};

const struct format_table crash_formats = {renderers, sizeof *renderers};

void crash_frames_left_out(const struct crash_report *r, uint32_t count, uint32_t *ret_from, uint32_t *ret_to)
{
	uint32_t outer = r->frame_limit / 4;

	*ret_from = *ret_to = count;
	if (!r->frame_limit || count <= r->frame_limit)
		return;
	*ret_from = r->frame_limit - outer;
	*ret_to = count - outer;
}

uint32_t crash_function_id(const struct crash *c, const struct crash_frame *f)
{
	return c->first_function[f->image] + (uint32_t)(f->meta - c->images[f->image].trace.meta.functions);
}

struct path_walk crash_path_walk(const struct crash *c, const struct crash_thread *t, const struct crash_frame *f,
				 const struct crash_path *path)
{
	const struct crash_image *image = &c->images[f->image];
	const struct crash_frame *innermost = f; /* of the same machine frame */
	struct path_walk walk = {
		.flow = f->flow,
		.numbering = &image->numberings[f->meta - image->trace.meta.functions],
		.stage = image->trace.flow.units[f->flow->unit].stage,
		.path = path ? &path->path : NULL,
		.is_partial = path && !path->is_complete,
	};

	if (walk.stage == PATHMETA_FINAL)
		while (innermost > t->frames && innermost[-1].machine == f->machine)
			innermost--;
	walk.stop_line = innermost->line;
	walk.stop_column = innermost->column;
	walk.stop_function = innermost == f ? NULL : innermost->function;
	walk.stop_file = innermost->file;
	return walk;
}

struct error *crash_path_steps(const struct crash *c, const struct crash_thread *t, const struct crash_frame *f,
			       const struct crash_path *path, struct sources *sources, struct path_steps *ret)
{
	struct path_walk walk = crash_path_walk(c, t, f, path);

	walk.sources = sources;
	return path_steps_walk(&walk, ret);
}

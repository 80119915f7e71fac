/* crash_steps.c - a path of a frame ends where the frame is, which may be in code inlined into it. */
#include "model/crash/crash_steps.h"

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

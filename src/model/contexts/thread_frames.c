/* thread_frames.c - adds the frames of a context anew, below the thread's; they are the same records. */
#include "model/contexts/thread_frames.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static struct error *add_thread(struct profile *p, uint32_t tid, const char *name, uint32_t *ret)
{
	char *text = NULL;
	struct error *err = &error_no_memory;
	int len = name  ? asprintf(&text, "[thread %s]", name)
		  : tid ? asprintf(&text, "[thread %" PRIu32 "]", tid)
			: asprintf(&text, "[thread ?]");

	if (len < 0)
		return err;
	err = profile_add_frame(p, 0, &(struct frame){.name = text, .link_name = text, .flags = FRAME_ROOT}, ret);
	free(text);
	return err;
}

/* The frames of the node anew, below another one. */
static struct error *add_below(struct profile *p, uint32_t node, uint32_t below, uint32_t *ret)
{
	uint32_t depth = p->nodes.items[node].depth, *frames = calloc(depth ? depth : 1, sizeof *frames);
	struct error *err = frames ? NULL : &error_no_memory;

	for (uint32_t at = node, i = depth; !err && i-- > 0; at = p->nodes.items[at].parent)
		frames[i] = p->nodes.items[at].frame;
	for (uint32_t i = 0; !err && i < depth; i++)
		err = profile_add_node(p, below, frames[i], &below);
	if (!err)
		*ret = below;
	free(frames);
	return err;
}

struct error *thread_frames_add(struct profile *p, uint32_t node, uint32_t tid, const char *name, uint32_t *ret)
{
	uint32_t thread;

	return add_thread(p, tid, name, &thread) ?: add_below(p, node, thread, ret);
}

struct error *thread_frames_add_label(struct profile *p, uint32_t node, const char *key, const char *value,
				      uint32_t *ret)
{
	char *text = NULL;
	uint32_t label;
	struct error *err;

	if (asprintf(&text, "[%s=%s]", key, value ? value : "?") < 0)
		return &error_no_memory;
	err = profile_add_frame(p, 0, &(struct frame){.name = text, .link_name = text, .flags = FRAME_ROOT}, &label);
	free(text);
	return err ? err : add_below(p, node, label, ret);
}

/* task_frames.c - compares frames by their functions: calls in one function are at other lines than the beginning of the task. */
#include "model/contexts/task_frames.h"

#include <stdlib.h>
#include <string.h>

VEC_DECLARE(path_vec, uint32_t);

static const struct frame task_frame = {.name = "[task]", .link_name = "[task]", .flags = FRAME_ROOT};

/* Functions of waymark.h that begin a task, in C++ with their parameters, and foreign code that called what does: who has called them has. */
static bool is_beginning(const struct frame *frame)
{
	static const char *const names[] = {"wm_task_begin", "wm_capture", "wm_task::wm_task"};

	if (frame->flags & FRAME_FOREIGN)
		return true;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		size_t len = strlen(names[i]);

		if (strncmp(frame->name, names[i], len) == 0 && (!frame->name[len] || frame->name[len] == '('))
			return true;
	}
	return false;
}

bool task_frames_is_creation(const struct frame *frame)
{
	return frame->flags & FRAME_FOREIGN &&
	       (strcmp(frame->name, "[pthread_create]") == 0 || strcmp(frame->name, "[thrd_create]") == 0);
}

/* It says nothing of the task: that of Waymark.task, or no function. */
static bool is_left_out(const struct frame *frame)
{
	static const char own[] = "dev.waymark.Waymark$Task.";

	return frame->flags & FRAME_ROOT || strncmp(frame->name, own, sizeof own - 1) == 0;
}

/* The last common frame is that of the function in which the task has begun; so long must lists agree. */
static bool is_running(size_t common, size_t begun_count)
{
	return common && common + 1 >= begun_count;
}

/* ---- lists ---- */

/* Where in `plain` the function is that the task has begun in; SIZE_MAX: it does not run. */
static size_t find_in_list(const struct frame_vec *plain, const struct frame_vec *begun)
{
	size_t count = begun->count, common = 0;

	while (count && is_beginning(&begun->items[count - 1]))
		count--;
	while (common < count && common < plain->count &&
	       strcmp(plain->items[common].link_name, begun->items[common].link_name) == 0)
		common++;
	if (!is_running(common, count))
		return SIZE_MAX;
	return common - !is_left_out(&plain->items[common - 1]);
}

struct error *task_frames_append(const struct frame_vec *plain, const struct frame_vec *begun, size_t start,
				 struct frame_vec *frames)
{
	size_t first = find_in_list(plain, begun);
	struct error *err = NULL;

	if (first == SIZE_MAX) {
		frames->count = start;
		first = 0;
	} else {
		err = frame_vec_append(frames, task_frame);
	}
	for (size_t i = first; i < plain->count && !err; i++)
		err = frame_vec_append(frames, plain->items[i]);
	return err;
}

/* ---- trees ---- */

/* The frames from the root to a node, by their numbers. */
static struct error *read_path(const struct profile *p, uint32_t node, struct path_vec *ret)
{
	size_t depth = p->nodes.items[node].depth;
	struct error *err = path_vec_reserve(ret, depth + 1);

	if (err)
		return err;
	ret->count = depth;
	for (size_t i = depth; i-- > 0; node = p->nodes.items[node].parent)
		ret->items[i] = p->nodes.items[node].frame;
	return NULL;
}

static size_t find_in_tree(const struct profile *p, const struct path_vec *plain, const struct path_vec *begun)
{
	size_t count = begun->count, common = 0;

	while (count && is_beginning(&p->frames.items[begun->items[count - 1]]))
		count--;
	while (common < count && common < plain->count &&
	       p->frames.items[plain->items[common]].link_name == p->frames.items[begun->items[common]].link_name)
		common++;
	if (!is_running(common, count))
		return SIZE_MAX;
	return common - !is_left_out(&p->frames.items[plain->items[common - 1]]);
}

static struct error *join(struct profile *p, const struct path_vec *plain, size_t first, uint32_t node, uint32_t *ret)
{
	struct error *err;

	if (p->nodes.items[node].depth + plain->count - first >= p->max_depth)
		return error_create(ERROR_OVERFLOW, "deeper than %zu frames (--max-depth)", p->max_depth);
	err = profile_spend(p, plain->count);
	if (!err)
		err = profile_add_frame(p, node, &task_frame, &node);
	for (size_t i = first; i < plain->count && !err; i++)
		err = profile_add_node(p, node, plain->items[i], &node);
	if (!err)
		*ret = node;
	return err;
}

struct error *task_frames_join(struct profile *p, uint32_t plain, uint32_t begun, uint32_t enqueued, uint32_t *ret)
{
	struct path_vec of_plain = {0}, of_begun = {0};
	struct error *err = read_path(p, plain, &of_plain) ?: read_path(p, begun, &of_begun);
	size_t first = err ? 0 : find_in_tree(p, &of_plain, &of_begun);

	if (!err && first == SIZE_MAX)
		*ret = plain;
	else if (!err)
		err = join(p, &of_plain, first, enqueued, ret);
	path_vec_deinit(&of_plain);
	path_vec_deinit(&of_begun);
	return err;
}

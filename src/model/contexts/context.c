/*
 * context.c - walks the interned prefix down to its root, then decodes piece by piece, outermost first. Iterative: depth is
 * bounded by memory only. A run of equal pushes is decoded once and copied.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "model/contexts/context.h"
#include "model/contexts/task_frames.h"
#include "waymark/abi.h"

VEC_DECLARE(node_vec, struct wmk_node);

/* Stands for what was called since the last push, where a handler interrupted it: it is not known. */
static const struct frame interrupted_frame = {
	.name = "[interrupted]", .link_name = "[interrupted]", .flags = FRAME_ELIDED};

struct error *context_append_root(uint32_t prefix, struct frame_vec *frames)
{
	struct frame frame = {.flags = FRAME_ROOT};

	switch (prefix) {
	case WM_PREFIX_PROCESS:
		return NULL;
	case WM_PREFIX_THREAD:
		frame.name = "[thread]";
		break;
	case WM_PREFIX_SIGNAL:
		frame.name = "[signal]";
		break;
	case WM_PREFIX_LOST:
		frame.name = "[lost]";
		break;
	case WM_PREFIX_NO_DATA:
		frame.name = "[no unwind data]";
		break;
	case WM_PREFIX_TOO_DEEP:
		frame.name = "[too deep]";
		break;
	case WM_PREFIX_NOT_KEPT:
		frame.name = "[not kept]";
		break;
	default:
		return error_create(ERROR_FORMAT, "damaged: prefix %" PRIu32 " is no kind of root", prefix);
	}
	frame.link_name = frame.name;
	return frame_vec_append(frames, frame);
}

static bool is_pushed_by_name(enum meta_site_kind kind)
{
	return kind == META_SITE_FOREIGN || kind == META_SITE_BOUND;
}

static bool is_pushed_unknown(enum meta_site_kind kind)
{
	return kind == META_SITE_INDIRECT || kind == META_SITE_ASM || is_pushed_by_name(kind);
}

static struct error *wrong_start(const struct image *image, uint32_t start, const char *why)
{
	return error_create(ERROR_FORMAT, "damaged: the numbers lead to %s, %s", image->meta.functions[start].link_name,
			    why);
}

/* Other images call the function by that name: its own or an alias. */
static bool function_is_called(const struct meta *m, uint32_t function, const char *link_name)
{
	const struct meta_function *f = &m->functions[function];

	if ((f->flags & META_FUNCTION_EXPORTED) && strcmp(f->link_name, link_name) == 0)
		return true;
	for (uint32_t i = 0; i < m->alias_count; i++)
		if (m->aliases[i].function == function && strcmp(m->aliases[i].link_name, link_name) == 0)
			return true;
	return false;
}

/* A piece stands on a push that does not know its callee: where it starts must be a root. Appends the [foreign] frame unless
 * the callee by name is the function itself, in whatever image. */
static struct error *check_unknown_callee(struct image *below_image, uint32_t below_site, const struct image *image,
					  const struct context_piece *piece, struct frame_vec *frames)
{
	const struct meta_site *s = &below_image->meta.sites[below_site];
	struct frame frame;
	struct error *err;

	if (!piece->starts_at_root)
		return wrong_start(image, piece->start, "which an unknown caller cannot reach");
	if (!is_pushed_by_name(s->kind))
		return NULL;
	if (!(s->flags & META_SITE_SELF) && function_is_called(&image->meta, piece->start, s->foreign))
		return NULL;
	err = image_foreign_frame(below_image, below_site, &frame);
	return err ? err : frame_vec_append(frames, frame);
}

/* A piece stands on a push whose callees are known, and starts at none of them. */
static struct error *wrong_callee(const struct image *below_image, uint32_t below_site, uint32_t epoch,
				  const struct image *image, uint32_t start)
{
	enum meta_site_kind kind = below_image->meta.sites[below_site].kind;

	if (kind == META_SITE_CALLEES)
		return error_create(ERROR_FORMAT,
				    "damaged: site %" PRIu32 " of %s has no call to %s that pushes in epoch %" PRIu32,
				    image_site_number(below_image, below_site), below_image->meta.unit,
				    image->meta.functions[start].link_name, epoch);
	if (kind == META_SITE_CALL || kind == META_SITE_CAPTURE)
		return error_create(ERROR_FORMAT, "damaged: site %" PRIu32 " of %s does not push",
				    image_site_number(below_image, below_site), below_image->meta.unit);
	return wrong_start(image, start, "the call before it to another function");
}

static struct error *check_start(const struct process *p, const struct context_below *below, struct image *image,
				 const struct context_piece *piece, struct frame_vec *frames)
{
	struct image *below_image;
	uint32_t below_site;
	bool is_callee = false;
	struct error *err;

	if (below->is_root) {
		if (below->root != WM_PREFIX_LOST && !piece->starts_at_root)
			return wrong_start(image, piece->start, "which is no place to begin");
		return NULL;
	}
	err = process_find_site(p, below->site, &below_image, &below_site);
	if (!err && below_image == image)
		err = image_is_pushed_to(image, below->epoch, below_site, piece->start, below->is_elided, &is_callee);
	if (err || is_callee)
		return err;
	if (is_pushed_unknown(below_image->meta.sites[below_site].kind))
		return check_unknown_callee(below_image, below_site, image, piece, frames);
	return wrong_callee(below_image, below_site, below->epoch, image, piece->start);
}

/* is_called: by an encoded call, whatever the piece begins with. */
static struct error *append_decoded(const struct process *p, const struct context_below *below, struct image *image,
				    const struct context_piece *piece, bool is_elided, bool is_called,
				    struct frame_vec *frames)
{
	struct error *err = NULL;

	if (is_called && !piece->edge_count)
		return wrong_start(image, piece->start, "which nothing of this image has called");
	err = is_elided ? frame_vec_append(frames, tail_frames_elided) : check_start(p, below, image, piece, frames);
	for (uint32_t i = 0; !err && i < piece->edge_count; i++)
		err = image_append_site(image, context_piece_site(piece, i), frames);
	return err;
}

struct error *context_append_callers(const struct process *p, const struct context_below *below, struct image *image,
				     uint32_t function, uint64_t id, struct frame_vec *frames)
{
	struct context_piece piece;
	struct error *err = image_decode_piece(image, WM_EPOCH_COMPILED, function, 0, id, below->history, &piece);

	return err ? err : append_decoded(p, below, image, &piece, false, false, frames);
}

/* The functions between a frame that was walked and the one under it that tail calls replaced. */
static struct error *append_tails(const struct process *p, const struct context_below *below, struct image *image,
				  uint32_t local, struct frame_vec *frames)
{
	struct image *below_image;
	uint32_t call;
	struct error *err;

	/* A guess may have passed over frames. */
	if (below->is_root || below->epoch != WM_EPOCH_WALKED || below->is_guessed || image != p->recorded)
		return NULL;
	err = process_find_site(p, below->site, &below_image, &call);
	if (err || below_image != image || image->meta.sites[call].kind != META_SITE_CALLEES)
		return err;
	return tail_frames_append(p->tails, call, local, frames);
}

/* A frame that a walk of the stack found, and what was inlined there. */
static struct error *append_walked(const struct process *p, const struct context_below *below, uint64_t id,
				   uint32_t site, struct frame_vec *frames)
{
	size_t before;
	struct image *image;
	uint32_t local;
	struct error *err = process_find_site(p, site, &image, &local);

	if (!err && id & ~WM_WALKED_GUESSED)
		err = error_create(ERROR_FORMAT, "damaged: a walked frame with id %" PRIu64, id);
	if (!err)
		err = append_tails(p, below, image, local, frames);
	before = frames->count;
	if (!err)
		err = image_append_site(image, local, frames);
	for (size_t i = before; !err && i < frames->count; i++)
		frames->items[i].flags |= id & WM_WALKED_GUESSED ? FRAME_GUESSED : 0;
	return err;
}

struct error *context_append_piece(const struct process *p, const struct context_below *below, uint32_t epoch,
				   uint64_t id, uint32_t site, struct frame_vec *frames)
{
	struct image *image;
	const struct meta_site *s;
	struct context_piece piece;
	uint32_t local;
	struct error *err;

	if (epoch == WM_EPOCH_WALKED)
		return append_walked(p, below, id, site, frames);
	err = process_find_site(p, site & ~WM1_SITE_ELIDED, &image, &local);
	if (err)
		return err;
	s = &image->meta.sites[local];
	err = image_decode_piece(image, epoch, s->caller, local, id, below->history, &piece);
	if (!err)
		err = append_decoded(p, below, image, &piece, site & WM1_SITE_ELIDED, s->kind == META_SITE_BOUND,
				     frames);
	if (err || s->kind == META_SITE_BOUND || s->kind == META_SITE_ENTRY ||
	    s->flags & (META_SITE_SELF | META_SITE_SPILLS))
		return err; /* the function does not run, or begins above */
	return image_append_site(image, local, frames);
}

static struct error *append_foreign_leaf(const struct process *p, const struct context_below *below, uint64_t id,
					 struct frame_vec *frames)
{
	struct image *image;
	struct frame frame = {.name = "[foreign]", .link_name = "[foreign]", .flags = FRAME_FOREIGN};
	uint32_t local;
	struct error *err;

	if (id != 0)
		return error_create(ERROR_FORMAT, "damaged: id %" PRIu64 " in foreign code", id);
	if (below->is_root) /* [thread] and the like say it already */
		return below->root == WM_PREFIX_PROCESS ? frame_vec_append(frames, frame) : NULL;
	err = process_find_site(p, below->site, &image, &local);
	if (err)
		return err;
	if (!is_pushed_unknown(image->meta.sites[local].kind))
		return error_create(ERROR_FORMAT, "damaged: site %" PRIu32 " of %s does not call foreign code",
				    image_site_number(image, local), image->meta.unit);
	err = image_foreign_frame(image, local, &frame);
	return err ? err : frame_vec_append(frames, frame);
}

/* The functions of waymark.h that call the agent are inlined in their caller, or copies in its file: the point is that caller's. */
static bool is_of_header(const struct frame *frame)
{
	static const char *const names[] = {"wm_capture", "wm_token", "wm_event", "wm_task_begin"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!(frame->flags & FRAME_FOREIGN) && strcmp(frame->link_name, names[i]) == 0)
			return true;
	return false;
}

struct error *context_append_leaf(const struct process *p, const struct context_below *below, uint32_t epoch,
				  uint64_t id, uint32_t site, struct frame_vec *frames)
{
	size_t before = frames->count;
	struct image *image;
	uint32_t local;
	struct error *err;

	if (site == WM_SITE_FOREIGN)
		return append_foreign_leaf(p, below, id, frames);
	err = process_find_site(p, site, &image, &local);
	if (!err && image->meta.sites[local].kind != META_SITE_CAPTURE)
		err = error_create(ERROR_FORMAT, "damaged: site %" PRIu32 " of %s does not capture",
				   image_site_number(image, local), image->meta.unit);
	if (!err)
		err = context_append_piece(p, below, epoch, id, site, frames);
	while (!err && frames->count > before && is_of_header(&frames->items[frames->count - 1]))
		frames->count--;
	return err;
}

struct error *context_find_node(const struct process *p, uint32_t prefix, struct wmk_node *ret)
{
	if (prefix < WM_PREFIX_FIRST)
		return error_create(ERROR_FORMAT, "damaged: prefix %" PRIu32 " means nothing", prefix);
	if (!p->wmk)
		return error_create(ERROR_NOT_FOUND, "no .wmk of its run found");
	if (!wmk_find_node(p->wmk, prefix, ret))
		return error_create(ERROR_NOT_FOUND, "prefix %" PRIu32 " was not recorded in %s", prefix, p->wmk->name);
	if (ret->run == 0)
		return error_create(ERROR_FORMAT, "damaged: prefix %" PRIu32 " in %s has no push", prefix,
				    p->wmk->name);
	return NULL;
}

/* The pushes below the capture, innermost first, and the root they end at; a task, the last one, ends them, too. */
static struct error *collect_nodes(const struct process *p, uint32_t prefix, struct node_vec *nodes, uint32_t *ret_root)
{
	struct error *err = NULL;

	while (prefix < WM_PREFIX_PROCESS || prefix >= WM_PREFIX_FIRST) {
		struct wmk_node node;

		err = context_find_node(p, prefix, &node);
		if (!err && nodes->count >= p->wmk->place_count[WMK_NODES])
			err = error_create(ERROR_FORMAT, "damaged: the prefixes of %s go in a circle", p->wmk->name);
		if (!err)
			err = node_vec_append(nodes, node);
		if (err || node.site == WM_SITE_TASK)
			return err;
		prefix = node.parent;
	}
	*ret_root = prefix;
	return NULL;
}

static struct error *too_deep(size_t max_depth)
{
	return error_create(ERROR_OVERFLOW, "deeper than %zu frames (--max-depth)", max_depth);
}

/* Repeats items[first..count) `times` times more. */
static struct error *repeat_frames(struct frame_vec *frames, size_t first, uint32_t times, size_t depth_end)
{
	size_t len = frames->count - first;
	struct error *err;

	if (!len) /* such pushes are no frames, and there may be four billions of them */
		return NULL;
	if (times > (depth_end > frames->count ? depth_end - frames->count : 0) / len)
		return too_deep(depth_end);
	err = frame_vec_reserve(frames, frames->count + len * times + 1);
	if (err)
		return err;
	for (uint32_t i = 0; i < times; i++, frames->count += len)
		memcpy(frames->items + frames->count, frames->items + first, len * sizeof frames->items[0]);
	return NULL;
}

/* What stands on a push begins with the history of the push, unless that was pushed for want of room; only compiled code has one. */
static struct context_history history_above(const struct process *p, uint32_t history, const struct wmk_node *node)
{
	struct image *image;
	uint32_t local;
	struct error *err;

	if (node->epoch != WM_EPOCH_COMPILED)
		return context_history_none;
	err = process_find_site(p, node->site & ~WM1_SITE_ELIDED, &image, &local);
	if (err)
		history = WM1_HISTORY_NONE;
	else if (image->meta.sites[local].kind == META_SITE_SELF_CALL)
		history = image->meta.sites[local].flags & META_SITE_SPILLS ? 0 : WM1_HISTORY_NONE;
	error_destroy(err);
	return (struct context_history){history, history};
}

struct context_below context_above(const struct process *p, const struct context_below *below,
				   const struct wmk_node *node)
{
	struct context_below above = *below;

	switch (node->site) {
	case WM_SITE_TASK:
		return (struct context_below){
			.is_root = true, .root = WM_PREFIX_THREAD, .is_task = true, .history = context_history_none};
	case WM_SITE_THREAD:
		return context_on_root(WM_PREFIX_THREAD);
	case WM_SITE_SIGNAL:
		return context_on_root(WM_PREFIX_SIGNAL);
	case WM_SITE_HISTORY:
		above.history.now = (uint32_t)node->id;
		if (!node->id)
			above.history = context_history_none;
		return above;
	default:
		return (struct context_below){.site = node->site & ~WM1_SITE_ELIDED,
					      .epoch = node->epoch,
					      .is_elided = (node->site & WM1_SITE_ELIDED) != 0,
					      .is_guessed =
						      node->epoch == WM_EPOCH_WALKED && node->id & WM_WALKED_GUESSED,
					      .history = history_above(p, below->history.now, node)};
	}
}

/* Of a thread that was created in a task. */
static void drop_creation(struct frame_vec *frames)
{
	if (frames->count && task_frames_is_creation(&frames->items[frames->count - 1]))
		frames->count--;
}

/* The functions that create threads are what [thread] says. */
static bool is_creation(const char *link_name)
{
	return strcmp(link_name, "pthread_create") == 0 || strcmp(link_name, "thrd_create") == 0;
}

/* A thread that was created in foreign code called from `below`. */
static struct error *append_thread(const struct process *p, const struct context_below *below,
				   const struct wmk_node *node, struct frame_vec *frames)
{
	struct image *image;
	const struct meta_site *s;
	struct frame frame;
	uint32_t local;
	struct error *err = NULL;

	if (node->id != 0 || node->run != 1)
		return error_create(ERROR_FORMAT, "damaged: a thread with id %" PRIu64 ", %" PRIu32 " times", node->id,
				    node->run);
	if (below->is_task)
		drop_creation(frames);
	if (!below->is_root && below->epoch != WM_EPOCH_WALKED) {
		err = process_find_site(p, below->site, &image, &local);
		if (err)
			return err;
		s = &image->meta.sites[local];
		if (!is_pushed_unknown(s->kind))
			return error_create(ERROR_FORMAT, "damaged: site %" PRIu32 " of %s does not call foreign code",
					    image_site_number(image, local), image->meta.unit);
		if (is_pushed_by_name(s->kind) && !is_creation(s->foreign)) {
			err = image_foreign_frame(image, local, &frame);
			if (!err)
				err = frame_vec_append(frames, frame);
		}
	}
	return err ? err : context_append_root(WM_PREFIX_THREAD, frames);
}

/* A handler that interrupted `below`: the point itself, or something that was called from there. */
static struct error *append_signal(const struct process *p, const struct context_below *below,
				   const struct wmk_node *node, struct frame_vec *frames)
{
	bool is_exact = false;
	struct image *image;
	uint32_t local;
	struct error *err = NULL;

	if (node->id != 0 || node->run != 1)
		return error_create(ERROR_FORMAT, "damaged: a signal with id %" PRIu64 ", %" PRIu32 " times", node->id,
				    node->run);
	is_exact = below->epoch == WM_EPOCH_WALKED;
	if (!below->is_root && !is_exact) {
		err = process_find_site(p, below->site, &image, &local);
		is_exact = !err && image->meta.sites[local].kind == META_SITE_CAPTURE;
	}
	if (!err && !is_exact)
		err = frame_vec_append(frames, interrupted_frame);
	return err ? err : context_append_root(WM_PREFIX_SIGNAL, frames);
}

static struct error *check_history(const struct wmk_node *node)
{
	if (node->run == 1 && node->epoch == WM_EPOCH_COMPILED && node->id <= UINT32_MAX)
		return NULL;
	return error_create(ERROR_FORMAT, "damaged: a history %" PRIu64 ", %" PRIu32 " times", node->id, node->run);
}

/* `run` equal pushes: the first stands on what is below, each other on its twin. */
struct error *context_append_run(const struct process *p, struct context_below *below, const struct wmk_node *node,
				 size_t depth_end, struct frame_vec *frames)
{
	struct error *err = node->site == WM_SITE_THREAD   ? append_thread(p, below, node, frames)
			    : node->site == WM_SITE_SIGNAL ? append_signal(p, below, node, frames)
			    : node->site == WM_SITE_HISTORY
				    ? check_history(node)
				    : context_append_piece(p, below, node->epoch, node->id, node->site, frames);
	size_t first = frames->count;
	const uint32_t history = below->history.now;

	*below = context_above(p, below, node);
	if (err || node->run == 1)
		return err;
	below->history.now = history; /* of each of them */
	err = context_append_piece(p, below, node->epoch, node->id, node->site, frames);
	below->history.now = below->history.began;
	return err ? err : repeat_frames(frames, first, node->run - 2, depth_end);
}

static struct error *append_all(const struct process *p, const struct context_key *key, size_t depth_end,
				uint32_t links, struct frame_vec *frames);

/* A context that is kept as a node. */
static struct error *append_capture(const struct process *p, uint32_t number, size_t depth_end, uint32_t links,
				    struct frame_vec *frames)
{
	struct wmk_node node;
	struct error *err = context_find_node(p, number, &node);
	struct context_key key = {.prefix = number};

	if (err)
		return err;
	if (node.site != WM_SITE_TASK)
		key = (struct context_key){node.id, node.parent, node.site, node.epoch};
	return append_all(p, &key, depth_end, links, frames);
}

static struct error *append_task(const struct process *p, const struct wmk_node *node, size_t depth_end, uint32_t links,
				 struct frame_vec *frames)
{
	struct frame_vec plain = {0}, begun = {0};
	size_t start = frames->count;
	struct error *err = NULL;

	if (node->run != 1)
		return error_create(ERROR_FORMAT, "damaged: a task, %" PRIu32 " times", node->run);
	if (links >= WM_TASK_LINKS_MAX)
		return error_create(ERROR_FORMAT, "damaged: tasks in more than %d others", WM_TASK_LINKS_MAX);
	err = append_capture(p, node->parent, depth_end, links + 1, &plain);
	if (!err)
		err = append_capture(p, (uint32_t)(node->id >> 32), depth_end, links + 1, &begun);
	if (!err)
		err = append_capture(p, (uint32_t)node->id, depth_end, links + 1, frames);
	if (!err)
		err = task_frames_append(&plain, &begun, start, frames);
	frame_vec_deinit(&plain);
	frame_vec_deinit(&begun);
	return err;
}

static struct error *append_nodes(const struct process *p, const struct context_key *key, size_t depth_end,
				  uint32_t links, struct node_vec *nodes, struct frame_vec *frames)
{
	struct context_below below = context_on_root(0);
	struct error *err = collect_nodes(p, key->prefix, nodes, &below.root);
	size_t i = nodes->count;

	if (!err && i && nodes->items[i - 1].site == WM_SITE_TASK) {
		err = append_task(p, &nodes->items[--i], depth_end, links, frames);
		below = context_above(p, &below, &nodes->items[i]);
	} else if (!err) {
		err = context_append_root(below.root, frames);
	}
	while (i-- > 0 && !err) {
		err = context_append_run(p, &below, &nodes->items[i], depth_end, frames);
		if (!err && frames->count > depth_end)
			err = too_deep(depth_end);
	}
	if (err)
		return err;
	return context_append_leaf(p, &below, key->epoch, key->id, key->site, frames);
}

static struct error *append_all(const struct process *p, const struct context_key *key, size_t depth_end,
				uint32_t links, struct frame_vec *frames)
{
	struct node_vec nodes = {0};
	struct error *err = append_nodes(p, key, depth_end, links, &nodes, frames);

	node_vec_deinit(&nodes);
	return err;
}

struct error *context_decode(const struct process *p, const struct context_key *key, size_t max_depth,
			     struct frame_vec *frames)
{
	size_t before = frames->count;
	struct error *err;

	if (max_depth == 0)
		max_depth = CONTEXT_DEPTH_MAX;
	err = append_all(p, key, before + max_depth, 0, frames);
	if (!err && frames->count - before > max_depth)
		err = too_deep(max_depth);
	if (err)
		frames->count = before;
	return err;
}

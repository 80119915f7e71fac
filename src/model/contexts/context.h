/*
 * context.h - captured contexts back to frames: PCCE's decoding (ICSE'10, Algorithm 2 and section 4) over the interned
 * context stack of a process. A node WM_SITE_HISTORY has the history of the piece that stands on it (waymark/abi.h). A node WM_SITE_THREAD is where a thread began; below it is the context that created it. A node WM_SITE_TASK names three contexts
 * (task_frames.h), and is what others stand on.
 *
 *      prefix --node--> parent --node--> ... --> root        nodes give (id, site) of each push, outermost last
 *         |
 *         '-- above the last push: (id, site) of the capture
 *
 * Every piece between two pushes is one number, decoded alone by the call graph of the image that its last site is in, as it is
 * encoded in the epoch of the piece. All
 * that is known twice is compared: a pushed direct call with the function at which the next piece starts, and that callees
 * which the site does not know are roots. So damaged numbers end in an ERROR_FORMAT, not in a wrong frame.
 */
#ifndef WM_MODEL_CONTEXTS_CONTEXT_H
#define WM_MODEL_CONTEXTS_CONTEXT_H

#include "model/contexts/context_images.h"
#include "waymark/abi.h"

struct context_key {
	uint64_t id;
	uint32_t prefix;
	uint32_t site; /* number of the process, or WM_SITE_FOREIGN */
	uint32_t epoch;
};

/* Appends the frames, outermost first. On failure frames is as it was. max_depth 0 means CONTEXT_DEPTH_MAX. */
struct error *context_decode(const struct process *p, const struct context_key *key, size_t max_depth,
			     struct frame_vec *frames);

/*
 * The parts of it, for users who keep what they have decoded of common prefixes: `below` is the site of the push that the
 * piece stands on, or the reserved prefix it stands on.
 */
struct context_below {
	uint32_t root; /* a reserved prefix, when is_root */
	uint32_t site; /* without WM1_SITE_ELIDED */
	uint32_t epoch;
	bool is_elided; /* it had WM1_SITE_ELIDED */
	bool is_root;
	bool is_guessed; /* a walk found it by a frame pointer */
	bool is_task;    /* it is a node WM_SITE_TASK (task_frames.h) */
	struct context_history history;
};
static const struct context_history context_history_none = {WM1_HISTORY_NONE, WM1_HISTORY_NONE};
static inline struct context_below context_on_root(uint32_t prefix)
{
	return (struct context_below){.is_root = true, .root = prefix, .history = context_history_none};
}
struct error *context_append_root(uint32_t prefix, struct frame_vec *frames);
/* The frames from `below` to a pushing site (as in a node: WM1_SITE_ELIDED may be set), a [foreign] one between included. */
struct error *context_append_piece(const struct process *p, const struct context_below *below, uint32_t epoch,
				   uint64_t id, uint32_t site, struct frame_vec *frames);
/* Appends `run` equal pushes, after which *below is the last of them. No more than depth_end frames in all. */
struct error *context_append_run(const struct process *p, struct context_below *below, const struct wmk_node *node,
				 size_t depth_end, struct frame_vec *frames);
/* The frames from `below` to a function of an instrumented image that runs with that id, without its own. */
struct error *context_append_callers(const struct process *p, const struct context_below *below, struct image *image,
				     uint32_t function, uint64_t id, struct frame_vec *frames);
/* The context that stands on a node, which stands on `below`. */
struct context_below context_above(const struct process *p, const struct context_below *below,
				   const struct wmk_node *node);
/* The frames from `below` to a capture; site may be WM_SITE_FOREIGN. */
struct error *context_append_leaf(const struct process *p, const struct context_below *below, uint32_t epoch,
				  uint64_t id, uint32_t site, struct frame_vec *frames);
/* The committed node of an interned prefix; ERROR_FORMAT / ERROR_NOT_FOUND when there is none. */
struct error *context_find_node(const struct process *p, uint32_t prefix, struct wmk_node *ret);

#endif

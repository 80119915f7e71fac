/*
 * frame_keys.h - what the frames of a profile have in common: each node gets the number of its function, its line, its module and so on.
 */
#ifndef WM_MODEL_TABLES_FRAME_KEYS_H
#define WM_MODEL_TABLES_FRAME_KEYS_H

#include "base/arena.h"
#include "model/base/profile.h"

enum frame_key {
	KEY_FUNCTION, /* its name */
	KEY_LINE,     /* file, line and function; the function alone where no line is known */
	KEY_MODULE,   /* the file of source, or the class of a method; the image where neither is known */
	KEY_IMAGE,    /* the file that was loaded */
	KEY_THREAD,   /* the outermost frame, in profiles that keep threads */
	KEY_CONTEXT,  /* the names of all frames from the root on */
};

struct frame_keys {
	uint32_t *of_nodes; /* by node; of the root 0 */
	uint32_t *examples; /* by key: the number of a frame that has it */
	uint32_t *nodes;    /* KEY_CONTEXT: by key, a node that has it; else NULL */
	const char **
		names; /* by key, for reading: that of the function, the module ...; KEY_CONTEXT: of the innermost frame */
	uint32_t count;
	struct arena arena; /* of some names; others are the profile's */
};

struct error *frame_keys_create(const struct profile *p, enum frame_key kind, struct frame_keys *ret);
void frame_keys_deinit(struct frame_keys *keys);

/*
 * By node, where its own numbers count: at its caller if the node is a function that allocates (malloc, operator new), else at itself. The
 * caller frees it.
 */
struct error *frame_keys_allocators(const struct profile *p, uint32_t **ret);
/*
 * By node, the key that has its self, for tree_sums: of a metric of the heap by frame_keys_allocators. keys: by node. *ret is NULL where it is
 * the node's own.
 */
struct error *frame_keys_self(const struct profile *p, const struct metric *m, const uint32_t *keys, uint32_t **ret);

#endif

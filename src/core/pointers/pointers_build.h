/*
 * pointers_build.h - the constraint graph as its two files share it: pointers.c makes it, pointers_solve.c solves it. Internal to core/pointers.
 */
#ifndef WM_CORE_POINTERS_POINTERS_BUILD_H
#define WM_CORE_POINTERS_POINTERS_BUILD_H

#include "base/hashmap.h"
#include "core/pointers/id_sets.h"
#include "core/pointers/pointers.h"

enum use_kind {
	USE_LOAD,
	USE_STORE,
	USE_TRANSFER_TO,   /* `other` is the location where it comes from */
	USE_TRANSFER_FROM, /* `other` is the location where it goes to */
	USE_CALL,
};

/*
 * Of what a node leads to. All loads of so many bytes by one pointer have the same answer, and all that stores put there goes to the same places: a
 * node between them and memory has it, so that there are as many edges as places and accesses, not the product.
 */
struct use {
	enum use_kind kind;
	uint32_t other; /* the node between, location or call */
	uint32_t len_bytes;
};

/* Where one step from a node leads: what is moved is found once for all of them. */
struct step_edges {
	struct pointer_step step;
	struct id_set targets; /* nodes */
};

VEC_DECLARE(use_vec, struct use);
VEC_DECLARE(step_vec, struct step_edges);
VEC_DECLARE(cell_ids, uint32_t);

struct node {
	uint32_t same_as;   /* itself, or a node of its cycle */
	struct id_set set;  /* what edges and uses have seen */
	struct id_set more; /* what they have not seen yet; nothing of it is in `set` */
	struct id_set copies;
	struct step_vec steps;
	struct use_vec uses;
};

#define CELL_NOT_READ UINT32_MAX

/* A location as accesses of one size see it. Most are only written, by transfers: what can be loaded is gathered for those that are loaded. */
struct cell {
	uint32_t location, len_bytes;
	uint32_t written; /* node: what was stored to it */
	bool is_awake;    /* a pointer was stored to it: what it meets, and transfers, are connected */
	uint32_t read;    /* node: what can be loaded from it; CELL_NOT_READ: no load has asked yet */
};

/* From what is stored in an object to another one, or itself. */
struct transfer {
	uint32_t from, to; /* locations */
	uint32_t len_bytes;
};
VEC_DECLARE(transfer_vec, struct transfer);

struct object_cells {
	struct cell_ids cells;
	struct cell_ids read;          /* those of them that are loaded */
	struct transfer_vec transfers; /* from it */
	struct id_set given,
		taken; /* of an object between two pointers: locations that it is transferred to, and from */
};

VEC_DECLARE(node_vec, struct node);
VEC_DECLARE(cell_vec, struct cell);
VEC_DECLARE(object_vec, struct object_cells);

/* ---- the coarser analysis, pointers_unify.c ---- */

struct unified_node {
	uint32_t leads_to;                  /* node: a class of objects; UINT32_MAX: none yet, as below */
	uint32_t first_object, last_object; /* as a class: its objects, and the calls of what they are */
	uint32_t first_call, last_call;     /* in unified.calls */
};

struct unified_object {
	uint32_t class; /* node */
	uint32_t next;  /* object of the class */
};

struct unified_call {
	uint32_t call;
	uint32_t next; /* in unified.calls, of the class */
};

/* A call comes to lead to an object. Or two nodes become equal. */
struct told {
	uint32_t call, object;
};

VEC_DECLARE(unified_vec, struct unified_node);
VEC_DECLARE(unified_objects, struct unified_object);
VEC_DECLARE(unified_calls, struct unified_call);
VEC_DECLARE(told_vec, struct told);

struct unified {
	struct unified_vec nodes;
	struct unified_objects objects;
	struct unified_calls calls;
	struct told_vec joins, told;
	bool is_settling;
};

/* The last cell that was looked up, and the last edge: many transfers ask for the same again. */
struct cell_memo {
	uint32_t location, len_bytes, cell; /* len_bytes 0: none yet */
	uint32_t from, to;                  /* nodes; both 0: none yet */
};

struct pointers {
	bool is_coarse; /* all but the locations is in `unified` and the nodes' same_as */
	struct unified unified;
	struct locations locations;
	struct node_vec nodes; /* none after pointers_shrink */
	uint32_t *set_of;      /* [node] in `sets`, after pointers_shrink */
	struct id_set_vec sets;
	struct slotmap set_map;
	struct cell_vec cells;
	struct slotmap cell_map;
	struct object_vec objects;
	struct id_set_vec shared_sets; /* locations that came to several nodes at once; see pointers_apply_all */
	struct slotmap shared_map;
	struct hashmap shared_uses;    /* number of the set, kind and bytes -> shared_others */
	struct cell_ids shared_others; /* as `other` of the use */
	struct hashmap stepped;        /* node and step -> stepped_nodes */
	struct cell_ids stepped_nodes;
	struct cell_ids equal;  /* pairs of nodes between, of pointers that have become one */
	struct cell_ids asleep; /* cells that were not awake when they were last looked at */
	struct cell_memo memo;
	struct location_counts asked; /* [object] the last question that it was in */
	uint32_t question;
	pointers_called called;
	void *data;
	bool has_changed;
	uint32_t waves;
	uint64_t edge_count;
	uint64_t spread_count;
	uint64_t steps; /* as in struct pointers_limit */
	const struct watch *watch;
};

/* The node that stands for the cycle. */
uint32_t pointers_find(struct pointers *p, uint32_t node);
/* Finds or makes it. */
struct error *pointers_cell(struct pointers *p, uint32_t location, uint32_t len_bytes, uint32_t *ret);
struct error *pointers_apply(struct pointers *p, const struct use *use, uint32_t location);
/*
 * Effect of uses on what their node has come to lead to. The same set often comes to many nodes: of the second one on, it has one edge to what the
 * first one has made for all of its locations, a node or an object.
 */
struct error *pointers_apply_all(struct pointers *p, const struct use_vec *uses, const struct id_set *difference);
/* Connects cells that pointers have been stored to since. Most cells of a program never have one. */
struct error *pointers_wake_cells(struct pointers *p);
/* To the set of a node that stands for its cycle. */
struct error *pointers_add_all(struct pointers *p, uint32_t node, const struct id_set *locations);
/* What a step makes of the locations `from`; all: the set that they are of. ret: is empty. */
struct error *pointers_step_all(struct pointers *p, const struct id_set *from, const struct id_set *all,
				const struct pointer_step *step, struct id_set *ret);
/* An edge of a node that stands for its cycle; nothing goes over it. *ret_is_new: is made true, else left alone. */
struct error *pointers_add_step(struct pointers *p, uint32_t from, uint32_t to, const struct pointer_step *step,
				bool *ret_is_new);
/* Frees the edges. */
void pointers_free_steps(struct step_vec *steps);

/* Of the coarser analysis. An access: a load or a store. */
struct error *unify_address(struct pointers *p, uint32_t node, uint32_t object);
struct error *unify_copy(struct pointers *p, uint32_t a, uint32_t b);
struct error *unify_access(struct pointers *p, uint32_t pointer, uint32_t value);
struct error *unify_transfer(struct pointers *p, uint32_t to, uint32_t from);
struct error *unify_call(struct pointers *p, uint32_t pointer, uint32_t call);
/* Sets set_of. */
struct error *unify_solve(struct pointers *p);
void unify_deinit(struct unified *u);

#endif

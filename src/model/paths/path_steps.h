/*
 * path_steps.h - a path as its source lines in the order in which they run, with what each branch on it decided.
 */
#ifndef WM_MODEL_PATHS_PATH_STEPS_H
#define WM_MODEL_PATHS_PATH_STEPS_H

#include "model/paths/path_profile.h"

/* Neighbours differ in file, line or function: a line that several blocks share is one step with all their outcomes. */
struct path_step {
	const char *
		function; /* inlined from there (demangled), equal pointers for equal neighbours; NULL: the function itself */
	const char *file; /* NULL: the compiler gave no place */
	uint32_t line;
	const char *outcome; /* "true, false", "case 7"; NULL: nothing was decided here */
};
VEC_DECLARE(path_step_vec, struct path_step);

/* The lines that show one block of a path. */
struct path_node {
	uint32_t step;       /* that of its outcome: its last line; UINT32_MAX: nothing came before it */
	const char *outcome; /* NULL: nothing was decided at its end, or the path ends there and its end says it */
	bool is_forced;      /* its branch had nothing left to decide: the one before it had */
};

struct path_steps {
	struct arena arena; /* of the texts below and the outcomes */
	struct path_step_vec steps;
	uint32_t *nodes; /* blocks in order */
	struct path_node *by_node;
	uint32_t node_count;
	struct path path;  /* its edges are the arena's */
	const char *start; /* "enters", "after a round of the loop", ... */
	const char *end;   /* "leaves", "back to line 12", ... */
};

/* f->meta only; number below its path_count. sources: for the text of conditions; NULL: without. */
struct sources;
struct error *path_steps_create(const struct path_profile *p, const struct path_function *f, uint64_t number,
				struct sources *sources, struct path_steps *ret);
void path_steps_deinit(struct path_steps *s);

/* A path that is at hand: of a core. */
struct path_walk {
	const struct pathmeta_function *flow;
	const struct path_numbering *numbering;
	enum pathmeta_stage stage;
	const struct path *path;
	struct sources *sources; /* for the text of conditions; NULL: without */
	bool is_partial;         /* it has not ended: control is in its last node */
	/* is_partial: the place, as the metadata names places, the last step of all. Of that node's lines those behind it were
	 * not begun. */
	const char *stop_function;
	const char *stop_file;
	uint32_t stop_line; /* 0: not known */
	uint32_t stop_column;
};
struct error *path_steps_walk(const struct path_walk *w, struct path_steps *ret);

/* The end of those lines of the last node that were reached; *ret: its last one is where control is. All of them unless
 * is_partial; none when no line of the node is that place, or the place is not known. */
uint32_t path_lines_reached(const struct path_walk *w, uint32_t node, bool *ret);

/* The first place with code at or behind a node; NULL when none is known. */
const struct pathmeta_line *path_node_place(const struct pathmeta_function *f, uint32_t node);

#endif

/*
 * pointers.h - which locations each pointer of a program can lead to: inclusion-based, field-sensitive, flow-insensitive points-to analysis.
 *
 * The caller states constraints on nodes (variables, registers, parameters), then solves them. Andersen, PhD thesis 1994; solved by waves
 * over the graph with its cycles collapsed (Pereira and Berlin, CGO 2009), only differences are propagated; steps within a cycle (p++ in
 * a loop) become strides (Pearce, Kelly and Hankin, TOPLAS 2007, have the problem: positive-weight cycles).
 *
 *      address    a = &location         set(a) has the location
 *      copy       b = a                 set(b) contains set(a)
 *      step       b = a + step          set(b) contains the locations of set(a), moved
 *      load       b = *a, n bytes       set(b) contains what any store can have put where set(a) leads
 *      store      *a = b, n bytes
 *      transfer   memcpy(a, b, n)       what can be in n bytes from where set(b) leads can be at the same distance from where set(a) leads
 *      call       (*a)(...)             the caller is told of each function that set(a) comes to have, and states copies of arguments
 *
 * What is loaded or stored is a cell: a location with a number of bytes. A load of one cell sees stores to all cells that meet it.
 * The answer is safe for accesses within their objects. Not thread-safe.
 */
#ifndef WM_CORE_POINTERS_POINTERS_H
#define WM_CORE_POINTERS_POINTERS_H

#include "base/watch.h"
#include "core/pointers/id_sets.h"
#include "core/pointers/locations.h"

#define POINTERS_ALL_BYTES UINT32_MAX /* of a transfer: not known how many */

struct pointers;

/* Is told that `node` of a call can lead to the location; of some more than once, where nodes become one. May add constraints and nodes. */
typedef struct error *(*pointers_called)(void *data, uint32_t call, uint32_t location);

struct error *pointers_create(pointers_called called, void *data, struct pointers **ret);
void pointers_destroy(struct pointers *p);

/* Is told of the solver's steps; lives longer than p. */
void pointers_watch(struct pointers *p, const struct watch *watch);

/*
 * Before anything is stated: copies make both sides equal, and an object is one place (Steensgaard, POPL 1996). The answer has all that it would
 * have, and much more, for time and memory that are almost linear in the constraints. For programs that are too large for the other one.
 */
void pointers_be_coarse(struct pointers *p);

/* For objects and locations; steps and further constraints may come while it is solved. */
struct locations *pointers_locations(struct pointers *p);

struct error *pointers_add_node(struct pointers *p, uint32_t *ret);
struct error *pointers_address(struct pointers *p, uint32_t node, uint32_t location);
struct error *pointers_copy(struct pointers *p, uint32_t from, uint32_t to);
struct error *pointers_step(struct pointers *p, uint32_t from, uint32_t to, const struct pointer_step *step);
struct error *pointers_load(struct pointers *p, uint32_t pointer, uint32_t to, uint32_t len_bytes);
/* As a load, and a step, to a node that nothing else may be copied to: all that ask for the same have one. */
struct error *pointers_loaded(struct pointers *p, uint32_t pointer, uint32_t len_bytes, uint32_t *ret);
struct error *pointers_stepped(struct pointers *p, uint32_t from, const struct pointer_step *step, uint32_t *ret);
struct error *pointers_store(struct pointers *p, uint32_t from, uint32_t pointer, uint32_t len_bytes);
struct error *pointers_transfer(struct pointers *p, uint32_t to, uint32_t from, uint32_t len_bytes);
struct error *pointers_call(struct pointers *p, uint32_t pointer, uint32_t call);

/*
 * What the analysis may need; 0: any. A step is a word of a set, a location or an edge that is gone through: unlike seconds, they are the same on each
 * machine, and so is the answer.
 */
struct pointers_limit {
	size_t bytes;
	uint64_t steps;
};

/* ERROR_OVERFLOW: more would be needed than the limit. */
struct error *pointers_solve(struct pointers *p, struct pointers_limit limit);

/* After pointers_solve: the locations of a node; lives as long as p. */
const struct id_set *pointers_of(const struct pointers *p, uint32_t node);

/*
 * Gives back the memory of all but what pointers_of and pointers_locations tell: nothing can be stated or solved any more. Equal sets are then one,
 * at one address. On failure p can only be destroyed.
 */
struct error *pointers_shrink(struct pointers *p);

/* After pointers_shrink: the sets, and the number of a node's among them. */
const struct id_set_vec *pointers_sets(const struct pointers *p);
uint32_t pointers_set_of(const struct pointers *p, uint32_t node);
/* In place of stating and solving: the answer is these sets, which are taken, of locations that p has. The nodes are their numbers. */
struct error *pointers_restore(struct pointers *p, struct id_set_vec *sets);

struct pointers_cost {
	uint32_t nodes, locations, cells, waves;
	uint64_t edges, steps;
	size_t bytes; /* of sets and edges */
};
struct pointers_cost pointers_cost(const struct pointers *p);

#endif

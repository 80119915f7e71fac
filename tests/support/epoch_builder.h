/*
 * epoch_builder.h - builds a recording of two epochs, as an agent in a virtual machine would write it. The tests that read it
 * have the stacks that it decodes to.
 *
 *      epoch 0                                               epoch 1
 *
 *      main:0     Worker.run:0                               Worker.run:0    main:0
 *        | s20 +0   | s28 +1                                   | s28 +0        | s20 +1
 *      Order.total  0..2, restart 2                          Order.total  0..2, restart 2
 *        | s21 +0     | s21 +1       | s21 push                | s21 +0           | s21 +0       | s21 push
 *      Tax.rate     FixedTax.rate  plugin Tax.rate           plugin Tax.rate    FixedTax.rate  Tax.rate
 *        0..2         0..3, 0: root  0                         0..2               0..3, 3: root  0
 *        | s22 +0     | s23 +3       | s24 +7                  | s24 +0           | s23 +3       | s22 +7
 *      Log.write    0..7                                     Log.write    0..7
 *        s25 captures, s26 pushes to Order.total               the same, and s60 calls plain_sort
 *
 * s21 is one site with three callees. s27 in main starts a thread. s29 is where Order.total was entered with an id of epoch 0
 * and began anew in epoch 1. Sites from 60 on, plain_sort and what it calls back appear in epoch 1.
 */
#ifndef WM_TESTS_EPOCH_BUILDER_H
#define WM_TESTS_EPOCH_BUILDER_H

#include "support/builder.h"

enum {
	EPOCHS_RUN = 0xe0e1,
	EPOCHS_CHUNKS = 16,

	/* numbers of functions */
	EPOCHS_MAIN = 10,
	EPOCHS_ORDER,
	EPOCHS_TAX,
	EPOCHS_FIXED_TAX,
	EPOCHS_LOG,
	EPOCHS_PLUGIN_TAX,
	EPOCHS_PLAIN_SORT,
	EPOCHS_UNNAMED,
	EPOCHS_WORKER,
};

/* A context, and what is recorded with it: the event "hit" with that value. */
struct epochs_context {
	uint32_t epoch;
	uint32_t prefix;
	uint64_t id;
	uint32_t site;
	uint64_t value;
};
enum {
	EPOCHS_CONTEXTS = 14,
};
extern const struct epochs_context epochs_contexts[EPOCHS_CONTEXTS];

/*
 * All of it: nodes, an event of each context, of contexts 0 and 5, whose numbers but for the epoch are equal, a heap record (100
 * and 10000 bytes), and of all contexts but 1 to 3 a residual path, whose count is the context's value.
 */
void build_epochs(struct wmk_builder *b);
/* The code and its dictionaries alone, for tests that go on with a chunk of their own. The first free prefix is 16. */
void build_epochs_code(struct wmk_builder *b);

/*
 * Epochs 7 to 9, by ranks, beside those two. Of the callers of Log.write epoch 7 has Tax.rate, epoch 8 puts FixedTax.rate before it, and epoch 9
 * the plugin's Tax.rate between them. The dictionaries of 8 and 9 have what they change alone. A residual path of each context, those of epoch 9 first.
 */
enum {
	EPOCHS_CHANGED = 6,
};
extern const struct epochs_context epochs_changed[EPOCHS_CHANGED];
void build_epochs_changes(struct wmk_builder *b, uint64_t run);

#endif

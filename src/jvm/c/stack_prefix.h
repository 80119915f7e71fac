/*
 * stack_prefix.h - the prefix of a context stack, from what is known of the stack that this thread captured before.
 *
 * Two captures of a thread have most of their stack in common. So a capture costs a comparison of the two, and a look-up in the
 * recorder for each call that is new. Equal sites in a row are one entry of the recording with a count.
 */
#ifndef WM_JVM_STACK_PREFIX_H
#define WM_JVM_STACK_PREFIX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of a thread; zero is an empty one. Owned by who has it; its own thread only. */
struct stack_prefix {
	int32_t *sites; /* of the stack before; `count` of them are known */
	int32_t *fresh; /* of the present one: the caller's to fill */
	struct stack_prefix_entry *entries;
	size_t count;
	size_t room; /* of each of the three */
};

/* Makes room for `depth` sites in `fresh`. False without memory; what was known stays. */
bool stack_prefix_reserve(struct stack_prefix *s, size_t depth);
/*
 * The prefix of the first `depth` sites of `fresh` (methods.h) above `root`, a reserved prefix that is the same in all calls for `s`.
 * WM_PREFIX_LOST when it cannot be recorded. `fresh` is to be filled anew after it.
 */
uint32_t stack_prefix_find(struct stack_prefix *s, uint32_t root, size_t depth);
void stack_prefix_deinit(struct stack_prefix *s);

#endif

/*
 * spaces.h - the spaces of codes (core/contexts/sitecode.h) by their names, which are those of what a call enters (agent/Spaces.java).
 *
 * No method has the space of a constructor: it could be entered over a call that is not in progress any more (super_calls.h), and take it for
 * its own. Any thread.
 */
#ifndef WM_JVM_SPACES_H
#define WM_JVM_SPACES_H

#include <stdint.h>

/* The number of the space, from 1 to JVM_FUNCTION_SPACES; 0: there is no memory. Names share spaces when there are no others. */
uint32_t jvm_space(const char *name);
/* 0: nothing has that name by now. */
uint32_t jvm_space_if_known(const char *name);
/* The space of a constructor, or, if that has no room, another one of its own. */
uint32_t jvm_space_with_room(const char *name);

#endif

/* library_buffer.h - buffers that the C library keeps to the end of the process: no leaks. */
#ifndef WM_MODEL_CONTEXTS_LIBRARY_BUFFER_H
#define WM_MODEL_CONTEXTS_LIBRARY_BUFFER_H

#include "model/base/profile.h"

/*
 * The context is one in which the C library allocates for itself: it ends in foreign code that does so, or in that function of the library
 * which calls malloc, where an agent sees into the library.
 */
bool library_buffer_is(const struct profile *p, uint32_t node);

#endif

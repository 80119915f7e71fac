/* heap.h - the heap client's records, for the runtime's own files. */
#ifndef WM_RUNTIME_HEAP_H
#define WM_RUNTIME_HEAP_H

#include <stdbool.h>

bool wmrt_heap_is_on(void);
/* In a forked child's new file, under the lock. */
void wmrt_heap_copy_inherited(void);
/* Hands this instance to a heap client that was loaded before it. */
void wmrt_heap_attach(void);

#endif

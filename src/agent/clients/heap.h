/* heap.h - functions that take memory, beside those of the heap client (waymark/runtime.h). */
#ifndef WM_AGENT_HEAP_H
#define WM_AGENT_HEAP_H

#include "runtime/heap/heap.h"

enum heap_function {
	HEAP_MALLOCX = WM1_HEAP_FUNCTIONS,
	HEAP_RALLOCX,
	HEAP_XALLOCX,
	HEAP_NEW,
	HEAP_FUNCTIONS,
};

#endif

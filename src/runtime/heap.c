/* heap.c - the heap client's side of the runtime. */
#include "runtime/heap.h"
bool wmrt_heap_is_on(void)
{
	return false;
}
void wmrt_heap_after_fork(void)
{
}
void wmrt_heap_copy_inherited(void)
{
}
void wmrt_heap_attach(void)
{
}

/* interpose.c - finds what the runtime interposes. */
#include "recorder/interpose.h"

#include <dlfcn.h>
#include <stddef.h>

extern void *dlsym(void *handle, const char *name) __attribute__((weak));

void *wmrt_next(_Atomic(void *) *cache, const char *name, void *own)
{
	static char none; /* its address: looked for and not there; dlsym is nothing to call in a handler */
	void *found = atomic_load_explicit(cache, memory_order_acquire);

	if (!found) {
		if (dlsym)
			found = dlsym(RTLD_NEXT, name);
		if (!found && dlsym)
			found = dlsym(RTLD_DEFAULT, name);
		if (!found || found == own)
			found = &none;
		atomic_store_explicit(cache, found, memory_order_release);
	}
	return found == &none ? NULL : found;
}

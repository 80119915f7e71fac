/* unfit_here.c - looks the symbols up that programs of sanitizers and of OCaml have. */
#include "native/unfit_here.h"

#include <dlfcn.h>
#include <stddef.h>

#include "base/unfit.h"

const char *unfit_here(void)
{
	for (int i = 0; i < UNFITS; i++)
		if (dlsym(RTLD_DEFAULT, unfits[i].symbol))
			return unfits[i].what;
	return NULL;
}

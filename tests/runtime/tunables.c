/* tunables.c - a program with three functions that can be tuned, and with -DLIBRARY a library with one
 * more. -DSTATIC: loads no libraries. */
#include "runtime/tunables.h"

#ifdef LIBRARY

TUNABLE("in_library", "", "lib/l.c", 2, "0, 8, 0, 0, 0, 0, 0, 0, 0, 0");

__attribute__((visibility("default"))) void library_print(void);

void library_print(void)
{
	tunables_print();
}

#else

#ifndef STATIC
#include <dlfcn.h>
#endif

TUNABLE("main", "", "src/main.c", 3, "0, 10, 1, 0, 0, 0, 0, 0, 0, 0");
TUNABLE("_ZN2ns3barEi", "bar", "src/lib/bar.cpp", 2, "2, 10, 0, 0, 0, 0, 0, 0, 0, 0");
TUNABLE("helper", "", "", 10, "0, 1, 2, 3, 4, 8, 9, 10, 11, 12");

static int print_library(const char *path)
{
#ifndef STATIC
	void *library = dlopen(path, RTLD_NOW);
	void (*print)(void) = library ? (void (*)(void))dlsym(library, "library_print") : NULL;

	if (print) {
		print();
		return 0;
	}
#endif
	fprintf(stderr, "%s: cannot be loaded\n", path);
	return 1;
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (print_library(argv[i]) != 0)
			return 1;
	tunables_print();
	return 0;
}

#endif

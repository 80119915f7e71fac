/* library_user.c - runs the library, linked (no argument) or as a plugin, twice, with a dlclose between. */
#include <dlfcn.h>
#include <stdio.h>

#ifdef LINKED
void library_run(void);
#endif

int main(int argc, char **argv)
{
#ifdef LINKED
	library_run();
#endif
	volatile int rounds = argc > 1 ? 2 : 0; /* one call site, not two of an unrolled loop */

	for (int i = 0; i < rounds; i++) {
		void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
		void (*run)(void) = library ? (void (*)(void))dlsym(library, "library_run") : NULL;

		if (!run) {
			puts(dlerror());
			return 1;
		}
		run();
		dlclose(library);
	}
	return 0;
}

/* Libraries that are opened with RTLD_DEEPBIND: each finds what it depends on, also the runtime, in front of the program's. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>

#include "shadow.h"

typedef int (*called_fn)(int);
typedef int (*plugin_fn)(called_fn called, int n);

NOINLINE static void leaf(void)
{
	ENTER();
	CHECK();
	LEAVE();
}

NOINLINE static int called(int n)
{
	ENTER();
	leaf();
	CHECK();
	LEAVE();
	return n;
}

NOINLINE static void use(const char *path, int flags)
{
	ENTER();
	void *plugin = dlopen(path, flags);
	EXPECT(plugin);
	plugin_fn apply = (plugin_fn)dlsym(plugin, "plugin_apply");
	EXPECT(apply);
	EXPECT(apply(called, 2) == 6);
	leaf();
	EXPECT(apply(called, 3) == 9);
	CHECK();
	LEAVE();
}

int main(void)
{
	ENTER();
	use("./deep.so", RTLD_NOW | RTLD_DEEPBIND);
	use("./lazy.so", RTLD_LAZY | RTLD_DEEPBIND | RTLD_GLOBAL);
	use("./plain.so", RTLD_NOW);
	use("./deep.so", RTLD_NOW | RTLD_DEEPBIND);
	CHECK();
	LEAVE();
	return 0;
}

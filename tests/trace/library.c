/* A callback, called by a library that is loaded when it runs, crashes. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static int seen;

static int on_item(const int *item)
{
	if (seen++ < 4)
		return *item;
	return item[*item * 1000000];
}

int main(void)
{
	void *library = dlopen("./plugin.so", RTLD_NOW);
	if (!library)
		return puts(dlerror());
	int (*each)(int (*)(const int *), int) = (int (*)(int (*)(const int *), int))dlsym(library, "each");
	int sum = 0;

	for (int i = 0; i < 3; i++)
		sum += each(on_item, i);
	return sum;
}

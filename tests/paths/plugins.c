/* plugins.c - an instrumented library (plugins_part.c) that is loaded, used and unloaded again and again, by threads too. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

static int use(int n)
{
	void *library = dlopen("./plugin.so", RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		puts(dlerror());
		return -1;
	}
	int (*part)(int) = (int (*)(int))dlsym(library, "part");
	int sum = 0;
	for (int i = 0; i < n; i++)
		sum += part(i);
	dlclose(library);
	return sum;
}

static void *thread(void *argument)
{
	return (void *)(long)use((int)(long)argument);
}

int main(void)
{
	int sum = 0;
	for (int i = 0; i < 8; i++) {
		sum += use(i);
		pthread_t t;
		pthread_create(&t, NULL, thread, (void *)5L);
		pthread_join(t, NULL);
	}
	printf("%d\n", sum);
	return sum < 0;
}

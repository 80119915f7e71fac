/*
 * dlopen and dlclose: two instrumented plugins and a plain one call back into the program and into each other, are closed
 * and opened again, and use the program's and their own thread-local state.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <pthread.h>

#include "shadow.h"

typedef int function(int);
typedef int apply(function *f, int n);
int program_function(int n);
int one_leaf(int n);

NOINLINE static int leaf(int n)
{
	ENTER();
	CHECK();
	LEAVE();
	return n;
}

NOINLINE int program_function(int n)
{
	ENTER();
	CHECK();
	leaf(n);
	LEAVE();
	return n;
}

/* The plain library asks for it by name. */
NOINLINE int one_leaf(int n)
{
	ENTER();
	leaf(n);
	LEAVE();
	return n;
}

static apply *apply_a, *apply_b, *apply_plain;

NOINLINE static int everywhere(int n)
{
	ENTER();
	CHECK();
	if (n > 0) {
		apply_a(everywhere, n - 1);
		apply_b(everywhere, n - 2);
		apply_plain(everywhere, n - 2);
	}
	LEAVE();
	return n;
}

NOINLINE static void *thread(void *arg)
{
	THREAD_ROOT();
	ENTER();
	everywhere(2);
	LEAVE();
	return arg;
}

static void *symbol(void *library, const char *name)
{
	void *address = dlsym(library, name);
	EXPECT(address);
	return address;
}

NOINLINE static void one_round(int round)
{
	ENTER();
	void *a = FOREIGN("dlopen", dlopen("./plugin_a.so", RTLD_NOW | RTLD_GLOBAL));
	EXPECT(a);
	void *b = FOREIGN("dlopen", dlopen("./plugin_b.so", RTLD_NOW));
	EXPECT(b);
	void *plain = FOREIGN("dlopen", dlopen("./libplain.so", RTLD_LAZY));
	EXPECT(plain);
	apply_a = (apply *)symbol(a, "plugin_a_apply");
	apply_b = (apply *)symbol(b, "plugin_b_apply");
	apply_plain = (apply *)symbol(plain, "plain_apply");
	apply_a(leaf, round);
	apply_b(leaf, round);
	apply_plain(leaf, round);
	apply_plain(program_function, round);
	everywhere(3);
	pthread_t id;
	EXPECT(CREATE(pthread_create(&id, NULL, thread, NULL)) == 0);
	EXPECT(pthread_join(id, NULL) == 0);
	CHECK();
	if (round != 1) {
		EXPECT(FOREIGN("dlclose", dlclose(plain)) == 0);
		EXPECT(FOREIGN("dlclose", dlclose(b)) == 0);
		EXPECT(FOREIGN("dlclose", dlclose(a)) == 0);
	} else {
		EXPECT(FOREIGN("dlclose", dlclose(plain)) == 0);
	}
	leaf(round);
	LEAVE();
}

int main(void)
{
	ENTER();
	for (int round = 0; round < 3; round++)
		one_round(round);
	leaf(9);
	LEAVE();
	return 0;
}

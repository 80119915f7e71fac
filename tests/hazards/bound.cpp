/*
 * A library whose functions another image replaces: first nobody does (or the program, with -DDEFINES), then what LD_PRELOAD names,
 * built with Waymark and without.
 */
#include <cstdlib>
#include <cstring>

#include "bound.h"

#ifdef DEFINES
#define IMAGE 2
#include "bound_functions.h"
#endif

static const char *const preloads[] = {"./libother.so", "./libplain.so"};

static void run_again(char **argv, const char *now)
{
	const char *next = !now ? preloads[0] : !strcmp(now, preloads[0]) ? preloads[1] : nullptr;
	if (!next)
		return;
	setenv("LD_PRELOAD", next, 1);
	execv(argv[0], argv);
}

int main(int argc, char **argv)
{
	SCOPE();
	const char *now = getenv("LD_PRELOAD");
	int caught = 0;
#if defined SYMBOLIC
	const int image = 1;
#elif defined DEFINES
	const int image = 2; /* the program comes first */
#else
	const int image = now ? 3 : 1;
#endif
	EXPECT(bound_image() == image);
	try {
		work(argc + 2);
	} catch (int value) {
		caught = value;
		CHECK();
	}
	EXPECT(caught == (argc + 2) * 10 + image);
#ifndef SYMBOLIC
	EXPECT(address_of_step() == step);
#endif
#ifdef DEFINES
	EXPECT(step(5) == 7);
#else
	EXPECT(step(5) == 5 + (now ? 3 : 1));
#endif
	CHECK();
	run_again(argv, now);
	return 0;
}

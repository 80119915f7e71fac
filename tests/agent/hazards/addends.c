/*
 * addends.c - indirect sites that mostly call one function, and now and then others: functions that call back through the same site, that end
 * in a tail call, that jump out, and quiet ones that come late; and calls behind which control comes from elsewhere, too.
 * hazards.sh: again epochs,wall
 */
#include <setjmp.h>
#include <stdlib.h>

#include "probe.h"

enum {
	ROUNDS = 200,
	PER_ROUND = 500,
	OTHERS = 31, /* one call of so many is of another function than the hot one */
	NEST = 3,
	SPINS = 50,
};

typedef unsigned function(unsigned n, unsigned depth);

static volatile unsigned sum;
static jmp_buf out;
static unsigned calls;

__attribute__((noinline)) static unsigned through(function *f, unsigned n, unsigned depth)
{
	return f(n, depth) + 1;
}

/* Called from several places, so that the site has an addend. */
__attribute__((noinline)) static unsigned shared(unsigned n)
{
	if (calls++ % 65536 == 0)
		PROBE();
	/* Most of the time is spent here, and not in stubs, where no encoding begins. */
	for (unsigned i = 0; probe_is_on() && i < SPINS; i++)
		sum += n;
	if (!probe_is_on())
		sum += SPINS * n;
	return n & 3;
}

__attribute__((noinline)) static unsigned hot(unsigned n, unsigned depth)
{
	return shared(n) + depth;
}

/* Control comes behind the call without it, too. */
__attribute__((noinline)) static unsigned maybe(unsigned n, unsigned depth)
{
	if (n & 1)
		shared(n);
	sum += n;
	if (n & 2)
		hot(n, depth);
	sum += n;
	if (n % 65536 == 4)
		PROBE();
	return n;
}

__attribute__((noinline)) static unsigned nests(unsigned n, unsigned depth)
{
	PROBE();
	return depth < NEST ? through(n & 1 ? nests : hot, n / 2, depth + 1) + shared(n) : shared(n);
}

static function *volatile last = hot;

__attribute__((noinline)) static unsigned ends(unsigned n, unsigned depth)
{
	if (depth > NEST)
		PROBE();
	return last(n, depth + 1);
}

__attribute__((noinline)) static unsigned jumps(unsigned n, unsigned depth)
{
	shared(n);
	if (n % 2)
		longjmp(out, 1);
	return depth;
}

/* Quiet. */
__attribute__((noinline)) static unsigned works(unsigned n, unsigned depth)
{
	for (unsigned i = 0; i < 200; i++)
		sum += i * n;
	return depth;
}

static function *const others[] = {maybe, nests, ends, jumps, works, maybe};

__attribute__((noinline)) static unsigned round_of(unsigned round)
{
	const unsigned count = round * 6 / ROUNDS + 1;
	volatile unsigned ret = 0;

	for (unsigned i = 0; i < PER_ROUND; i++) {
		unsigned n = round * PER_ROUND + i;

		if (setjmp(out))
			continue;
		/* Which has addend 0, as it is made more often. */
		for (unsigned k = 0; k < 8; k++)
			ret += hot(n, k) + shared(k);
		ret += through(n % OTHERS ? hot : others[n / OTHERS % count], n, 0);
		ret += maybe(n, 1);
		ret += through(n % 3 ? hot : maybe, n, 2);
	}
	PROBE();
	return ret;
}

int main(void)
{
	unsigned ret = 0;

	for (unsigned i = 0; i < ROUNDS; i++)
		ret += round_of(i);
	printf("%u %u\n", ret, sum);
	return 0;
}

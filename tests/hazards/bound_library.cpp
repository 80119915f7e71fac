/* A library that calls its own functions in all ways; see bound.h. */
#define IMAGE 1
#include "bound_functions.h"

static int image; /* whose definitions are bound: as a call of one of them says */

int look(int n)
{
	SCOPE();
	CHECK();
	return n;
}

int descend(int n)
{
	SCOPE();
	return climb(n);
}

/* All levels of it are on the context stack at once, which is in several pieces. */
int dive(int n)
{
	EXPECT(quietly(n, 0.5, 'a', 0.25f, 4, 1.5, 2, 2.5, &image, 3, 4, 5, 6) ==
	       n + 0.5 + 'a' + 0.25 + 4 + 1.5 + 2 + 2.5 + 1 + 18 + image);
	return deep(n);
}

bound_function *address_of_step()
{
	return step;
}

int bound_image()
{
	return image;
}

__attribute__((constructor)) static void early()
{
	SCOPE_AS("early()");
	CHECK();
	image = whose();
	CHECK();
}

/* Captures while an exception unwinds. */
struct guard {
	NOINLINE ~guard()
	{
		SCOPE_AS("guard::~guard()");
		CHECK();
		look(2);
	}
};

FN void passes(int n)
{
	SCOPE();
	guard g;
	toss(n);
	CHECK();
}

FN int catches(int n)
{
	SCOPE();
	int caught = 0;
	try {
		passes(n);
		toss(n);
	} catch (int value) {
		caught = value;
		CHECK();
	}
	try {
		toss(0);
		toss(n + 1);
	} catch (int value) {
		caught += value;
		CHECK();
	}
	return caught;
}

FN int lands(int n)
{
	ENTER();
	static jmp_buf here;
	volatile int landed = 0;
	int value = setjmp(here);
	RESTORE();
	if (!value) {
		leap(&here, 0);
		CHECK();
		look(3);
		leap(&here, n);
	}
	landed = value;
	CHECK();
	step(n);
	LEAVE();
	return landed;
}

/* At -O2 these are jumps: of functions whose callers are known. No LEAVE: what a frame that is gone cannot do. */
static NOINLINE int tail_step(int n)
{
	shadow_push("tail_step(int)");
	return step(n + 1);
}

static NOINLINE int tail_twice(int n)
{
	shadow_push("tail_twice(int)");
	if (n & 1)
		return step(n + 2);
	return tail_step(n);
}

FN int tails(int n)
{
	ENTER();
	int result = tail_step(n);
	RESTORE();
	CHECK();
	result += tail_twice(n);
	RESTORE();
	CHECK();
	result += tail_twice(n + 1);
	RESTORE();
	CHECK();
	LEAVE();
	return result;
}

FN int many(int n)
{
	SCOPE();
	const int i = image;
	EXPECT(spread(1, 2, 3, 4, 5, 6, n) == 91 + 7 * n + i);
	EXPECT(filled(n, 0.5, 'a', 0.25f, 4, 1.5, 2, 2.5, &image, 3, 4, 5, 6) ==
	       n + 0.5 + 'a' + 0.25 + 4 + 1.5 + 2 + 2.5 + 1 + 18 + i);
	EXPECT(total(2, n, 5) == n + 5 + i);
	EXPECT(total(8, 1, 2, 3, 4, 5, 6, 7, n) == 28 + n + i);
	EXPECT(sum(2, 0.5, (double)n) == n + 0.5 + i);
	EXPECT(sum(10, 1., 2., 3., 4., 5., 6., 7., 8., 9., (double)n) == 45 + n + i);
	CHECK();
	const pair p = paired(n);
	EXPECT(p.whole == n + i && p.part == n * 0.5);
	const block b = blocked(n);
	EXPECT(b.words[0] == n && b.words[3] == n + 3 && b.words[4] == i);
	EXPECT(widened(n) == n + i);
	const four f = shifted(four{1, 2, 3, (float)n});
	EXPECT(f[0] == 1 + i && f[3] == n + i);
	CHECK();
	return n;
}

int work(int n)
{
	SCOPE();
	const int i = image;
	EXPECT(step(1) == 1 + i);
	for (int k = 0; k < n; k++) {
		EXPECT(step(k) == k + i);
		EXPECT(applies(step, k) == k + 2 * i);
		many(k);
	}
	EXPECT(applies(look, n) == n + i);
	EXPECT(descend(3) == 15 * i);
	EXPECT(climb(2) == 7 * i);
	EXPECT(dive(3000) == 3001 * i);
	EXPECT(catches(n) == (n * 10 + i) + (n + 1) * 10 + i);
	EXPECT(lands(n) == i);
	EXPECT(tails(n) == (n + 1 + i) + (n & 1 ? n + 2 + i + n + 1 + 1 + i : n + 1 + i + n + 1 + 2 + i));
	CHECK();
	passes(0);
	passes(n); /* throws to who called */
	return n;
}

/* Indirect calls: pointers, tables, operations of a struct, targets that change, types that do not match, recursion. */
#include "shadow.h"

typedef int op(int);

NOINLINE static int leaf_a(int n)
{
	ENTER();
	CHECK();
	LEAVE();
	return n + 1;
}

NOINLINE static int leaf_b(int n)
{
	ENTER();
	CHECK();
	LEAVE();
	return n + 2;
}

NOINLINE static int through_a(int n)
{
	ENTER();
	int value = leaf_a(n) + leaf_b(n);
	LEAVE();
	return value;
}

static int again(int n);
static op *const table[] = {leaf_a, leaf_b, through_a, again};

NOINLINE static int again(int n)
{
	ENTER();
	CHECK();
	int value = n > 0 ? table[n & 3](n - 1) + table[(n + 1) & 3](n - 2) : 0;
	LEAVE();
	return value;
}

/* Called with types that are not theirs; what the x86-64 calling convention makes of it is well defined. */
NOINLINE static long wrong_long(long a, long b)
{
	ENTER();
	CHECK();
	LEAVE();
	return a + b;
}

NOINLINE static void wrong_void(void)
{
	ENTER();
	CHECK();
	leaf_b(0);
	LEAVE();
}

struct device {
	void (*open)(const struct device *);
	int (*read)(const struct device *, op *);
	const struct device *below;
};

NOINLINE static void device_open(const struct device *d)
{
	ENTER();
	CHECK();
	if (d->below)
		d->below->open(d->below);
	LEAVE();
}

NOINLINE static int device_read(const struct device *d, op *f)
{
	ENTER();
	int value = d->below ? d->below->read(d->below, f) : f(1);
	CHECK();
	LEAVE();
	return value;
}

static op *volatile changing;

int main(void)
{
	ENTER();
	for (int i = 0; i < 4; i++)
		(void)table[i](5);
	for (int i = 0; i < 9; i++)
		again(i);
	changing = leaf_a;
	EXPECT(changing(1) == 2);
	changing = leaf_b;
	EXPECT(changing(1) == 3);
	EXPECT(((int (*)(int, int))(void (*)(void))leaf_a)(3, 4) == 4);
	EXPECT(((long (*)(long, long, long))(void (*)(void))wrong_long)(3, 4, 5) == 7);
	((int (*)(int))(void (*)(void))wrong_void)(3);
	((void (*)(void *, double))(void (*)(void))wrong_void)(NULL, 1.5);
	void (*volatile unknown)(int) = (void (*)(int))(void (*)(void))again;
	unknown(4);
	const struct device d0 = {device_open, device_read, NULL}, d1 = {device_open, device_read, &d0},
			    d2 = {device_open, device_read, &d1};
	d2.open(&d2);
	d2.read(&d2, leaf_a);
	d1.read(&d1, again);
	LEAVE();
	return 0;
}

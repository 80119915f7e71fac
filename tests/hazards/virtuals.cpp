/* C++ calls: virtual methods, multiple and virtual inheritance (thunks), pointers to members, lambdas, templates, operators. */
#include <algorithm>
#include <functional>
#include <memory>
#include <vector>

#include "shadow.h"

#define FN extern "C" NOINLINE

FN int leaf(int n)
{
	SCOPE();
	CHECK();
	return n;
}

struct shape {
	virtual ~shape() = default;
	virtual int area(int n) = 0;
	virtual int twice(int n);
};

NOINLINE int shape::twice(int n)
{
	SCOPE_AS("shape::twice(int)");
	return area(n) + area(n + 1);
}

struct square : shape {
	NOINLINE int area(int n) override
	{
		SCOPE_AS("square::area(int)");
		CHECK();
		return leaf(n) * n;
	}
};

struct named {
	virtual ~named() = default;
	virtual int name(int n) = 0;
	int padding = 1;
};

struct circle : named, shape {
	int extra = 3;
	NOINLINE int area(int n) override
	{
		SCOPE_AS("circle::area(int)");
		CHECK();
		return extra * leaf(n);
	}
	NOINLINE int name(int n) override
	{
		SCOPE_AS("circle::name(int)");
		return twice(n) + padding;
	}
};

struct root {
	int value = 5;
	virtual ~root() = default;
	virtual int visit(int n) = 0;
};
struct left_side : virtual root {
	NOINLINE int visit(int n) override
	{
		SCOPE_AS("left_side::visit(int)");
		CHECK();
		return value + n;
	}
};
struct right_side : virtual root {
};
struct bottom : left_side, right_side {
	NOINLINE int visit(int n) override
	{
		SCOPE_AS("bottom::visit(int)");
		leaf(value);
		return left_side::visit(n);
	}
};

FN int use_shape(shape *s, int n)
{
	SCOPE();
	int value = s->twice(n) + s->area(n);
	CHECK();
	return value;
}

struct pair_of {
	int a, b;
	NOINLINE int sum(int n) const
	{
		SCOPE_AS("pair_of::sum(int) const");
		leaf(n);
		return a + b + n;
	}
};

NOINLINE static bool operator<(const pair_of &x, const pair_of &y)
{
	SCOPE_AS("operator<(pair_of const&, pair_of const&)");
	CHECK();
	return x.a < y.a;
}

FN int by_member(int (pair_of::*f)(int) const, const pair_of &p)
{
	SCOPE();
	CHECK();
	return (p.*f)(2);
}

FN int by_function(const std::function<int(int)> &f, int n)
{
	SCOPE();
	/* The lambda runs below std::function's own inlined or not inlined frames. */
	shadow_push("...");
	int value = f(n);
	CATCH_RESTORE();
	CHECK();
	return value;
}

FN int recursive_virtual(named *one, shape *two, int n)
{
	SCOPE();
	CHECK();
	int value = n ? recursive_virtual(one, two, n - 1) : leaf(n);
	return n ? value + one->name(n) + two->area(n) : value;
}

int main()
{
	SCOPE();
	square sq;
	circle ci;
	bottom bo;
	pair_of pa{1, 2}, pb{3, 4};
	root *r = &bo;
	right_side *rs = &bo;
	for (int n = 0; n < 3; n++) {
		use_shape(&sq, n);
		use_shape(&ci, n);
		ci.name(n);
		r->visit(n);
		rs->visit(n);
	}
	recursive_virtual(&ci, &sq, 3);
	by_member(&pair_of::sum, pa);
	EXPECT(pa < pb);
	int base = 4;
	by_function(leaf, 3);
	by_function([base](int n) { return leaf(base + n); }, 3);
	std::unique_ptr<shape> heap(new circle);
	use_shape(heap.get(), 1);
	CHECK();
	return 0;
}

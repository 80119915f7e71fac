/* Values of C++: members by `this`, references, bases, namespaces; and a lambda. See core_values.c. */
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

namespace shapes
{
enum class Kind : unsigned char {
	circle = 1,
	square = 200
};
static int made;
int limit = 9;

struct Root {
	int hidden = 1;
	int from_root = 11;
};

struct Base : Root {
	int hidden = 2;
	virtual ~Base() = default;
	virtual int area(const int &scale) const = 0;
	int id = 5;
	static int count;
};
int Base::count = 12;
} // namespace shapes

namespace other
{
int made_elsewhere = 3; // what the other namespace has is not what a name stands for here
int limit = 8;
} // namespace other
static int made_twice = 30;

namespace shapes
{

template <typename T> struct Square : Base {
	T side;
	const Square *inner = nullptr;
	Kind kind = Kind::square;
	bool is_filled = true;
	static constexpr int sides = 4;
	explicit Square(T side) : side(side)
	{
		made++;
	}
	__attribute__((noinline)) int area(const int &scale) const override
	{
		int all = scale * (int)side + count + limit;

		if (is_filled && made > 1)
			all += inner->inner->id + inner->hidden + hidden + from_root + count + limit + made +
			       made_twice;
		return all + (kind == Kind::circle);
	}
};
} // namespace shapes

__attribute__((noinline)) static int measure(shapes::Base &shape, std::vector<int> &&numbers, int times)
{
	auto once = [&](int scale) __attribute__((noinline)) { return shape.area(scale) + times + numbers[0]; };
	int sum = 0;

	for (int i = 0; i < times; i++) {
		long scale = i + 2;
		sum += once((int)scale) + (int)numbers.size();
	}
	return sum;
}

int main(int argc, char **)
{
	shapes::Square<double> outer(2.5), inner(4);
	auto many = std::vector<int>{argc, 2, 3};

	outer.inner = &inner;
	return measure(outer, std::move(many), 4);
}

/* main.cpp - the program: C++, over a static and a shared C library. */
#include "shapes.h"

namespace
{

struct shape {
	virtual ~shape() = default;
	virtual void draw() const = 0;
};

struct square : shape {
	void draw() const override
	{
		tell("square");
	}
};

struct circle : shape {
	void draw() const override
	{
		tell("circle");
	}
};

void draw_one(int i)
{
	static const square a;
	static const circle b;
	const shape *const shapes[] = {&a, &b};
	shapes[i]->draw();
}

} // namespace

int main()
{
	tell("start");
	each(2, draw_one);
}

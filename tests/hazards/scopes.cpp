/* Tasks by the scope of an object: exceptions end them, nested ones too. */
#include <deque>
#include <stdexcept>

#include "tasks.h"

#define FN extern "C" NOINLINE /* plain names in the contexts */

static std::deque<job> queue;

FN void submit(int n)
{
	SCOPE();
	queue.emplace_back();
	queue.back().n = n;
	ENQUEUE(&queue.back());
}

FN void throws(int n)
{
	SCOPE();
	CHECK();
	if (n == 0)
		throw std::runtime_error("task");
	throws(n - 1);
}

FN void run(const job &next)
{
	SCOPE();
	const uint64_t outside = shadow.depth_and_base;

	try {
		wm_task task(next.enqueued);
		shadow_begin(&next, __func__);
		CHECK();
		throws(next.n);
	} catch (const std::runtime_error &) {
		shadow.depth_and_base = outside;
		CHECK();
	}
	CHECK();
}

FN void serve(int n)
{
	SCOPE();
	submit(n);
	if (n)
		serve(n - 1);
}

/* Tasks that are run in a task, in reverse. */
FN void loop()
{
	SCOPE();
	while (!queue.empty()) {
		const job next = queue.back();
		const uint64_t outside = shadow.depth_and_base;

		queue.pop_back();
		wm_task task(next.enqueued);
		shadow_begin(&next, __func__);
		run(next);
		if (next.n > 2)
			submit(1);
		CHECK();
		shadow.depth_and_base = outside;
	}
	CHECK();
}

int main()
{
	SCOPE();
	serve(3);
	loop();
	CHECK();
	return 0;
}

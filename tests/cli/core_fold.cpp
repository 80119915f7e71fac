/*
 * core_fold.cpp - threads that wait alike, two functions that call each other, paths round a loop that are alike, long names of
 * inlined C++: what `waymark core` folds. Lines that the test names have their number in its expectations.
 */
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

namespace shop
{

template <typename Item> struct basket {
	std::vector<Item> items;

	__attribute__((noinline)) int count(const Item &wanted) const
	{
		int n = 0;

		for (const Item &item : items)
			if (item == wanted)
				n++;
		if (n > 2)
			*static_cast<volatile int *>(nullptr) = n;
		return n;
	}
};

} /* namespace shop */

static std::atomic<pid_t> waiting[5];
static int ends[2];
static volatile int depth = 40;

static void *wait_for_end(void *place)
{
	char byte;

	*static_cast<std::atomic<pid_t> *>(place) = gettid();
	return read(ends[0], &byte, 1) ? place : nullptr;
}

/* They wait in read(), nowhere else. */
static bool is_asleep(pid_t tid)
{
	char name[64], state = 0;
	FILE *f;

	snprintf(name, sizeof name, "/proc/self/task/%d/stat", static_cast<int>(tid));
	f = fopen(name, "r");
	if (!f || fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
		abort();
	fclose(f);
	return state == 'S';
}

__attribute__((noinline)) static int odd(int n, const std::string &text);

__attribute__((noinline)) static int even(int n, const std::string &text)
{
	if (n == 0) {
		shop::basket<std::string> b{{text, "other", text, text}};

		return b.count(text) + b.count(text + "?");
	}
	return odd(n - 1, text) + depth;
}

__attribute__((noinline)) static int odd(int n, const std::string &text)
{
	return even(n - 1, text) + depth;
}

int main()
{
	pthread_t threads[5];

	if (pipe(ends) != 0)
		return 1;
	for (int i = 0; i < 5; i++)
		if (pthread_create(&threads[i], nullptr, wait_for_end, &waiting[i]) != 0)
			return 1;
	for (auto &w : waiting)
		while (!w || !is_asleep(w))
			sched_yield();
	return even(depth, "a text that is too long to be kept in the string itself");
}

/* The stack overflows by unbounded recursion: tens of thousands of frames. */
#include <stddef.h>

struct step {
	const struct step *up;
	int value;
};

static int shortcut;

__attribute__((noinline)) static int resolve(const struct step *up, int depth)
{
	volatile struct step here = {up, depth & 3};

	if (depth % 5 == 4)
		for (int i = 0; i < 2; i++)
			here.value += i;
	if (shortcut && depth > 50)
		return here.value;
	if (depth % 3 == 0)
		return resolve((const struct step *)&here, depth + 1) - here.value;
	return here.value + resolve((const struct step *)&here, depth + 1);
}

int main(void)
{
	shortcut = 1;
	int sum = resolve(NULL, 0);
	shortcut = 0;
	return sum + resolve(NULL, 0);
}

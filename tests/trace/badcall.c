/* A call through a pointer that was never set: pc is 0, and its frame has no code. */
#include <stddef.h>

static int add(int a, int b)
{
	return a + b;
}
static int subtract(int a, int b)
{
	return a > b ? a - b : b - a;
}

static int (*volatile table[4])(int, int) = {add, subtract, add};

__attribute__((noinline)) static int evaluate(const char *program, int a)
{
	for (; *program; program++) {
		int op = *program - '0';
		if (op > 3)
			return -1;
		a = table[op](a, op + 2);
		if (a > 50)
			a /= 2;
	}
	return a;
}

int main(void)
{
	return evaluate("0120112", 5) + evaluate("0012103210", 9);
}

/* interpreter.c - computed gotos: one dispatch for all, one in each operation, and through a function that never loops. */
#include <stdio.h>

static unsigned long steps;

static int run(const unsigned char *code, int threaded)
{
	static const void *const operations[] = {&&halt, &&push, &&add, &&jump_back, &&drop, &&nothing};
	int stack[64] = {0}, top = 0, loops = 0;
	const unsigned char *pc = code;
	goto *operations[*pc++];
push:
	stack[top++] = *pc++;
	steps++;
	if (threaded)
		goto *operations[*pc++];
	goto dispatch;
add:
	if (top > 1) {
		top--;
		stack[top - 1] += stack[top];
	}
	goto *operations[*pc++];
jump_back:
	if (++loops < 5)
		pc = code;
	goto *operations[*pc++];
drop:
	while (top > 3)
		top--;
	goto dispatch;
nothing:
	goto *operations[*pc++];
dispatch:
	steps += 2;
	goto *operations[*pc++];
halt:
	return top ? stack[top - 1] : -1;
}

static int choose(int n)
{
	static const void *const ways[] = {&&one, &&two, &&three};
	goto *ways[n % 3];
one:
	return 1;
two:
	if (n > 10)
		return 5;
	goto three;
three:
	return 3;
}

int main(void)
{
	static const unsigned char a[] = {1, 2, 1, 3, 2, 5, 1, 9, 4, 3, 0};
	static const unsigned char b[] = {5, 5, 2, 1, 7, 0};
	static const unsigned char c[] = {0};
	int sum = 0;
	for (int i = 0; i < 30; i++) {
		sum += run(a, i & 1) + run(b, i & 2) + run(c, 0);
		sum += choose(i);
	}
	printf("%d %lu\n", sum, steps);
	return 0;
}

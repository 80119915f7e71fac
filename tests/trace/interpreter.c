/* A crash in an interpreter of computed gotos: paths end in front of each jump. */
#include <stddef.h>

__attribute__((noinline)) static long interpret(const unsigned char *code, long *memory)
{
	static const void *const labels[] = {&&halt, &&push, &&add, &&load, &&jump_if, &&drop};
	long stack[16] = {0}, *sp = stack;
	const unsigned char *pc = code;

	goto *labels[*pc];
push:
	*++sp = pc[1];
	pc += 2;
	goto *labels[*pc];
add:
	sp[-1] += sp[0];
	if (sp[-1] > 100)
		sp[-1] = 0;
	sp--;
	pc++;
	goto *labels[*pc];
load:
	sp[0] = memory[sp[0] * 1000000];
	pc++;
	goto *labels[*pc];
jump_if:
	if (*sp < pc[1])
		pc = code + pc[2];
	else
		pc += 3;
	goto *labels[*pc];
drop:
	sp--;
	pc++;
	goto *labels[*pc];
halt:
	return *sp;
}

int main(void)
{
	static long memory[4] = {5};
	static const unsigned char sum[] = {1, 0, 1, 3, 2, 4, 20, 2, 0};
	static const unsigned char bad[] = {1, 0, 3, 1, 7, 2, 4, 30, 3, 3, 0};

	return (int)(interpret(sum, memory) + interpret(bad, memory));
}

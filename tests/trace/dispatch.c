/* A crash in an interpreter whose operations fall into each other: computed gotos lead to blocks that other code leads to, too. */
#include <stddef.h>

__attribute__((noinline)) static long interpret(const unsigned char *code, long *memory)
{
	static const void *const labels[] = {&&halt, &&push, &&add, &&load, &&jump_if, &&drop, &&add_three};
	long stack[16] = {0}, *sp = stack;
	const unsigned char *pc = code;
	long carried = 0;

	if (!*pc)
		goto halt;
	goto *labels[*pc];
push:
	*++sp = pc[1];
	pc += 2;
	carried++;
	goto *labels[*pc];
add_three:
	sp[-1] += sp[0];
	sp--;
	carried ^= 5;
	/* falls through */
add:
	sp[-1] += sp[0] + carried % 2;
	if (sp[-1] > 100)
		goto drop;
	sp--;
	pc++;
	goto *labels[*pc];
load:
	sp[0] = memory[sp[0] * 1000000];
	if (!sp[0])
		goto next;
	carried = sp[0];
	pc++;
	goto *labels[*pc];
jump_if:
	if (*sp < pc[1]) {
		pc = code + pc[2];
		goto *labels[*pc];
	}
	pc += 2;
next:
	pc++;
	goto *labels[*pc];
drop:
	sp--;
	for (long i = 0; i < carried % 4; i++)
		sp[0] ^= i;
	pc++;
	goto *labels[*pc];
halt:
	return *sp + carried;
}

int main(int argc, char **argv)
{
	static long memory[4];
	static const unsigned char sum[] = {1, 0, 1, 3, 2, 4, 20, 2, 0};
	static const unsigned char many[] = {1, 90, 1, 8, 1, 9, 6, 1, 0, 3, 5, 0};
	static const unsigned char bad[] = {1, 0, 3, 1, 7, 1, 2, 1, 3, 6, 4, 30, 5, 3, 0};
	static const unsigned char nothing[] = {0};

	(void)argv;
	memory[1] = argc;
	return (int)(interpret(nothing, memory) + interpret(sum, memory) + interpret(many, memory) +
		     interpret(bad, memory));
}

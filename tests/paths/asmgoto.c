/* asmgoto.c - asm goto, whose jumps no code can be put on; attributes that keep functions from being counted; ifuncs. */
#include <stdio.h>

static volatile int sum;

__attribute__((noinline)) static int jumps(int n)
{
	__asm__ goto("test %0, %0\n\tjs %l[negative]\n\tjz %l[zero]" : : "r"(n) : "cc" : negative, zero);
	if (n > 5)
		return 2;
	return 1;
negative:
	return n < -3 ? -2 : -1;
zero:
	return 0;
}

__attribute__((noinline)) static int loops(int n)
{
again:
	sum++;
	if (n & 1)
		sum++;
	n--;
	__asm__ goto("cmp $0, %0\n\tjg %l[again]" : : "r"(n) : "cc" : again);
	return n;
}

__attribute__((naked, noinline)) static int bare(int n)
{
	__asm__("mov %edi, %eax\n\tret");
}

__attribute__((no_profile_instrument_function, noinline)) static int uncounted(int n)
{
	return n & 1 ? 3 : 4;
}

static int slow(int n)
{
	return n > 3 ? n - 1 : n + 1;
}
static int quick(int n)
{
	return n > 3 ? n - 2 : n + 2;
}
static int (*resolve(void))(int)
{
	return sizeof(long) == 8 ? quick : slow;
}
__attribute__((ifunc("resolve"))) int chosen(int n);

__attribute__((always_inline)) static inline int inlined(int n)
{
	while (n > 10)
		n /= 2;
	return n;
}

int main(void)
{
	for (int i = -6; i < 12; i++)
		sum += jumps(i) + loops(i) + bare(i) + uncounted(i) + chosen(i) + inlined(i * 7);
	printf("%d\n", sum);
	return 0;
}

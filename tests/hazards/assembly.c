/* Assembly: a .S file that calls back, by name and by pointer; inline assembly that calls; .S in the middle of recursion. */
#include "shadow.h"

int asm_call_back(int n);                   /* calls called_by_asm(n + 1) */
int asm_call_pointer(int (*f)(int), int n); /* calls f(n + 1) */
int asm_tail_pointer(int (*f)(int), int n); /* jumps to f with n + 2 */
int called_by_asm(int n);

NOINLINE static int leaf(int n)
{
	ENTER();
	CHECK();
	LEAVE();
	return n;
}

__attribute__((used)) NOINLINE int called_by_asm(int n)
{
	ENTER();
	CHECK();
	leaf(n);
	LEAVE();
	return n * 2;
}

NOINLINE static int recursive(int n)
{
	ENTER();
	CHECK();
	int value = n > 0 ? FOREIGN("asm_call_pointer", asm_call_pointer(recursive, n - 3)) : leaf(n);
	if (n > 4)
		value += FOREIGN("asm_call_back", asm_call_back(n));
	LEAVE();
	return value;
}

/* The x86-64 red zone and every caller-saved register must be thought of; the call is hidden from the compiler. */
NOINLINE static int inline_call(int n)
{
	ENTER();
	int value;
	leaf(0);
	shadow_push("...");
	__asm__ volatile("movq %%rsp, %%rbx\n\t"
			 "subq $128, %%rsp\n\t"
			 "andq $-16, %%rsp\n\t"
			 "call called_by_asm\n\t"
			 "movq %%rbx, %%rsp"
			 : "=a"(value)
			 : "D"(n)
			 : "rbx", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "memory", "cc", "xmm0", "xmm1", "xmm2",
			   "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13",
			   "xmm14", "xmm15");
	RESTORE();
	leaf(value);
	LEAVE();
	return value;
}

NOINLINE static int twice(int n)
{
	ENTER();
	int value = inline_call(n) + inline_call(n + 1);
	LEAVE();
	return value;
}

int main(void)
{
	ENTER();
	EXPECT(FOREIGN("asm_call_back", asm_call_back(4)) == 10);
	EXPECT(FOREIGN("asm_call_pointer", asm_call_pointer(called_by_asm, 5)) == 12);
	EXPECT(FOREIGN("asm_tail_pointer", asm_tail_pointer(called_by_asm, 5)) == 14);
	recursive(10);
	EXPECT(inline_call(3) == 6);
	EXPECT(twice(3) == 14);
	leaf(1);
	LEAVE();
	return 0;
}

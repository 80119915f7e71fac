/* assembly.c - calls assembly.S, and is called by it. */
#include <waymark.h>

void by_push(int x);
void late(long times);
void on_stack(void (*f)(void), void *top);

volatile int sink;
static char stack[1 << 16] __attribute__((aligned(16)));

__attribute__((noinline)) void back(void)
{
	wm_event("back", 1);
	sink++;
}

/* Its frame is found by registers that the assembly has used and restores. */
__attribute__((noinline)) static void outer(int a, int b, int c, int d)
{
	for (int i = 0; i < a; i++) {
		by_push(b + i);
		sink += c + d;
	}
}

__attribute__((noinline)) static void elsewhere(void)
{
	wm_event("elsewhere", 1);
	sink++;
}

int main(int argc, char **argv)
{
	(void)argv;
	outer(argc, argc + 1, argc * 3, argc * 5);
	late(100000000);
	on_stack(elsewhere, stack + sizeof stack);
	sink++;
	return 0;
}

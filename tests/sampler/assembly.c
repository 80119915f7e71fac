/* assembly.c - calls assembly.S, and is called by it. */
#include <string.h>
#include <sys/mman.h>
#include <waymark.h>

void by_push(int x);
void late(long times);
void on_stack(void (*f)(void), void *top);
void on_saved(void (*f)(void), void *top);
void on_goroutine(void (*f)(void), void *top);
__attribute__((noreturn)) void leave_goroutine(void);
void made(void (*f)(void));
extern const char made_end[];

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

__attribute__((noinline)) static void switched(void)
{
	wm_event("switched", 1);
	sink++;
}

__attribute__((noinline)) static void went(void)
{
	wm_event("went", 1);
	sink++;
	leave_goroutine();
}

__attribute__((noinline)) static void called(void)
{
	wm_event("called", 1);
	sink++;
}

/* At run time, as a virtual machine does. */
__attribute__((noinline)) static void make_and_call(void)
{
	size_t bytes = (size_t)(made_end - (const char *)made);
	void *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (code == MAP_FAILED)
		return;
	memcpy(code, (const void *)made, bytes);
	((void (*)(void (*)(void)))code)(called);
	sink++;
}

int main(int argc, char **argv)
{
	(void)argv;
	outer(argc, argc + 1, argc * 3, argc * 5);
	late(100000000);
	on_stack(elsewhere, stack + sizeof stack);
	on_saved(switched, stack + sizeof stack);
	on_goroutine(went, stack + sizeof stack);
	make_and_call();
	sink++;
	return 0;
}

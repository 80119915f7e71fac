/* signal33.c - puts the client's handlers in place, by the kernel's own call: glibc refuses the signals. */
#include "native/signal33.h"

#include <time.h>

#include "recorder/process.h"
#include "recorder/sys.h"

/* As the kernel has it. */
struct kernel_action {
	signal33_fn handler;
	unsigned long flags;
	void (*restorer)(void);
	uint64_t mask;
};

/* handler: written once, at start; previous: by who puts the handler in place. */
struct kept {
	int number;
	signal33_fn own;
	struct kernel_action previous;
};
static struct kept tick = {.number = TICK_SIGNAL}, watch = {.number = WATCH_SIGNAL};

/*
 * Who walks the stack finds all registers in the ucontext that the stack's pointer is at: where each is, by its number in DWARF. The row
 * begins before the code, for who looks in front of a return address.
 */
#define SAVED(number, off_low, off_high) \
	"	.cfi_escape 0x10, " #number ", 0x03, 0x77, " #off_low ", " #off_high "\n"
__asm__(".text\n"
	".hidden signal33_return\n"
	"	.cfi_startproc\n"
	"	.cfi_signal_frame\n"
	"	.cfi_escape 0x0f, 0x04, 0x77, 0xa0, 0x01, 0x06\n" /* the CFA: rsp of the ucontext */
	SAVED(8, 0xa8, 0x00) SAVED(9, 0xb0, 0x00) SAVED(10, 0xb8, 0x00) SAVED(11, 0xc0, 0x00) SAVED(12, 0xc8, 0x00)
		SAVED(13, 0xd0, 0x00) SAVED(14, 0xd8, 0x00) SAVED(15, 0xe0, 0x00) SAVED(5, 0xe8, 0x00)
			SAVED(4, 0xf0, 0x00) SAVED(6, 0xf8, 0x00) SAVED(3, 0x80, 0x01) SAVED(1, 0x88, 0x01)
				SAVED(0, 0x90, 0x01) SAVED(2, 0x98, 0x01) SAVED(7, 0xa0, 0x01)
					SAVED(16, 0xa8, 0x01) "	nop\n"
							      "signal33_return:\n"
							      "	movq $15, %rax\n"
							      "	syscall\n"
							      "	.cfi_endproc\n");
extern void signal33_return(void);

static bool keep(struct kept *k)
{
	struct kernel_action action = {.handler = k->own,
				       .flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK | 0x04000000, /* SA_RESTORER */
				       .restorer = signal33_return,
				       .mask = ~wmrt_process.unblocked};
	struct kernel_action now = {.flags = 0};

	if (wmrt_sys6(SYS_rt_sigaction, k->number, 0, (long)&now, 8, 0, 0) != 0)
		return false;
	if (now.handler == k->own)
		return true;
	k->previous = now;
	return wmrt_sys6(SYS_rt_sigaction, k->number, (long)&action, 0, 8, 0, 0) == 0;
}

static void pass_on(const struct kept *k, siginfo_t *info, void *context)
{
	if (k->previous.handler && (uintptr_t)k->previous.handler != (uintptr_t)SIG_IGN)
		k->previous.handler(k->number, info, context);
}

static void give_back(const struct kept *k, bool is_any_coming)
{
	const struct kernel_action ignored = {.handler = (signal33_fn)(void (*)(void))SIG_IGN};
	const uint64_t set = UINT64_C(1) << (k->number - 1);
	const struct timespec now = {0, 0};

	/* One that came and was not delivered would do what the signal does without the handler: end the process, or a sleep. The kernel
	 * drops those of all threads when the signal is ignored. */
	if (is_any_coming)
		wmrt_sys6(SYS_rt_sigaction, k->number, (long)&ignored, 0, 8, 0, 0);
	while (wmrt_sys6(SYS_rt_sigtimedwait, (long)&set, 0, (long)&now, sizeof set, 0, 0) == k->number)
		;
	wmrt_sys6(SYS_rt_sigaction, k->number, (long)&k->previous, 0, 8, 0, 0);
}

void signal33_init(signal33_fn handler)
{
	tick.own = handler;
}

bool signal33_keep(void)
{
	return keep(&tick);
}

void signal33_pass_on(int number, siginfo_t *info, void *context)
{
	(void)number;
	pass_on(&tick, info, context);
}

void signal33_give_back(bool is_any_coming)
{
	give_back(&tick, is_any_coming);
}

void signal32_init(signal33_fn handler)
{
	watch.own = handler;
}

bool signal32_keep(void)
{
	return keep(&watch);
}

void signal32_pass_on(siginfo_t *info, void *context)
{
	pass_on(&watch, info, context);
}

void signal32_give_back(bool is_any_coming)
{
	give_back(&watch, is_any_coming);
}

/* signal33.c - puts the client's handler in place, by the kernel's own call: glibc refuses the signal. */
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

static signal33_fn own;               /* written once, at start */
static struct kernel_action previous; /* writer: who puts the handler in place */

__asm__(".text\n"
	".hidden signal33_return\n"
	"signal33_return:\n"
	"	movq $15, %rax\n"
	"	syscall\n");
extern void signal33_return(void);

void signal33_init(signal33_fn handler)
{
	own = handler;
}

bool signal33_keep(void)
{
	struct kernel_action action = {.handler = own,
				       .flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK | 0x04000000, /* SA_RESTORER */
				       .restorer = signal33_return,
				       .mask = ~wmrt_process.unblocked};
	struct kernel_action now = {.flags = 0};

	if (wmrt_sys6(SYS_rt_sigaction, TICK_SIGNAL, 0, (long)&now, 8, 0, 0) != 0)
		return false;
	if (now.handler == own)
		return true;
	previous = now;
	return wmrt_sys6(SYS_rt_sigaction, TICK_SIGNAL, (long)&action, 0, 8, 0, 0) == 0;
}

void signal33_pass_on(int number, siginfo_t *info, void *context)
{
	if (previous.handler)
		previous.handler(number, info, context);
}

void signal33_give_back(bool is_any_coming)
{
	const struct kernel_action ignored = {.handler = (signal33_fn)(void (*)(void))SIG_IGN};
	const uint64_t set = TICK_MASK;
	const struct timespec now = {0, 0};

	/* One that came and was not delivered would do what the signal does without the handler: end the process, or a sleep. The kernel
	 * drops those of all threads when the signal is ignored. */
	if (is_any_coming)
		wmrt_sys6(SYS_rt_sigaction, TICK_SIGNAL, (long)&ignored, 0, 8, 0, 0);
	while (wmrt_sys6(SYS_rt_sigtimedwait, (long)&set, 0, (long)&now, sizeof set, 0, 0) == TICK_SIGNAL)
		;
	wmrt_sys6(SYS_rt_sigaction, TICK_SIGNAL, (long)&previous, 0, 8, 0, 0);
}

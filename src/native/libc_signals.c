/* libc_signals.c - puts the client's handlers in place, by the kernel's own call: glibc refuses the signals. */
#include "native/libc_signals.h"

#include <time.h>

#include "recorder/kernel_action.h"
#include "recorder/process.h"
#include "recorder/sys.h"

/* own: written once, at start; previous: by who puts the handler in place. */
struct kept {
	int number;
	libc_signal_fn own;
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
	".hidden libc_signal_return\n"
	"	.cfi_startproc\n"
	"	.cfi_signal_frame\n"
	"	.cfi_escape 0x0f, 0x04, 0x77, 0xa0, 0x01, 0x06\n" /* the CFA: rsp of the ucontext */
	SAVED(8, 0xa8, 0x00) SAVED(9, 0xb0, 0x00) SAVED(10, 0xb8, 0x00) SAVED(11, 0xc0, 0x00) SAVED(12, 0xc8, 0x00)
		SAVED(13, 0xd0, 0x00) SAVED(14, 0xd8, 0x00) SAVED(15, 0xe0, 0x00) SAVED(5, 0xe8, 0x00)
			SAVED(4, 0xf0, 0x00) SAVED(6, 0xf8, 0x00) SAVED(3, 0x80, 0x01) SAVED(1, 0x88, 0x01)
				SAVED(0, 0x90, 0x01) SAVED(2, 0x98, 0x01) SAVED(7, 0xa0, 0x01)
					SAVED(16, 0xa8, 0x01) "	nop\n"
							      "libc_signal_return:\n"
							      "	movq $15, %rax\n"
							      "	syscall\n"
							      "	.cfi_endproc\n");
extern void libc_signal_return(void);

static struct kept *of(int number)
{
	return number == TICK_SIGNAL ? &tick : &watch;
}

void libc_signal_init(int number, libc_signal_fn handler)
{
	of(number)->own = handler;
}

bool libc_signal_keep(int number)
{
	struct kept *k = of(number);
	struct kernel_action action = {.handler = (uintptr_t)k->own,
				       .flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK | 0x04000000, /* SA_RESTORER */
				       .restorer = (uintptr_t)libc_signal_return,
				       .mask = ~wmrt_process.unblocked};
	struct kernel_action now = {.flags = 0};

	if (!kernel_action(number, NULL, &now))
		return false;
	if (now.handler == action.handler)
		return true;
	k->previous = now;
	return kernel_action(number, &action, NULL);
}

void libc_signal_pass_on(int number, siginfo_t *info, void *context)
{
	uintptr_t handler = of(number)->previous.handler;

	if (handler != (uintptr_t)SIG_DFL && handler != (uintptr_t)SIG_IGN)
		((libc_signal_fn)handler)(number, info, context); /* NOLINT(performance-no-int-to-ptr) */
}

void libc_signal_give_back(int number, bool is_any_coming)
{
	const struct kernel_action ignored = {.handler = (uintptr_t)SIG_IGN};
	const uint64_t set = UINT64_C(1) << (number - 1);
	const struct timespec now = {0, 0};

	/* One that came and was not delivered would do what the signal does without the handler: end the process, or a sleep. The kernel
	 * drops those of all threads when the signal is ignored. */
	if (is_any_coming)
		kernel_action(number, &ignored, NULL);
	while (wmrt_sys6(SYS_rt_sigtimedwait, (long)&set, 0, (long)&now, sizeof set, 0, 0) == number)
		;
	kernel_action(number, &of(number)->previous, NULL);
}

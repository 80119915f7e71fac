/* kernel_action.h - actions of signals as the kernel has them, those of the C library's own signals among them. */
#ifndef WM_RECORDER_KERNEL_ACTION_H
#define WM_RECORDER_KERNEL_ACTION_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "recorder/sys.h"

enum {
	KERNEL_SIGNALS = 64,
};

struct kernel_action {
	uintptr_t handler;
	unsigned long flags;
	uintptr_t restorer;
	uint64_t mask;
};

/* act, old: NULL for none. Signal-safe. */
static inline bool kernel_action(int sig, const struct kernel_action *act, struct kernel_action *old)
{
	return wmrt_sys6(SYS_rt_sigaction, sig, (long)act, (long)old, sizeof old->mask, 0, 0) == 0;
}

/* In the handler of the signal: this thread gets it again. */
static inline void kernel_send_again(int sig, siginfo_t *info)
{
	wmrt_sys6(SYS_rt_tgsigqueueinfo, wmrt_getpid(), wmrt_gettid(), sig, (long)info, 0, 0);
}

static inline void kernel_action_default(int sig)
{
	static const struct kernel_action by_default;

	kernel_action(sig, &by_default, NULL);
}

#endif

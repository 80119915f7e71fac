/*
 * bus.c - stands between the kernel and the program's action for SIGBUS.
 *
 *      SIGBUS ---> in a recording? ---> memory in its place, and on (mapping.c)
 *                  the program's: a handler ---> is called, in the frame and with the mask that the kernel made for it
 *                                 ignored   ---> nothing, if somebody sent it; a fault ends the process, as it does in the kernel
 *                                 default   ---> the kernel's action becomes that: the fault comes again, a sent signal is sent again
 *
 * It is never blocked in the kernel: neither by the recorder's locks (wmrt_process.unblocked), nor where the program has it blocked
 * (handlers.c), nor in a handler that comes while sigsuspend waits (wmrt_bus_open). One that somebody sent meanwhile waits here until that is over, and a fault of the program's own ends the process, as in
 * the kernel.
 *
 * A program that sets the action by a system call of its own has its way, and no repairs from then on. After exec SIGBUS has the
 * default action also where the program had it ignored.
 */
#include "recorder/bus.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <ucontext.h>

#include "recorder/config.h"
#include "recorder/handlers.h"
#include "recorder/kernel_action.h"
#include "recorder/mapping.h"
#include "recorder/process.h"
#include "recorder/sys.h"
#include "recorder/thread.h"

enum {
	FLAG_RESTORER = 0x04000000,
	HANDLER_BYTES = 1 << 20, /* of stack that a handler uses */
};
static const uint64_t BUS_BIT = UINT64_C(1) << (SIGBUS - 1);
/* Which no mask has. */
static const uint64_t NEVER_BLOCKED = UINT64_C(1) << (SIGKILL - 1) | UINT64_C(1) << (SIGSTOP - 1);

static _Atomic bool is_taken, was_taken;
/* The program's, under the lock; its handler and flags also in these. */
static struct sigaction program;
static _Atomic(uintptr_t) program_handler;
static _Atomic int program_flags;

bool wmrt_bus_is_taken(void)
{
	return atomic_load_explicit(&is_taken, memory_order_acquire);
}

bool wmrt_bus_was_taken(void)
{
	return atomic_load_explicit(&was_taken, memory_order_acquire);
}

static bool is_function(uintptr_t handler)
{
	return handler != (uintptr_t)SIG_DFL && handler != (uintptr_t)SIG_IGN;
}

static void set_program(const struct sigaction *act)
{
	program = *act;
	sigdelset(&program.sa_mask, SIGKILL);
	sigdelset(&program.sa_mask, SIGSTOP);
	atomic_store(&program_flags, act->sa_flags);
	atomic_store(&program_handler, (uintptr_t)act->sa_handler);
}

/* The kernel's action for the program's. */
static struct sigaction installed(const struct sigaction *act)
{
	struct sigaction ret = *act;

	if (!is_function((uintptr_t)act->sa_handler)) {
		sigemptyset(&ret.sa_mask);
		ret.sa_flags = SA_RESTART | SA_ONSTACK;
	}
	ret.sa_flags &= ~(int)SA_RESETHAND;
	ret.sa_flags |= SA_SIGINFO;
	ret.sa_sigaction = wmrt_handle;
	return ret;
}

void wmrt_bus_take(void)
{
	struct sigaction was, wanted;

	if (wmrt_bus_is_taken() || wmrt_next_sigaction(SIGBUS, NULL, &was) != 0 || was.sa_sigaction == wmrt_handle)
		return;
	set_program(&was);
	wanted = installed(&was);
	if (wmrt_next_sigaction(SIGBUS, &wanted, NULL) != 0)
		return;
	atomic_store_explicit(&was_taken, true, memory_order_release);
	atomic_store_explicit(&is_taken, true, memory_order_release);
	wmrt_process.unblocked = BUS_BIT;
}

void wmrt_bus_share(void)
{
	wmrt_process.unblocked = BUS_BIT;
}

void wmrt_bus_start(void)
{
	if (!wmrt_config()->is_off)
		wmrt_bus_take();
}

void wmrt_bus_give_back(void)
{
	struct sigaction now;

	if (!wmrt_bus_is_taken())
		return;
	atomic_store(&is_taken, false);
	wmrt_process.unblocked = 0;
	if (wmrt_next_sigaction(SIGBUS, NULL, &now) == 0 && now.sa_sigaction == wmrt_handle)
		wmrt_next_sigaction(SIGBUS, &program, NULL);
}

int wmrt_bus_action(const struct sigaction *act, struct sigaction *old)
{
	struct sigaction was, wanted;
	struct wmrt_guard guard;
	int rc;

	if (act)
		wanted = installed(act);
	wmrt_check_fork();
	wmrt_lock(&guard);
	was = program;
	rc = wmrt_next_sigaction(SIGBUS, act ? &wanted : NULL, old);
	/* Set past this file: what the kernel says is so. */
	if (rc == 0 && old && old->sa_sigaction == wmrt_handle) {
		*old = was;
		old->sa_handler = (void (*)(int))atomic_load(&program_handler);
	}
	if (rc == 0 && act) {
		set_program(act);
		program.sa_flags |= FLAG_RESTORER; /* as libc has it from the kernel */
	}
	wmrt_unlock(&guard);
	return rc;
}

/* Somebody sent it, or it is the news of a broken page that nobody has touched. */
static bool is_sent(const siginfo_t *info)
{
	return info->si_code <= 0 || info->si_code == BUS_MCEERR_AO;
}

/* Did it come where the recorder has all blocked but this? libc lets no program block as many. */
static bool is_in_recorder(const ucontext_t *context)
{
	return (*(const uint64_t *)(const void *)&context->uc_sigmask | BUS_BIT | NEVER_BLOCKED) == ~UINT64_C(0);
}

/* As the kernel does where the program's action is the default one. */
static void end(siginfo_t *info)
{
	kernel_action_default(SIGBUS);
	if (is_sent(info))
		kernel_send_again(SIGBUS, info);
}

void wmrt_bus_unblock(void *data)
{
	ucontext_t *context = data;

	if (!wmrt_bus_is_taken() || sigismember(&context->uc_sigmask, SIGBUS) != 1)
		return;
	sigdelset(&context->uc_sigmask, SIGBUS);
	wmrt_local.is_bus_blocked = true;
}

void wmrt_bus_unblock_here(void)
{
	uint64_t mask = 0;

	if (!wmrt_bus_is_taken() || wmrt_process.is_sealed)
		return;
	wmrt_sys6(SYS_rt_sigprocmask, SIG_UNBLOCK, (long)&BUS_BIT, (long)&mask, sizeof mask, 0, 0);
	if (mask & BUS_BIT)
		wmrt_local.is_bus_blocked = true;
}

uintptr_t wmrt_bus_open(const void *frame)
{
	uintptr_t outer = wmrt_local.bus_frame;
	uint64_t mask = 0;

	if (wmrt_bus_is_taken() && !wmrt_process.is_sealed)
		wmrt_sys6(SYS_rt_sigprocmask, SIG_UNBLOCK, (long)&BUS_BIT, (long)&mask, sizeof mask, 0, 0);
	if (mask & BUS_BIT)
		wmrt_local.bus_frame = (uintptr_t)frame;
	return outer;
}

void wmrt_bus_close(uintptr_t outer)
{
	wmrt_local.bus_frame = outer;
}

/* What a handler calls is near its frame. */
bool wmrt_bus_is_blocked(uintptr_t sp)
{
	uintptr_t frame = wmrt_local.bus_frame;

	return wmrt_local.is_bus_blocked || (sp < frame && frame - sp < HANDLER_BYTES);
}

void wmrt_bus_set_blocked(bool is_blocked)
{
	wmrt_local.is_bus_blocked = is_blocked;
	wmrt_local.bus_frame = 0;
}

wmrt_handler_fn wmrt_bus_handler(siginfo_t *info, void *data)
{
	uintptr_t handler = atomic_load(&program_handler);
	ucontext_t *context = data;
	bool is_blocked =
		is_in_recorder(context) || wmrt_bus_is_blocked((uintptr_t)context->uc_mcontext.gregs[REG_RSP]);

	if (info->si_code == BUS_ADRERR && wmrt_mapping_repair((uintptr_t)info->si_addr))
		return NULL;
	if (is_sent(info) && is_blocked) {
		sigaddset(&context->uc_sigmask, SIGBUS);
		kernel_send_again(SIGBUS, info);
		return NULL;
	}
	if (handler == (uintptr_t)SIG_IGN && is_sent(info))
		return NULL;
	if (!is_function(handler) || is_blocked) {
		end(info);
		return NULL;
	}
	if (atomic_load(&program_flags) & (int)SA_RESETHAND)
		atomic_store(&program_handler, (uintptr_t)SIG_DFL);
	return (wmrt_handler_fn)handler;
}

/*
 * handlers.c - interposes sigaction, its older relatives and sigprocmask: the former install one handler, and the program's is kept in a table.
 *
 * Everything else of the action (flags, mask, restorer) is the program's and the kernel's, and old actions are returned as the program
 * set them. The kernel passes all three arguments to a handler on x86-64, whatever SA_SIGINFO says, so one handler serves both kinds.
 *
 * A handler set by vfork's child before its exec is not replaced: the table is the parent's.
 *
 * SIGBUS stays unblocked in the kernel (bus.h), also where the program has it blocked by these functions: in a mask of its own or of a
 * handler. sigsuspend and its kin block it while they wait; a handler that comes then unblocks it (wmrt_bus_open). A system call in assembly
 * blocks it all the same.
 *
 * Changes of actions by libc's system(), posix_spawn() and abort() go past this table and needs nothing from it: they
 * put back what the kernel returned to them.
 */
#include "recorder/handlers.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "recorder/image.h"
#include "recorder/interpose.h"
#include "recorder/kernel_action.h"
#include "recorder/process.h"
#include "recorder/sys.h"
#include "recorder/thread.h"

typedef void (*handler_fn)(int);

/* glibc's own name of sigaction, in libc.a too. */
extern int __sigaction(int sig, const struct sigaction *act, struct sigaction *old);

/* The program's handler of each signal whose action is wmrt_handle. Writer: set_action, under the lock. */
static _Atomic(uintptr_t) handlers[NSIG];

/* The program's mask of that signal's action has SIGBUS, the kernel's has not (hide_bus). Writer: set_action, under the lock. */
static _Atomic(bool) masks_bus[NSIG];

/* Signals that siginterrupt() made interrupt: libc's signal() has its own note of it, which static programs cannot reach. */
static _Atomic(bool) interrupts[NSIG];

/* wmrt_handlers_block. Programs cannot name these signals: libc keeps them out of their sets. */
static uint64_t client_mask;
static _Atomic(bool) blocks[NSIG];

static _Atomic(void *) next_sigaction;
static _Atomic(void *) next_siginterrupt;
static _Atomic(void *) next_sigprocmask;
static _Atomic(void *) next_pthread_sigmask;

/* wmrt_handlers_guard. Written before main. */
static int guarded; /* 0: none */
static struct sigaction guard_action;

/* wmrt_handlers_stay_out, wmrt_handlers_only_bus. Written before main. */
static bool stays_out;
static bool is_only_bus;

static bool is_signal(int sig)
{
	return sig > 0 && sig < NSIG && !stays_out && wmrt_is_active();
}

/* A function, and not SIG_DFL, SIG_IGN, SIG_HOLD or SIG_ERR. */
static bool is_function(handler_fn handler)
{
	return (uintptr_t)handler > 2 && handler != SIG_ERR;
}

static bool is_guard(int sig, const struct sigaction *act)
{
	return guarded && sig == guarded && act->sa_sigaction == guard_action.sa_sigaction;
}

/* The program's default action. */
static void hide_guard(int sig, struct sigaction *act)
{
	if (!is_guard(sig, act))
		return;
	memset(act, 0, sizeof *act);
	act->sa_handler = SIG_DFL;
}

static handler_fn as_program_set(handler_fn handler, uintptr_t before)
{
	return handler == (handler_fn)(void *)wmrt_handle ? (handler_fn)before : handler;
}

/* A fault in a recording could not be repaired where SIGBUS is blocked. True: it was in the set. */
static bool hide_bus(sigset_t *set)
{
	bool is_there = wmrt_bus_is_taken() && sigismember(set, SIGBUS) == 1;

	if (is_there)
		sigdelset(set, SIGBUS);
	return is_there;
}

static int own_sigaction(int sig, const struct sigaction *act, struct sigaction *old);

int wmrt_next_sigaction(int sig, const struct sigaction *act, struct sigaction *old)
{
	int (*next)(int, const struct sigaction *, struct sigaction *) =
		wmrt_next(&next_sigaction, "sigaction", (void *)own_sigaction);

	return next ? next(sig, act, old) : __sigaction(sig, act, old);
}

static int set_action(int sig, const struct sigaction *act, struct sigaction *old)
{
	struct sigaction wanted, was;
	struct wmrt_guard guard;
	bool is_wrapped = false, masked_bus;
	uintptr_t before;
	int rc;

	if (act) {
		wanted = *act;
		is_wrapped = is_function(act->sa_handler) && !wmrt_is_vfork_child();
	}
	wmrt_check_fork();
	wmrt_lock(&guard);
	before = atomic_load(&handlers[sig]);
	masked_bus = atomic_load(&masks_bus[sig]);
	if (is_wrapped) {
		atomic_store(&handlers[sig], (uintptr_t)wanted.sa_handler);
		if (!is_only_bus)
			wanted.sa_handler = (handler_fn)(void *)wmrt_handle;
		if (wanted.sa_flags & SA_ONSTACK)
			wanted.sa_mask.__val[0] |= client_mask;
		atomic_store(&blocks[sig], (wanted.sa_flags & SA_ONSTACK) != 0);
		atomic_store(&masks_bus[sig], hide_bus(&wanted.sa_mask));
	}
	if (act && sig == guarded && act->sa_handler == SIG_DFL && !wmrt_is_vfork_child())
		wanted = guard_action;
	/* The guard is no handler of the program's, for its own runtime neither. */
	rc = act && is_guard(sig, &wanted) ? __sigaction(sig, &wanted, &was)
					   : wmrt_next_sigaction(sig, act ? &wanted : NULL, &was);
	if (rc != 0) {
		atomic_store(&handlers[sig], before);
		atomic_store(&masks_bus[sig], masked_bus);
	}
	wmrt_unlock(&guard);
	if (rc == 0)
		hide_guard(sig, &was);
	if (rc == 0 && old) {
		*old = was;
		old->sa_handler = as_program_set(was.sa_handler, before);
		old->sa_mask.__val[0] &= ~client_mask;
		if (masked_bus && (uintptr_t)as_program_set(was.sa_handler, before) == before)
			sigaddset(&old->sa_mask, SIGBUS);
	}
	return rc;
}

static int own_sigaction(int sig, const struct sigaction *act, struct sigaction *old)
{
	if (!is_signal(sig) || (sig == SIGBUS && wmrt_bus_is_taken() && wmrt_is_vfork_child()))
		return wmrt_next_sigaction(sig, act, old);
	return sig == SIGBUS && wmrt_bus_is_taken() ? wmrt_bus_action(act, old) : set_action(sig, act, old);
}

/* Implements signal() and sysv_signal() by sigaction: for static programs, and for SIGBUS. */
static handler_fn set_with_flags(int sig, handler_fn handler, int flags)
{
	struct sigaction act, old;

	if (handler == SIG_ERR || sig < 1 || sig >= NSIG) {
		errno = EINVAL;
		return SIG_ERR;
	}
	memset(&act, 0, sizeof act);
	act.sa_handler = handler;
	act.sa_flags = flags;
	if (atomic_load(&interrupts[sig]))
		act.sa_flags &= ~SA_RESTART;
	if (flags & SA_RESTART)
		sigaddset(&act.sa_mask, sig);
	if ((sig == SIGBUS && wmrt_bus_is_taken()) || sig == guarded)
		return own_sigaction(sig, &act, &old) < 0 ? SIG_ERR : old.sa_handler;
	return __sigaction(sig, &act, &old) < 0 ? SIG_ERR : old.sa_handler;
}

struct older {
	_Atomic(void *) next;
	const char *name;
	handler_fn (*own)(int, handler_fn);
	int flags;
};

static handler_fn own_signal(int sig, handler_fn handler);
static handler_fn own_sysv_signal(int sig, handler_fn handler);

static struct older older_bsd = {NULL, "signal", own_signal, SA_RESTART};
static struct older older_sysv = {NULL, "__sysv_signal", own_sysv_signal, (int)SA_RESETHAND | SA_NODEFER};

static handler_fn set_handler(struct older *kind, int sig, handler_fn handler)
{
	handler_fn (*next)(int, handler_fn) = wmrt_next(&kind->next, kind->name, (void *)kind->own);
	bool is_wrapped = is_function(handler) && is_signal(sig) && !is_only_bus && !wmrt_is_vfork_child();
	handler_fn set = is_wrapped ? (handler_fn)(void *)wmrt_handle : handler;
	struct wmrt_guard guard;
	handler_fn was;
	uintptr_t before = 0;

	if (!is_signal(sig))
		return next ? next(sig, handler) : set_with_flags(sig, handler, kind->flags);
	if ((sig == SIGBUS && wmrt_bus_is_taken()) || sig == guarded)
		return set_with_flags(sig, handler, kind->flags);
	wmrt_check_fork();
	wmrt_lock(&guard);
	before = atomic_load(&handlers[sig]);
	if (is_wrapped) {
		atomic_store(&handlers[sig], (uintptr_t)handler);
		atomic_store(&masks_bus[sig], false);
	}
	was = next ? next(sig, set) : set_with_flags(sig, set, kind->flags);
	if (was == SIG_ERR)
		atomic_store(&handlers[sig], before);
	wmrt_unlock(&guard);
	return as_program_set(was, before);
}

static handler_fn own_signal(int sig, handler_fn handler)
{
	return set_handler(&older_bsd, sig, handler);
}

static handler_fn own_sysv_signal(int sig, handler_fn handler)
{
	return set_handler(&older_sysv, sig, handler);
}

/* All of it, by POSIX, on top of sigaction: it changes the mask too, which set_handler would put back. */
static handler_fn own_sigset(int sig, handler_fn handler)
{
	struct sigaction act, old;
	sigset_t set, was;

	if (handler == SIG_ERR || sig < 1 || sig >= NSIG) {
		errno = EINVAL;
		return SIG_ERR;
	}
	memset(&act, 0, sizeof act);
	act.sa_handler = handler;
	if (own_sigaction(sig, handler == SIG_HOLD ? NULL : &act, &old) < 0)
		return SIG_ERR;
	sigemptyset(&set);
	sigaddset(&set, sig);
	if (sigprocmask(handler == SIG_HOLD ? SIG_BLOCK : SIG_UNBLOCK, &set, &was) < 0)
		return SIG_ERR;
	return sigismember(&was, sig) ? SIG_HOLD : old.sa_handler;
}

static int own_siginterrupt(int sig, int is_on)
{
	int (*next)(int, int) = wmrt_next(&next_siginterrupt, "siginterrupt", (void *)own_siginterrupt);
	struct sigaction act = {0};

	if (next)
		return next(sig, is_on);
	if (own_sigaction(sig, NULL, &act) < 0)
		return -1;
	atomic_store(&interrupts[sig], is_on != 0);
	act.sa_flags = is_on ? act.sa_flags & ~SA_RESTART : act.sa_flags | SA_RESTART;
	return own_sigaction(sig, &act, NULL);
}

/* ---- masks ---- */

typedef int (*mask_fn)(int how, const sigset_t *set, sigset_t *old);

/* For static programs. libc keeps two signals for itself, and clears what the kernel does not know of. An error number. */
static int kernel_mask(int how, const sigset_t *set, sigset_t *old)
{
	static const uint64_t of_libc = UINT64_C(3) << 31;
	uint64_t wanted = set ? *(const uint64_t *)(const void *)set & ~of_libc : 0, was = 0;
	long rc = wmrt_sys6(SYS_rt_sigprocmask, how, set ? (long)&wanted : 0, (long)&was, sizeof was, 0, 0);

	if (rc == 0 && old) {
		sigemptyset(old);
		*(uint64_t *)(void *)old = was;
	}
	return (int)-rc;
}

/* SIGBUS is never blocked in the kernel for the program's sake; the program is told what it asked for. */
static int set_mask(mask_fn next, int how, const sigset_t *set, sigset_t *old)
{
	bool was_blocked = wmrt_bus_is_blocked((uintptr_t)__builtin_frame_address(0)), is_in = false;
	struct wmrt_local was = wmrt_local;
	sigset_t wanted;
	int rc;

	if (set) {
		wanted = *set;
		is_in = how == SIG_UNBLOCK ? sigismember(set, SIGBUS) == 1 : hide_bus(&wanted);
	}
	/* Before one that waits is delivered. */
	if (set && (is_in || how == SIG_SETMASK))
		wmrt_bus_set_blocked(is_in && how != SIG_UNBLOCK);
	rc = next(how, set ? &wanted : NULL, old);
	if (rc != 0) {
		wmrt_local.is_bus_blocked = was.is_bus_blocked;
		wmrt_local.bus_frame = was.bus_frame;
	} else if (old && was_blocked) {
		sigaddset(old, SIGBUS);
	}
	return rc;
}

static int own_pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
	mask_fn next = (mask_fn)wmrt_next(&next_pthread_sigmask, "pthread_sigmask", (void *)own_pthread_sigmask);

	return set_mask(next ? next : kernel_mask, how, set, old);
}

static int own_sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
	mask_fn next = (mask_fn)wmrt_next(&next_sigprocmask, "sigprocmask", (void *)own_sigprocmask);
	int rc = set_mask(next ? next : kernel_mask, how, set, old);

	if (rc > 0)
		errno = rc;
	return rc ? -1 : 0;
}

WMRT_INTERPOSE(pthread_sigmask, own_pthread_sigmask);
WMRT_INTERPOSE(sigprocmask, own_sigprocmask);
WMRT_INTERPOSE(sigaction, own_sigaction);
WMRT_INTERPOSE(siginterrupt, own_siginterrupt);
WMRT_INTERPOSE(signal, own_signal);
WMRT_INTERPOSE(bsd_signal, own_signal);
WMRT_INTERPOSE(ssignal, own_signal);
WMRT_INTERPOSE(sysv_signal, own_sysv_signal);
WMRT_INTERPOSE(__sysv_signal, own_sysv_signal);
WMRT_INTERPOSE(sigset, own_sigset);

void wmrt_handlers_start(void)
{
	wmrt_next(&next_sigaction, "sigaction", (void *)own_sigaction);
	wmrt_next(&next_siginterrupt, "siginterrupt", (void *)own_siginterrupt);
	wmrt_next(&next_sigprocmask, "sigprocmask", (void *)own_sigprocmask);
	wmrt_next(&next_pthread_sigmask, "pthread_sigmask", (void *)own_pthread_sigmask);
	wmrt_next(&older_bsd.next, older_bsd.name, (void *)own_signal);
	wmrt_next(&older_sysv.next, older_sysv.name, (void *)own_sysv_signal);
}

wmrt_handler_fn wmrt_handler_of(int sig, siginfo_t *info, void *context)
{
	if (sig == SIGBUS && wmrt_bus_was_taken())
		return wmrt_bus_handler(info, context);
	return (wmrt_handler_fn)atomic_load_explicit(&handlers[sig], memory_order_acquire);
}

void wmrt_handlers_stay_out(void)
{
	stays_out = true;
}

void wmrt_handlers_only_bus(void)
{
	is_only_bus = true;
}

void wmrt_handlers_block(uint64_t mask)
{
	client_mask = mask;
}

void wmrt_handlers_guard(int sig, const struct sigaction *action)
{
	struct sigaction was;

	guard_action = *action;
	guarded = sig;
	if (__sigaction(sig, NULL, &was) == 0 && was.sa_handler == SIG_DFL)
		__sigaction(sig, &guard_action, NULL);
}

uint64_t wmrt_handler_blocks(int sig)
{
	return atomic_load_explicit(&blocks[sig], memory_order_relaxed) ? client_mask : 0;
}

/* ---- of a program that runs already ---- */

enum {
	FIRST_OF_LIBC = 32, /* and the next one: libc's own */
};

void wmrt_handlers_take(void)
{
	struct kernel_action action = {0};

	wmrt_bus_take();
	for (int sig = 1; sig <= KERNEL_SIGNALS; sig++) {
		if (sig == SIGBUS || sig == FIRST_OF_LIBC || sig == FIRST_OF_LIBC + 1 ||
		    !kernel_action(sig, NULL, &action) || !is_function((handler_fn)action.handler) ||
		    action.handler == (uintptr_t)wmrt_handle)
			continue;
		atomic_store(&handlers[sig], action.handler);
		action.handler = (uintptr_t)wmrt_handle;
		if (action.flags & SA_ONSTACK) {
			action.mask |= client_mask;
			atomic_store(&blocks[sig], true);
		}
		kernel_action(sig, &action, NULL);
	}
}

void wmrt_handlers_give_back(void)
{
	struct kernel_action action = {0};

	wmrt_bus_give_back();
	for (int sig = 1; sig <= KERNEL_SIGNALS; sig++) {
		if (!kernel_action(sig, NULL, &action) || action.handler != (uintptr_t)wmrt_handle)
			continue;
		action.handler = atomic_load(&handlers[sig]);
		action.mask &= ~client_mask;
		kernel_action(sig, &action, NULL);
	}
}

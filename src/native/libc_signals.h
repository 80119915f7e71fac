/*
 * libc_signals.h - the two signals that glibc keeps for itself, so that programs cannot use them: stops and timers of threads come with
 * TICK_SIGNAL. glibc puts its handler for it in place when it first makes a thread, and that for WATCH_SIGNAL at the first pthread_cancel, so
 * they are looked at again and again. Who has both puts each back when the other comes.
 */
#ifndef WM_NATIVE_LIBC_SIGNALS_H
#define WM_NATIVE_LIBC_SIGNALS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

enum {
	TICK_SIGNAL = 33,  /* SIGSETXID of glibc */
	WATCH_SIGNAL = 32, /* SIGCANCEL of glibc */
};
/* It, in a set of the kernel's. */
static const uint64_t TICK_MASK = UINT64_C(1) << (TICK_SIGNAL - 1);

typedef void (*libc_signal_fn)(int number, siginfo_t *info, void *context);

/* Who handles it. All signals are blocked then. Once, at start. */
void libc_signal_init(int number, libc_signal_fn handler);
/* The handler is in place. False: it could not be put there. One thread at a time, or any while nothing has put another there. */
bool libc_signal_keep(int number);
/* What was there before handles it. Signal-safe. */
void libc_signal_pass_on(int number, siginfo_t *info, void *context);
/* What was there before is there again. All signals are blocked, and other threads stand still. is_any_coming: to some of these one was sent
 * that has not come yet. */
void libc_signal_give_back(int number, bool is_any_coming);

#endif

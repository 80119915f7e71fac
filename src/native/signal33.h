/*
 * signal33.h - the signal that stops and timers of threads come with. Programs cannot use it: glibc keeps it for setuid in all threads,
 * and puts its handler in place when it first makes a thread, so it is looked at again and again.
 */
#ifndef WM_NATIVE_SIGNAL33_H
#define WM_NATIVE_SIGNAL33_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

enum {
	TICK_SIGNAL = 33,  /* SIGSETXID of glibc */
	WATCH_SIGNAL = 32, /* SIGCANCEL of glibc */
};
/* It, in a set of the kernel's. */
static const uint64_t TICK_MASK = UINT64_C(1) << (TICK_SIGNAL - 1);

typedef void (*signal33_fn)(int number, siginfo_t *info, void *context);

/* Who handles it. All signals are blocked then. Once, at start. */
void signal33_init(signal33_fn handler);
/* The handler is in place. False: it could not be put there. One thread at a time, or any while nothing has put another there. */
bool signal33_keep(void);
/* What was there before handles it. Signal-safe. */
void signal33_pass_on(int number, siginfo_t *info, void *context);
/* What was there before is there again. All signals are blocked, and other threads stand still. is_any_coming: to some of these one was sent
 * that has not come yet. */
void signal33_give_back(bool is_any_coming);

/*
 * The same with the signal beside it, which programs cannot use either. glibc puts its handler in place at the first pthread_cancel. Who has
 * both puts each back when the other comes.
 */
void signal32_init(signal33_fn handler);
bool signal32_keep(void);
void signal32_pass_on(siginfo_t *info, void *context);
void signal32_give_back(bool is_any_coming);

#endif

/*
 * longjmp.h - interposes longjmp and its kin, for clients that follow jumps.
 */
#ifndef WM_RECORDER_LONGJMP_H
#define WM_RECORDER_LONGJMP_H

#include <setjmp.h>

typedef void (*wmrt_longjmp_fn)(struct __jmp_buf_tag *, int);

/* Looks the next ones up. */
void wmrt_longjmp_start(void);

/* The client's: jumps, by `next`, which is NULL in a static program. */
__attribute__((noreturn)) void wmrt_longjmp(wmrt_longjmp_fn next, struct __jmp_buf_tag *env, int val);

#endif

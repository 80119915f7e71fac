/*
 * leave.h - system calls that the program makes by syscall(), before they are made.
 */
#ifndef WM_RECORDER_LEAVE_H
#define WM_RECORDER_LEAVE_H

/* Called before prctl and seccomp. Does nothing unless a client defines it. */
void wmrt_before_syscall(long number, long first, long second, long third) __attribute__((visibility("hidden")));

#endif

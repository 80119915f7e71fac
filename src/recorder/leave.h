/*
 * leave.h - system calls that the program makes by syscall(), before they are made.
 */
#ifndef WM_RECORDER_LEAVE_H
#define WM_RECORDER_LEAVE_H

/* Of prctl and seccomp. Nothing is done where no client has a function of this name. */
void wmrt_before_syscall(long number, long first, long second, long third) __attribute__((visibility("hidden")));

#endif

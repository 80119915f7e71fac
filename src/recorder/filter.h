/*
 * filter.h - a process that asks for a filter of system calls (seccomp): what the recorder needs may be forbidden from then on.
 *
 * prctl is that of filter.c, syscall that of leave.c, and both come here. A system call in assembly does not.
 */
#ifndef WM_RECORDER_FILTER_H
#define WM_RECORDER_FILTER_H

/* Defined by the client; called before each request for a filter: the last moment for system calls of its own. */
void wmrt_before_filter(void) __attribute__((visibility("hidden")));
/* Looks up what is stood in front of: once, at start. */
void wmrt_filter_start(void);

#endif

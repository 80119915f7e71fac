/*
 * seccomp.h - a program that installs a filter of system calls (seccomp) goes on without the agent: what that needs may be forbidden
 * from then on.
 *
 * Before the filter is in force the recording is closed, timers are deleted, and one line says so. Code stays as it is: stubs count on in
 * memory that is there, and what would go into the agent goes on as the program has it, without a lock and without a system call.
 */
#ifndef WM_AGENT_SECCOMP_H
#define WM_AGENT_SECCOMP_H

/* Gives a thread that has none a context stack that all such threads share, so that stubs have somewhere to write. */
void seccomp_lend_stack(void);

#endif

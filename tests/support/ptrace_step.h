/*
 * ptrace_step.h - steps a traced process as PTRACE_SINGLESTEP does, by a breakpoint at the next instruction (next_instruction.h) where that is
 * known. The process has one thread: others would run into the breakpoint.
 */
#ifndef WM_TESTS_PTRACE_STEP_H
#define WM_TESTS_PTRACE_STEP_H

#include <stdbool.h>
#include <sys/types.h>
#include <sys/user.h>

/* Before the first step, and again when it has executed another program. One process at a time. */
void ptrace_step_begin(pid_t process);

/*
 * It goes on with the signal, 0 for none, from *regs, its registers as they are, for one instruction: *ret_status is that of waitpid, with SIGTRAP for a
 * step. *regs are its registers then, if it has stopped. false: ptrace or waitpid failed; errno says why.
 */
bool ptrace_step(int sig, struct user_regs_struct *regs, int *ret_status);

#endif

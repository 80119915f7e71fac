/*
 * step.h - single-steps a part of this program and unwinds after each instruction, against two independent oracles:
 *
 *   - libgcc's _Unwind_Backtrace: pc, CFA and callee-saved registers of every frame are equal;
 *   - a shadow stack of where each call that was stepped left its return address, which knows no CFI.
 *
 * STEP_BEGIN and STEP_END are in one function. A signal handler that the stepped part runs begins with STEP_NEST: the kernel clears
 * the trap flag for it.
 */
#ifndef WM_TESTS_AGENT_STEP_H
#define WM_TESTS_AGENT_STEP_H

#ifdef __cplusplus
extern "C" {
#endif

void step_prepare(void);                 /* once */
void step_set_base(const void *cfa);     /* return addresses above it are not in the shadow stack */
void step_nest(const void *return_slot); /* one that the kernel pushed */
void step_trap_off(void);
int step_finish(const char *program); /* prints counts; the exit status */

#define STEP_TRAP_ON() __asm__ volatile("pushfq; orl $0x100, (%%rsp); popfq; nop" ::: "memory", "cc")
#define STEP_END() step_trap_off()
#define STEP_BEGIN()                                  \
	do {                                          \
		step_set_base(__builtin_dwarf_cfa()); \
		STEP_TRAP_ON();                       \
	} while (0)
#define STEP_NEST()                                                 \
	do {                                                        \
		step_nest((const char *)__builtin_dwarf_cfa() - 8); \
		STEP_TRAP_ON();                                     \
	} while (0)

#ifdef __cplusplus
}
#endif

#endif

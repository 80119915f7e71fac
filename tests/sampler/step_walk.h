/* step_walk.h - what stepper.c and the library step_walk.c, which is in the program that is stepped, have in common. */
#ifndef WM_TESTS_SAMPLER_STEP_WALK_H
#define WM_TESTS_SAMPLER_STEP_WALK_H

#include <stdint.h>

enum {
	STEP_FRAMES = 4096,
	STEP_STACK_BYTES = 256 << 10,
};

struct step_frame {
	uint64_t pc;
	uint32_t flags; /* enum walk_flag */
	uint32_t is_in_libgcc;
};

/*
 * The library's constructor stops by int3 with the address of this in rdi and of a function in rsi. The function, entered with a stack pointer
 * at `top`, walks from the registers and stops by int3.
 */
struct step_area {
	uint64_t r[16]; /* by DWARF's numbers */
	uint64_t pc;
	uint32_t is_in_register; /* the innermost frame's return address is in no memory: a longjmp, a landing pad */
	uint32_t end;            /* enum walk_end */
	uint32_t count;
	struct step_frame frames[STEP_FRAMES];
	char stack[STEP_STACK_BYTES];
	uint64_t top[2];
};

#endif

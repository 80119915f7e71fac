/*
 * jump.c - longjmp and its kin jump by a copy of the program's buffer whose pc is the agent's (resume.h).
 *
 * setjmp and its kin note the context beside the thread. A jump to the same buffer, program counter and stack pointer, in the same epoch,
 * comes back to that context: the frame, and what called it, have been there all the time. Other jumps have it found from the stack.
 */
#include "agent/follow/jump.h"

#include <stdint.h>

#include "agent/threads/thread.h"
#include "agent/os/state.h"
#include "agent/follow/resume.h"
#include "recorder/interpose.h"
#include "recorder/jmp_buf.h"
#include "recorder/longjmp.h"

enum {
	SET_SETJMP = 0,
	SET_UNDERSCORE,
	SET_MASK,
	SET_COUNT,
};

static const char *const set_names[SET_COUNT] = {"setjmp", "_setjmp", "__sigsetjmp"};
static _Atomic(void *) set_nexts[SET_COUNT];

void wmrt_longjmp(wmrt_longjmp_fn next, struct __jmp_buf_tag *env, int val)
{
	struct __jmp_buf_tag copy = *env;

	agent_thread.is_allocating = false; /* a handler may leave the allocator so */
	if (agent_is_on && agent_thread.base) {
		copy.__jmpbuf[JMP_BUF_PC] = (long)jmp_buf_mangle(
			resume_at_buffer(jmp_buf_demangle((uintptr_t)env->__jmpbuf[JMP_BUF_PC]), env));
		/* libc puts the mask back before it leaves the stack, and an alternate one may have no room for signals that waited. */
		if (agent_thread.is_on_alternate && env->__mask_was_saved) {
			agent_thread.landing_mask = env->__saved_mask.__val[0];
			agent_thread.has_landing_mask = true;
			copy.__mask_was_saved = 0;
		}
	}
	next(&copy, val);
	__builtin_unreachable();
}

/* In set_jump.S. */
extern const char agent_setjmp[] __attribute__((visibility("hidden")));
extern const char agent_underscore_setjmp[] __attribute__((visibility("hidden")));
extern const char agent_sigsetjmp[] __attribute__((visibility("hidden")));
void *agent_set_jump(const struct __jmp_buf_tag *env, const uintptr_t *sp, int which)
	__attribute__((used, visibility("hidden")));

static void *next_set(int which)
{
	static const char *const owns[SET_COUNT] = {agent_setjmp, agent_underscore_setjmp, agent_sigsetjmp};

	return wmrt_next(&set_nexts[which], set_names[which], (void *)owns[which]);
}

void *agent_set_jump(const struct __jmp_buf_tag *env, const uintptr_t *sp, int which)
{
	resume_note(env, sp[0], (uintptr_t)(sp + 1));
	return next_set(which);
}

void jump_start(void)
{
	wmrt_longjmp_start();
	for (int i = 0; i < SET_COUNT; i++)
		next_set(i);
}

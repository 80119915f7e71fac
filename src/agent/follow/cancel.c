/*
 * cancel.c - cleanups of pthread_cleanup_push in C: a cancellation or pthread_exit jumps to them by a buffer of the C library's own.
 *
 *      pthread_cleanup_push      sigsetjmp(buffer); __pthread_register_cancel(buffer)      its pc becomes the agent's
 *      cancellation              frames up to the buffer's are left, a jump to it ------->  agent_land_cleanup: the context is computed
 *      the program's cleanup; __pthread_unwind_next(buffer), to the one below
 *
 * A buffer has four words for the C library, which uses three: what is below it, and two more. The last keeps the program's pc.
 */
#include <pthread.h>
#include <stdint.h>

#include "agent/os/state.h"
#include "agent/threads/entry.h"
#include "agent/follow/jump.h"
#include "agent/follow/resume.h"
#include "agent/threads/thread.h"
#include "recorder/interpose.h"
#include "recorder/jmp_buf.h"

enum {
	WORD_BELOW = 0,
	WORD_PC = 3,
	NEXT_REGISTER = 0,
	NEXT_UNREGISTER,
	NEXT_REGISTER_DEFER,
	NEXT_UNREGISTER_RESTORE,
	NEXT_UNWIND,
	NEXT_COUNT,
};

typedef void (*buffer_fn)(__pthread_unwind_buf_t *);

extern const char agent_land_cleanup[] __attribute__((visibility("hidden")));
void agent_resumed_cleanup(struct agent_saved *saved); /* called by resume_entries.S */

static const char *const names[NEXT_COUNT] = {"__pthread_register_cancel", "__pthread_unregister_cancel",
					      "__pthread_register_cancel_defer", "__pthread_unregister_cancel_restore",
					      "__pthread_unwind_next"};
static _Atomic(void *) nexts[NEXT_COUNT];

static void call_next(int which, void *own, __pthread_unwind_buf_t *buffer)
{
	((buffer_fn)wmrt_next(&nexts[which], names[which], own))(buffer);
}

static void take(__pthread_unwind_buf_t *buffer)
{
	long *pc = &buffer->__cancel_jmp_buf[0].__cancel_jmp_buf[JMP_BUF_PC];

	agent_thread.cleanup = buffer;
	if (!agent_is_on || !agent_thread.base)
		return;
	buffer->__pad[WORD_PC] = (void *)jmp_buf_demangle((uintptr_t)*pc); /* NOLINT(performance-no-int-to-ptr) */
	*pc = (long)jmp_buf_mangle((uintptr_t)agent_land_cleanup);
}

static void leave(const __pthread_unwind_buf_t *buffer)
{
	agent_thread.cleanup = buffer->__pad[WORD_BELOW];
}

__attribute__((used)) void agent_resumed_cleanup(struct agent_saved *saved)
{
	resume(saved, (uintptr_t)agent_thread.cleanup->__pad[WORD_PC], 1);
}

static void own_register(__pthread_unwind_buf_t *buffer)
{
	call_next(NEXT_REGISTER, (void *)own_register, buffer);
	take(buffer);
}

static void own_unregister(__pthread_unwind_buf_t *buffer)
{
	leave(buffer);
	call_next(NEXT_UNREGISTER, (void *)own_unregister, buffer);
}

static void own_register_defer(__pthread_unwind_buf_t *buffer)
{
	call_next(NEXT_REGISTER_DEFER, (void *)own_register_defer, buffer);
	take(buffer);
}

static void own_unregister_restore(__pthread_unwind_buf_t *buffer)
{
	leave(buffer);
	call_next(NEXT_UNREGISTER_RESTORE, (void *)own_unregister_restore, buffer);
}

static __attribute__((noreturn)) void own_unwind_next(__pthread_unwind_buf_t *buffer)
{
	leave(buffer);
	call_next(NEXT_UNWIND, (void *)own_unwind_next, buffer);
	__builtin_unreachable();
}

void cancel_give_back(struct agent_thread *thread, uintptr_t sp)
{
	uintptr_t low, high;

	if (!agent_thread_stack(thread, sp, &low, &high))
		return;
	for (__pthread_unwind_buf_t *buffer = thread->cleanup; buffer; buffer = buffer->__pad[WORD_BELOW]) {
		long *pc = &buffer->__cancel_jmp_buf[0].__cancel_jmp_buf[JMP_BUF_PC];

		/* Who made a buffer without the agent leaves one behind that is gone. */
		if ((uintptr_t)buffer < sp || (uintptr_t)(buffer + 1) > high)
			break;
		if (jmp_buf_demangle((uintptr_t)*pc) == (uintptr_t)agent_land_cleanup)
			*pc = (long)jmp_buf_mangle((uintptr_t)buffer->__pad[WORD_PC]);
	}
	thread->cleanup = NULL;
}

WMRT_INTERPOSE(__pthread_register_cancel, own_register);
WMRT_INTERPOSE(__pthread_unregister_cancel, own_unregister);
WMRT_INTERPOSE(__pthread_register_cancel_defer, own_register_defer);
WMRT_INTERPOSE(__pthread_unregister_cancel_restore, own_unregister_restore);
WMRT_INTERPOSE(__pthread_unwind_next, own_unwind_next);

void cancel_start(void)
{
	static void *const owns[NEXT_COUNT] = {(void *)own_register, (void *)own_unregister, (void *)own_register_defer,
					       (void *)own_unregister_restore, (void *)own_unwind_next};

	for (int i = 0; i < NEXT_COUNT; i++)
		wmrt_next(&nexts[i], names[i], owns[i]);
}

/*
 * jump.c - longjmp and its kin: drops the entries of the frames that the jump leaves.
 *
 * Instrumented functions that call setjmp put their state back themselves. This is for frames of foreign code: a
 * library that catches with setjmp what a callback throws with longjmp, and goes on calling back. Entries tell the
 * stack pointer of their pushing frame, so those below the target's are dropped; id is 0 in foreign code, and the history that of its call.
 *
 *      stack (grows down)             context stack
 *      f                              f's push of the call to lib     sp(f)  >= target: stays
 *      lib   <---- target             -
 *      cb                             cb's push of g                  sp(cb) <  target: dropped
 *      g     longjmp                  g's push of longjmp             sp(g)  <  target: dropped
 *
 * The entry of a signal handler is dropped when the target is what it interrupted, or above. Frames on the alternate
 * signal stack do not compare with others by address: they are left by every jump to somewhere else.
 */
#include <signal.h>
#include <stdint.h>

#include "runtime/clients.h"
#include "recorder/image.h"
#include "recorder/jmp_buf.h"
#include "recorder/longjmp.h"
#include "recorder/process.h"
#include "recorder/sys.h"
#include "runtime/contexts/stack.h"
#include "waymark/runtime.h"

static uintptr_t saved_sp(const struct __jmp_buf_tag *env)
{
	return jmp_buf_demangle((uintptr_t)env->__jmpbuf[JMP_BUF_RSP]);
}

/* Was the frame that pushed this entry entered after the target's? */
static int is_left(const struct wm1_entry *entry, uintptr_t target)
{
	int entry_is_alt = wmrt_is_on_alt_stack(entry->sp);
	int target_is_alt = wmrt_is_on_alt_stack(target);

	if (entry_is_alt != target_is_alt)
		return entry_is_alt;
	return entry->sp < target;
}

/* Is the target a frame of the handler with this entry? Then it is on the alternate stack and what was interrupted
 * was not, or it lies below that. */
static int is_inside(const struct wm1_entry *entry, uintptr_t target)
{
	int entry_is_alt = wmrt_is_on_alt_stack(entry->sp);
	int target_is_alt = wmrt_is_on_alt_stack(target);

	return entry_is_alt != target_is_alt ? target_is_alt : target < entry->sp;
}

static void leave_frames_below(uintptr_t target)
{
	volatile struct wm1_thread *thread = &wm1_thread_state;
	struct wm1_entry *top;

	wm1_push_deferred();
	top = thread->top;
	while (top && !wmrt_entry_is_discard(top - 1)) {
		struct wm1_entry *entry = top - 1;

		if (entry == (struct wm1_entry *)wmrt_segment_of(entry))
			break;
		/* sp of a handler's entry is that of the interrupted code: jumping there or above leaves the handler. */
		if (wmrt_entry_is_signal(entry)) {
			if (is_inside(entry, target))
				break;
			top = (struct wm1_entry *)(uintptr_t)entry->id;
			continue;
		}
		if (!is_left(entry, target))
			break;
		top = wmrt_top_without(entry);
	}
	thread->top = top;
	thread->id = 0;
	thread->history = wmrt_history_above(top ? top - 1 : NULL);
}

/* For static programs, where the next longjmp has no name of its own: __longjmp of glibc. Cleanup handlers of
 * pthread_cleanup_push in C frames that the jump leaves are not unregistered there, as POSIX allows. */
static __attribute__((noreturn)) void jump_by_hand(struct __jmp_buf_tag *env, int val)
{
	if (env->__mask_was_saved)
		wmrt_sys6(SYS_rt_sigprocmask, SIG_SETMASK, (long)&env->__saved_mask, 0, 8, 0, 0);
	__asm__ volatile("movq 0(%%rdi), %%rbx\n\t"
			 "movq 16(%%rdi), %%r12\n\t"
			 "movq 24(%%rdi), %%r13\n\t"
			 "movq 32(%%rdi), %%r14\n\t"
			 "movq 40(%%rdi), %%r15\n\t"
			 "movq 8(%%rdi), %%r9\n\t"
			 "movq 48(%%rdi), %%r8\n\t"
			 "movq 56(%%rdi), %%rdx\n\t"
			 "rorq $17, %%r9\n\t"
			 "rorq $17, %%r8\n\t"
			 "rorq $17, %%rdx\n\t"
			 "xorq %%fs:0x30, %%r9\n\t"
			 "xorq %%fs:0x30, %%r8\n\t"
			 "xorq %%fs:0x30, %%rdx\n\t"
			 "movq %%r8, %%rsp\n\t"
			 "movq %%r9, %%rbp\n\t"
			 "jmpq *%%rdx"
			 :
			 : "D"(env), "a"(val ? val : 1)
			 : "memory");
	__builtin_unreachable();
}

void wmrt_longjmp(wmrt_longjmp_fn next, struct __jmp_buf_tag *env, int val)
{
	if (wmrt_is_active())
		leave_frames_below(saved_sp(env));
	if (next)
		next(env, val);
	jump_by_hand(env, val);
}

const struct wmrt_client wmrt_jumps = {.start = wmrt_longjmp_start};

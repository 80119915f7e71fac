/* promote.c - makes eventless functions instrumented ones. */
#include "agent/context/promote.h"

#include "agent/code/code.h"
#include "agent/code/trampolines.h"
#include "agent/patch/reach.h"
#include "agent/program/no_callback.h"
#include "agent/threads/stop.h"
#include "agent/threads/threads.h"
#include "native/restart.h"

enum {
	MOVES_MAX = 40, /* times that threads go on that are where they cannot stay */
};

static struct walk walk; /* under the agent's lock */

static bool is_own_code(uintptr_t pc)
{
	return agent_image_is_own(agent_image_find(pc), pc) && !restart_is_wait(pc);
}

/* A stub, or the agent, may be about to enter an eventless function, or to go on in one. */
static bool is_on_the_way(uintptr_t pc)
{
	struct code_stub stub;
	uint32_t site;

	return code_find_stub(pc, &stub) || trampoline_find(pc, &site) || is_own_code(pc);
}

static bool has_eventless(const struct walk *w, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		if (agent_function_is(w->frames[i].function, AGENT_FUNCTION_EVENTLESS))
			return true;
	return false;
}

/*
 * What a handler of the thread has interrupted: its state is computed again when it goes on, if it may be in eventless code. Until then what
 * stands on it has no context below, unless that was asked for already.
 */
static void doubt_interrupted(const struct agent_thread *thread, const struct walk *w)
{
	bool is_any = !w->is_whole || has_eventless(w, w->inside, w->count);

	for (const struct agent_segment *s = thread->outer; s; s = s->outer) {
		struct agent_segment *kept = (struct agent_segment *)s; /* it is in the thread's context stack */

		if (is_any)
			kept->epoch = 0;
		kept->is_old |= is_any || s->is_in_stub || is_on_the_way(s->pc);
	}
}

/* The thread, which is stopped at these registers. */
static void doubt(struct agent_thread *thread, const struct unwind_regs *regs)
{
	bool is_walked = walk_stack(&walk, regs, thread);

	if (!is_walked)
		walk.is_whole = false;
	if (!walk.is_whole || has_eventless(&walk, 0, walk.inside) || is_on_the_way(regs->pc))
		thread->id = AGENT_UNKNOWN_ID;
	doubt_interrupted(thread, &walk);
}

/* Others are stopped, and none is in the agent, where it may be about to write its state. */
static bool stop_outside(void)
{
	for (unsigned int times = 0; times < MOVES_MAX; times++) {
		bool is_held = false;

		if (!stop_others())
			return false;
		threads_for_each(r) {
			const struct unwind_regs *regs = atomic_load(&r->regs);

			is_held |= r != agent_thread.record && stop_has(r) && r->is_interrupted && regs &&
				   is_own_code(regs->pc);
		}
		if (!is_held)
			return true;
		if (!stop_again(times))
			return false;
	}
	return false;
}

/* Threads that may be in an eventless function have to compute their states anew. False: not now. */
static bool begin(void)
{
	if (!stop_outside())
		return false;
	threads_for_each(r) {
		const struct unwind_regs *from = atomic_load(&r->regs);
		struct unwind_regs regs;

		if (r == agent_thread.record || !stop_has(r) || !from || !r->state->base)
			continue;
		regs = walk_thread_regs(r, from);
		doubt(r->state, &regs);
	}
	return true;
}

/* States that setjmp has noted are old from now on. */
static void end(void)
{
	__atomic_add_fetch(&agent_program.promotions, 1, __ATOMIC_RELEASE);
}

bool promote_frames(const struct walk *w)
{
	bool has_begun = false, ok = true;

	for (size_t i = 0; ok && i < w->inside; i++) {
		uint32_t function = w->frames[i].function;

		if (!agent_function_is(function, AGENT_FUNCTION_EVENTLESS))
			continue;
		if (!has_begun) {
			has_begun = true;
			ok = begin();
			doubt_interrupted(&agent_thread, w);
		}
		ok = ok && reach_promote(function);
	}
	if (!has_begun)
		return ok;
	/* Until the caller has computed the thread's state anew. */
	agent_thread.id = AGENT_UNKNOWN_ID;
	end();
	return ok;
}

bool promote_function(uint32_t function)
{
	bool ok;

	if (!agent_function_is(function, AGENT_FUNCTION_EVENTLESS))
		return agent_function_is(function, AGENT_FUNCTION_INSTRUMENTED);
	ok = begin() && reach_promote(function);
	for (const struct agent_segment *s = agent_thread.outer; s; s = s->outer)
		((struct agent_segment *)s)->is_old = true; /* which may be in it */
	end();
	return ok;
}

bool promote_is_due(uint32_t site, uintptr_t target)
{
	uint32_t callee;

	if (no_callback_is_known(target))
		return no_callback_is_event(target);
	callee = agent_function_entered(agent_resolve(target));
	if (callee != AGENT_NONE)
		reach_function(callee);
	if (agent_function_is(callee, AGENT_FUNCTION_SEEN)) /* it cannot be written now, nor can the site */
		return false;
	if (agent_function_is(callee, AGENT_FUNCTION_EVENTLESS))
		return agent_site_is_tail(agent_site(site));
	return !agent_function_is(callee, AGENT_FUNCTION_NO_CALLBACK);
}
